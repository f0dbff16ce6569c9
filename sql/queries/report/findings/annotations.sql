-- Finding of the panel: the annotation with the most time on the host.
WITH longest AS (
    SELECT
        p.name,
        p.host_us,
        p.calls,
        count(*) OVER () AS listed
    FROM panel_rows AS p
    WHERE p.host_us > 0
    QUALIFY rank() OVER (ORDER BY p.host_us DESC) = 1
)

SELECT
    format(
        '{} takes the most time on the host: {} in {}.',
        as_name(any_value(l.name)),
        as_time(any_value(l.host_us)),
        if(any_value(l.calls) = 1, '1 call', format('{:,} calls', any_value(l.calls)))
    ) AS finding
FROM longest AS l
HAVING count(*) = 1 AND any_value(l.listed) > 1;
