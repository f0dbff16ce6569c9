-- The categories of the mean step of a trace that took time, with that time as text, in the order of
-- step_breakdown_summary. No row if nothing of a known kind was recorded.
SELECT
    b.category,
    b.mean_us,
    as_time(b.mean_us) AS mean_text
FROM step_breakdown_summary(run := $run, worker := $worker, span := $span) AS b
WHERE b.category <> 'total' AND b.mean_us > 0
QUALIFY bool_or(b.category <> 'other') OVER ();
