-- Timeline: the step that is shown first: of the complete ones, that of median length.
SELECT
    s.step,
    s.name,
    least(s.start_ns, s.extended_start_ns) AS start_ns,
    greatest(s.end_ns, s.extended_end_ns) AS end_ns
FROM steps AS s
WHERE s.run = $run AND s.worker = $worker AND s.span = $span AND s.step IS NOT NULL
QUALIFY NOT s.is_tail OR bool_and(s.is_tail) OVER ()
ORDER BY
    abs(
        s.end_ns - s.start_ns
        - median(s.end_ns - s.start_ns) FILTER (WHERE NOT s.is_tail) OVER ()
    ) ASC NULLS LAST,
    s.start_ns ASC
LIMIT 1;
