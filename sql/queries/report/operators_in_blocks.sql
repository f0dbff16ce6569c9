-- Operators in each block that the file of a report holds, in the columns of diff_operators.
SELECT
    path,
    name,
    delta_device_us AS delta_device_self_us,
    delta_host_us AS delta_host_self_us,
    delta_calls,
    baseline_calls,
    baseline_host_us AS baseline_host_self_us,
    baseline_device_us AS baseline_device_self_us,
    experiment_calls,
    experiment_host_us AS experiment_host_self_us,
    experiment_device_us AS experiment_device_self_us
FROM
    diff_block_contents(
        baseline := $baseline,
        experiment := $run,
        baseline_worker := $baseline_worker,
        experiment_worker := $worker,
        baseline_span := $baseline_span,
        experiment_span := $span,
        depth := $depth,
        most_blocks := $most_blocks,
        most := $most
    )
WHERE kind = 'operator';
