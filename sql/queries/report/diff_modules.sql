-- Panel of the report: Differences by timeline block.
SELECT
    position,
    path,
    depth,
    kind,
    name,
    matched,
    clock,
    baseline_us,
    experiment_us,
    delta_us,
    cumulative_delta_us
FROM diff_modules(baseline := $baseline, experiment := $run)
ORDER BY position
LIMIT $most_rows;
