-- Panel of the report: Kernel types.
SELECT * EXCLUDE (run, worker, span)
FROM kernel_type_breakdown(run := $run, worker := $worker, span := $span);
