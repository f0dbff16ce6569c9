-- Panel of the report: Operators by time.
SELECT * EXCLUDE (run, worker, span, input_dims, call_stack)
FROM operator_stats(run := $run, worker := $worker, span := $span)
LIMIT $most_rows;
