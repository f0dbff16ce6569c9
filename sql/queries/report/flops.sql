-- Panel of the report: Operations of matrix products, convolutions and attention.
SELECT * EXCLUDE (run, worker, span)
FROM operator_flops_summary(run := $run, worker := $worker, span := $span)
LIMIT $most_rows;
