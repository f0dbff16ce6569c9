-- The trace of $baseline to compare a trace with: that of the same worker, else of the same rank, and of the same
-- span, as far as the baseline has them; else the first recording of the lowest rank.
SELECT
    t.worker,
    t.span
FROM traces AS t
LEFT JOIN traces AS e ON e.run = $run AND e.worker = $worker AND e.span = $span
WHERE t.run = $baseline
ORDER BY
    t.worker = $worker DESC,
    coalesce(t.rank = e.rank, FALSE) DESC,
    t.start_ns IS NULL ASC,
    t.rank ASC NULLS LAST,
    t.worker ASC,
    t.span = $span DESC,
    try_cast(t.span AS INTEGER) ASC,
    t.span ASC
LIMIT 1;
