-- Panel of the report: Workers that others wait for.
SELECT * EXCLUDE (run)
FROM stragglers(run := $run)
WHERE step IS NULL
LIMIT $most_rows;
