-- Panel of the report: Queues of the input pipeline over time. A chart shows only the lowest and the highest point of each interval.
SELECT
    coalesce(operator || ' ' || operator_id, stage || ' ' || pipeline) AS queue,
    (time_ns - coalesce($start_ns, min(time_ns) OVER ())) / 1e6 AS time_ms,
    queue_size
FROM data_queue(run := $run, worker := $worker, span := $span)
WINDOW
    lowest AS (
        PARTITION BY
            stage, operator_id, pipeline,
            (time_ns - $start_ns) * $intervals // coalesce(nullif($length_ns, 0), 1)
        ORDER BY queue_size ASC, time_ns ASC
    ),
    highest AS (
        PARTITION BY
            stage, operator_id, pipeline,
            (time_ns - $start_ns) * $intervals // coalesce(nullif($length_ns, 0), 1)
        ORDER BY queue_size DESC, time_ns ASC
    )
QUALIFY
    $start_ns IS NULL OR row_number() OVER lowest = 1 OR row_number() OVER highest = 1
ORDER BY queue, time_ms;
