-- Timeline: which call launched each device event that starts between $from_ns and $to_ns.
SELECT
    event_id,
    launch_id
FROM device_events
WHERE
    run = $run
    AND worker = $worker
    AND span = $span
    AND launch_id IS NOT NULL
    AND start_ns BETWEEN $from_ns AND $to_ns
LIMIT $most_rows;
