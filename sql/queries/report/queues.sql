-- Panel of the report: Launch queues.
SELECT
    device_id,
    stream_id,
    mean_over_time_length,
    median_length,
    max_length,
    full_us,
    full_pct
FROM queue_length_summary(run := $run, worker := $worker, span := $span)
LIMIT $most_rows;
