-- Panel of the report: Kernels, of both runs or of a block of their timelines.
SELECT
    name,
    delta_total_us,
    delta_calls,
    significant,
    COLUMNS('^(baseline|experiment)_(calls|total_us|mean_us)$')
FROM
    diff_kernels(
        baseline := $baseline,
        experiment := $run,
        baseline_worker := $baseline_worker,
        experiment_worker := $worker,
        baseline_span := $baseline_span,
        experiment_span := $span,
        block := $block
    )
LIMIT $most_rows;
