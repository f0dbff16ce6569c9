-- Finding of the panel: the worker that slows the job down most.
WITH slowest AS (
    SELECT
        p."rank",
        p.dp_rank,
        p.stage,
        p.slowdown,
        rank() OVER (ORDER BY p.slowdown DESC) AS place,
        count(*) OVER () AS listed
    FROM panel_rows AS p
    WHERE p.slowdown IS NOT NULL
)

SELECT
    format(
        'With the times of rank {} alone (data-parallel rank {}, stage {}), an ideal step would '
        || 'take {:.3g} times as long.',
        any_value(s."rank"),
        any_value(s.dp_rank),
        any_value(s.stage),
        any_value(s.slowdown)
    ) AS finding
FROM slowest AS s
WHERE s.place = 1
HAVING count(*) = 1 AND any_value(s.slowdown) > 1 AND any_value(s.listed) < $most_rows;
