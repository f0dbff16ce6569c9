-- Timeline: when each step begins, and how long it takes; times count from $start_ns.
SELECT
    s.step,
    s.start_ns - $start_ns AS start,
    s.end_ns - s.start_ns AS length
FROM steps AS s
WHERE s.run = $run AND s.worker = $worker AND s.span = $span AND s.step IS NOT NULL
ORDER BY s.step
LIMIT $most_rows;
