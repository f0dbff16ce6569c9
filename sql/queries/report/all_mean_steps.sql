-- The first screen of each trace of a run: its mean step by category, and its length as 'total'.
SELECT
    b.worker,
    b.span,
    b.category,
    b.mean_us
FROM step_breakdown_summary(run := $run) AS b;
