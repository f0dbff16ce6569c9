-- Panel of the report: Time per step.
SELECT * EXCLUDE (run, worker, span)
FROM step_breakdown(run := $run, worker := $worker, span := $span);
