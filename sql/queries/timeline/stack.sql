-- Timeline: the workers that can stand under $worker; a time of theirs plus shift is one of that timeline.
SELECT
    s.worker,
    s.rank,
    s.length_ns + 1 AS length,
    s.shift_ns AS shift,
    s.aligned_by,
    s.source,
    s.offset_ns AS ahead,
    s.spread_ns AS spread,
    s.allowing,
    s.reason
FROM stacked_workers($run, $worker, $span) AS s
ORDER BY s.rank ASC NULLS LAST, s.worker ASC;
