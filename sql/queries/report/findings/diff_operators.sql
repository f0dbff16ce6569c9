-- Finding of the panel: the operator that differs most, of those whose difference is significant if any is.
WITH differences AS (
    SELECT
        p.name,
        coalesce(sum(abs(p.delta_device_self_us)) OVER () > 0, FALSE) AS is_device,
        if(is_device, p.delta_device_self_us, p.delta_host_self_us) AS delta_us,
        p.significant,
        if(is_device, 'device time', 'host time') AS measure
    FROM panel_rows AS p
)

SELECT l.finding
FROM largest_difference('differences', 'operator') AS l
WHERE l.listed < $most_rows;
