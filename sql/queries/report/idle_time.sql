-- Panel of the report: Idle time of the streams by cause.
SELECT * EXCLUDE (run, worker, span)
FROM idle_time(run := $run, worker := $worker, span := $span)
LIMIT $most_rows;
