-- Panel of the report: Memory at peak.
SELECT * EXCLUDE (run, worker, span, peak_ns)
FROM memory_at_peak(run := $run, worker := $worker, span := $span)
LIMIT $most_rows;
