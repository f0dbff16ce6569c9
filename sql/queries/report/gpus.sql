-- Panel of the report: Devices.
SELECT * EXCLUDE (run, worker, span)
FROM gpu_summary(run := $run, worker := $worker, span := $span);
