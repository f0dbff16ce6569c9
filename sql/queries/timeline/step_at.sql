-- Timeline: the step at the time $at_ns, or the nearest one.
SELECT
    s.step,
    least(s.start_ns, s.extended_start_ns) AS start_ns,
    greatest(s.end_ns, s.extended_end_ns) AS end_ns
FROM steps AS s
WHERE s.run = $run AND s.worker = $worker AND s.span = $span AND s.step IS NOT NULL
ORDER BY greatest(s.start_ns - $at_ns, $at_ns - s.end_ns + 1, 0) ASC, s.start_ns ASC
LIMIT 1;
