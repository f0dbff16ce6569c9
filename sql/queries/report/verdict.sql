-- Panel of the report: Verdict.
SELECT * EXCLUDE (run, worker, span)
FROM verdict(run := $run, worker := $worker, span := $span);
