-- Finding of the panel: the innermost call with the most time of its own.
WITH calls AS (
    SELECT
        regexp_extract(p.stack, '[^;]*$') AS name,
        percentage(sum(p.value_us), sum(sum(p.value_us)) OVER ()) AS share_pct,
        sum(count(*)) OVER () AS listed,
        count(*) OVER () AS names
    FROM panel_rows AS p
    GROUP BY name
    QUALIFY rank() OVER (ORDER BY sum(p.value_us) DESC NULLS LAST) = 1
)

SELECT
    format(
        '{} itself takes {} of the time of all threads.',
        as_name(any_value(c.name)),
        as_percent(any_value(c.share_pct))
    ) AS finding
FROM calls AS c
HAVING
    count(*) = 1 AND any_value(c.share_pct) >= 5
    AND any_value(c.names) > 1 AND any_value(c.listed) < $most_rows;
