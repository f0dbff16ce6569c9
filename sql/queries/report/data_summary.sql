-- Panel of the report: Is the data loader the bottleneck?
SELECT
    finding,
    operator,
    loader_worker,
    value,
    threshold,
    wait_per_step_us,
    message
FROM data_preparation_summary(run := $run, worker := $worker, span := $span)
LIMIT $most_rows;
