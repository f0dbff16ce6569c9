-- Finding of the panel: the class whose modules take most, without the modules in them.
WITH metric AS (
    SELECT coalesce(max(p.device_share_pct), 0) > 0 AS is_device
    FROM panel_rows AS p
),

classes AS (
    SELECT
        regexp_replace(p.module, '_[0-9]+$', '') AS class,
        m.is_device,
        sum(if(m.is_device, p.device_share_pct, p.host_share_pct)) AS share_pct,
        count(*) AS modules,
        sum(count(*)) OVER () AS listed,
        count(*) OVER () AS classes
    FROM panel_rows AS p, metric AS m
    GROUP BY class, m.is_device
    QUALIFY rank() OVER (ORDER BY share_pct DESC NULLS LAST) = 1
)

SELECT
    format(
        'The {} modules of class {} take {} of the {} time of all modules.',
        any_value(c.modules),
        as_name(any_value(c.class)),
        as_percent(any_value(c.share_pct)),
        if(any_value(c.is_device), 'device', 'host')
    ) AS finding
FROM classes AS c
HAVING
    count(*) = 1 AND any_value(c.share_pct) >= 5 AND any_value(c.modules) > 1
    AND any_value(c.classes) > 1 AND any_value(c.listed) < $most_rows;
