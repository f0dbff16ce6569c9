-- Finding of the panel: what bounds the kernels.
WITH bounds AS (
    SELECT
        count(DISTINCT p.name) AS kernels,
        count(DISTINCT p.name) FILTER (WHERE p.bound = 'memory') AS by_memory,
        count(DISTINCT p.name) FILTER (WHERE p.bound = 'compute') AS by_compute,
        count(*) AS listed
    FROM panel_rows AS p
)

SELECT
    CASE
        WHEN b.by_memory > 0 AND b.by_compute > 0
            THEN
                format(
                    '{} {} bound by memory, {} by compute.',
                    b.by_memory,
                    if(b.by_memory = 1, 'kernel is', 'kernels are'),
                    b.by_compute
                )
        WHEN
            b.kernels = 1
            THEN format('The kernel is bound by {}.', if(b.by_memory = 1, 'memory', 'compute'))
        ELSE
            format(
                '{} of {} kernels {} bound by {}.',
                greatest(b.by_memory, b.by_compute),
                b.kernels,
                if(b.by_memory + b.by_compute = 1, 'is', 'are'),
                if(b.by_memory > 0, 'memory', 'compute')
            )
    END AS finding
FROM bounds AS b
WHERE b.by_memory + b.by_compute > 0 AND b.listed < $most_rows;
