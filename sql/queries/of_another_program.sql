-- One row if the trace is of another program than a profiler of PyTorch or of a device.
SELECT u.run
FROM unknown_events(run := $run, worker := $worker, span := $span) AS u;
