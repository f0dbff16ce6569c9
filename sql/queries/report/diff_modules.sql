-- Panel of the report: Differences by timeline block. A limit leaves out the innermost blocks.
SELECT b.*
FROM (
    SELECT
        path,
        delta_us,
        delta_us_pct,
        significant,
        p_value,
        baseline_us,
        experiment_us,
        matched,
        kind,
        name,
        depth,
        position,
        clock,
        cumulative_delta_us,
        baseline_host_us,
        experiment_host_us,
        baseline_start_ns,
        experiment_start_ns
    FROM
        diff_modules(
            baseline := $baseline,
            experiment := $run,
            baseline_worker := $baseline_worker,
            experiment_worker := $worker,
            baseline_span := $baseline_span,
            experiment_span := $span
        )
    ORDER BY depth, position
    LIMIT $most_rows
) AS b
ORDER BY abs(b.delta_us) DESC, b.position;
