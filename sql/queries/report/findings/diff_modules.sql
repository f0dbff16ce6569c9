-- Finding of the panel: the block that differs most, of those with no blocks inside. A difference that is tested
-- and not significant does not count.
WITH innermost AS (
    SELECT
        p.path,
        p.delta_us,
        p.matched,
        p.baseline_us
    FROM panel_rows AS p
    WHERE
        p.depth > 0
        AND p.kind <> 'unknown'
        AND p.delta_us <> 0
        AND p.significant IS DISTINCT FROM FALSE
        AND p.path NOT IN (SELECT regexp_replace(o.path, '/[^/]*$', '') FROM panel_rows AS o)
        AND (SELECT count(*) FROM panel_rows) < $most_rows
    QUALIFY rank() OVER (ORDER BY abs(p.delta_us) DESC) = 1
)

SELECT
    CASE
        WHEN any_value(i.matched)
            THEN
                format(
                    'The largest difference is in {}: {} {}.',
                    as_name(any_value(i.path)),
                    as_time(abs(any_value(i.delta_us))),
                    if(any_value(i.delta_us) > 0, 'more', 'less')
                )
        ELSE
            format(
                'The largest difference is {}, {}, which only the {} has.',
                as_name(any_value(i.path)),
                as_time(abs(any_value(i.delta_us))),
                if(any_value(i.baseline_us) IS NULL, 'experiment', 'baseline')
            )
    END AS finding
FROM innermost AS i
HAVING count(*) = 1;
