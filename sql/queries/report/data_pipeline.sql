-- Panel of the report: Operators of the input pipeline
SELECT
    pipeline,
    operator_id,
    operator,
    workers,
    queue_capacity,
    mean_queue_size,
    queue_used_pct,
    queue_empty_pct,
    queue_full_pct,
    time_per_batch_us,
    total_us,
    cpu_per_worker_pct
FROM data_pipeline(run := $run, worker := $worker, span := $span)
LIMIT $most_rows;
