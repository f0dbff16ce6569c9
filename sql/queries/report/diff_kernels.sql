-- Panel of the report: Kernels.
SELECT
    name,
    delta_total_us,
    delta_calls,
    significant,
    COLUMNS('^(baseline|experiment)_(calls|total_us|mean_us)$')
FROM diff_kernels(baseline := $baseline, experiment := $run)
LIMIT $most_rows;
