-- Finding of the panel: the range of the complete steps, and the longest.
WITH complete AS (
    SELECT
        p.step,
        p.total_us,
        min(p.total_us) OVER () AS shortest_us,
        max(p.total_us) OVER () AS longest_us
    FROM panel_rows AS p
    WHERE p.step IS NOT NULL AND NOT p.is_tail
)

SELECT
    CASE
        WHEN as_time(any_value(c.shortest_us)) = as_time(any_value(c.longest_us))
            THEN
                format('All {} complete steps take {}.', count(*), as_time(any_value(c.longest_us)))
        ELSE
            format(
                'Complete steps take {} to {}',
                as_time(any_value(c.shortest_us)),
                as_time(any_value(c.longest_us))
            )
            || if(
                count(*) FILTER (WHERE c.total_us = c.longest_us) = 1,
                format('; step {} is the longest.', arg_max(c.step, c.total_us)),
                '.'
            )
    END AS finding
FROM complete AS c
HAVING count(*) > 1;
