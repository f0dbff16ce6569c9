-- Panel of the report: Pipeline: which operations, ranks and stages slow the job down.
SELECT p.* EXCLUDE (run, worker, span, step)
FROM straggler_what_if_parts(run := $run, worker := $worker, span := $span) AS p
WHERE p.step IS NULL AND p.slowdown IS NOT NULL
ORDER BY p.slowdown DESC, p.kind ASC, p.part ASC
LIMIT $most_rows;
