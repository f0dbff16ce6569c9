-- Finding of the panel: the category that changes most, of those whose change is significant.
WITH changes AS (
    SELECT
        p.category,
        p.delta_mean_us
    FROM panel_rows AS p
    WHERE p.category <> 'total' AND p.delta_mean_us <> 0 AND p.significant
    QUALIFY rank() OVER (ORDER BY abs(p.delta_mean_us) DESC) = 1
)

SELECT
    format(
        '{} changes most: {} {} per step.',
        CASE any_value(c.category)
            WHEN 'kernel' THEN 'Kernel time'
            WHEN 'memcpy' THEN 'Copying'
            WHEN 'memset' THEN 'Memset time'
            WHEN 'communication' THEN 'Communication'
            WHEN 'runtime' THEN 'Time in runtime calls'
            WHEN 'dataloader' THEN 'Waiting for the data loader'
            WHEN 'cpu_exec' THEN 'Time in operators'
            ELSE 'Time of which nothing is recorded'
        END,
        as_time(abs(any_value(c.delta_mean_us))),
        if(any_value(c.delta_mean_us) > 0, 'more', 'less')
    ) AS finding
FROM changes AS c
HAVING count(*) = 1;
