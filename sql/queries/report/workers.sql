-- Panel of the report: Workers.
SELECT * EXCLUDE (run)
FROM workers(run := $run)
QUALIFY count(DISTINCT worker) OVER () > 1
LIMIT $most_rows;
