-- Panel of the report: Critical path of the steps.
SELECT
    bound,
    pieces,
    duration_us,
    share_pct
FROM critical_path_summary(run := $run, worker := $worker, span := $span);
