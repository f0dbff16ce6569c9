-- Panel of the report: Longest gaps of the devices. start_ms counts from the start of the trace.
SELECT
    device_id,
    (start_ns - $start_ns) / 1e6 AS start_ms,
    * EXCLUDE (run, worker, span, device_id, start_ns)
FROM gpu_gaps(run := $run, worker := $worker, span := $span)
LIMIT $most_rows;
