-- Panel of the report: Roofline of the kernels.
SELECT * EXCLUDE (run, worker, span)
FROM roofline(run := $run, worker := $worker, span := $span)
LIMIT $most_rows;
