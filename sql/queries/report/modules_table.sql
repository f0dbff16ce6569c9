-- Panel of the report: Modules by time.
SELECT * EXCLUDE (run, worker, span)
FROM module_stats(run := $run, worker := $worker, span := $span)
LIMIT $most_rows;
