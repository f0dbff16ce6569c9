-- The mean step of a trace by category, and its length as 'total'.
SELECT
    b.category,
    b.mean_us
FROM step_breakdown_summary(run := $run, worker := $worker, span := $span) AS b;
