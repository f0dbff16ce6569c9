-- Panel of the report: Pipeline: how much each worker slows the job down.
SELECT * EXCLUDE (run, worker, span)
FROM straggler_workers(run := $run, worker := $worker, span := $span)
LIMIT $most_rows;
