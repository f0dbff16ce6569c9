-- Finding of the panel: the module with the most time of its own, on the devices or else on the host.
WITH metric AS (
    SELECT coalesce(sum(p.device_self_us), 0) > 0 AS is_device
    FROM panel_rows AS p
),

modules AS (
    SELECT
        regexp_extract(p.path, '[^;]*$') AS module,
        m.is_device,
        sum(if(m.is_device, p.device_self_us, p.host_self_us)) AS self_us,
        percentage(self_us, sum(self_us) OVER ()) AS share_pct,
        sum(count(*)) OVER () AS listed,
        count(*) OVER () AS modules
    FROM panel_rows AS p, metric AS m
    GROUP BY module, m.is_device
    QUALIFY rank() OVER (ORDER BY self_us DESC NULLS LAST) = 1
)

SELECT
    format(
        '{} itself takes {} of the {} time of all {} modules.',
        as_name(any_value(m.module)),
        as_percent(any_value(m.share_pct)),
        if(any_value(m.is_device), 'device', 'host'),
        any_value(m.modules)
    ) AS finding
FROM modules AS m
HAVING
    count(*) = 1 AND any_value(m.share_pct) >= 5
    AND any_value(m.modules) > 1 AND any_value(m.listed) < $most_rows;
