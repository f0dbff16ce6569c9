-- Panel of the report: Trace quality.
SELECT
    severity,
    "check",
    count,
    message
FROM trace_quality(run := $run, worker := $worker, span := $span);
