-- Timeline: the operators with the most host time of their own that begin between $from_ns and $to_ns.
SELECT
    o.name,
    count(*) AS calls,
    sum(o.self_duration_ns) / 1000.0 AS time_us
FROM cpu_ops AS o
WHERE
    o.run = $run AND o.worker = $worker AND o.span = $span
    AND o.start_ns >= $from_ns
    AND o.start_ns < $to_ns
GROUP BY o.name
ORDER BY time_us DESC, o.name ASC
LIMIT $most_rows;
