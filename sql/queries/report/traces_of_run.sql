-- The traces of a run that have events with a duration, in order of their ranks.
SELECT
    t.worker,
    t.span
FROM traces AS t
WHERE t.run = $run AND t.start_ns IS NOT NULL
ORDER BY t.rank ASC NULLS LAST, t.worker ASC, try_cast(t.span AS INTEGER) ASC, t.span ASC;
