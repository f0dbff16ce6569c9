-- Timeline: the longest gaps of each device and what the host did in them; times count from $start_ns.
SELECT
    device_id::VARCHAR AS device,
    start_ns - $start_ns AS start,
    (1000 * duration_us)::BIGINT AS length,
    (1000 * unrecorded_us)::BIGINT AS unrecorded,
    host_op
FROM gpu_gaps(run := $run, worker := $worker, span := $span, min_us := $min_us)
LIMIT $most_gaps;
