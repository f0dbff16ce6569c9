-- Panel of the report: Operators, of both runs or of a block of their timelines.
SELECT
    name,
    delta_device_self_us,
    delta_host_self_us,
    delta_calls,
    significant,
    COLUMNS('^(baseline|experiment)_(calls|(host|device)_(self|total)_us)$')
FROM
    diff_operators(
        baseline := $baseline,
        experiment := $run,
        baseline_worker := $baseline_worker,
        experiment_worker := $worker,
        baseline_span := $baseline_span,
        experiment_span := $span,
        block := $block
    )
LIMIT $most_rows;
