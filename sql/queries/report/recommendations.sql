-- Panel of the report: Recommendations.
SELECT
    severity,
    rule,
    cost_per_step_us,
    confidence,
    message
FROM recommendations(run := $run, worker := $worker, span := $span);
