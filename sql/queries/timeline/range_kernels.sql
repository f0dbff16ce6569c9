-- Timeline: the device work that took the most time between $from_ns and $to_ns.
SELECT
    d.name,
    count(*) AS calls,
    sum(
        least(d.start_ns + d.duration_ns, $to_ns) - greatest(d.start_ns, $from_ns)
    ) / 1000.0 AS time_us
FROM device_events AS d
WHERE
    d.run = $run AND d.worker = $worker AND d.span = $span
    AND d.kind IN ('compute', 'communication', 'memcpy', 'memset')
    AND d.start_ns < $to_ns
    AND d.start_ns + d.duration_ns > $from_ns
GROUP BY d.name
ORDER BY time_us DESC, d.name ASC
LIMIT $most_rows;
