-- Kernels in each block that the file of a report holds, in the columns of diff_kernels.
SELECT
    path,
    name,
    delta_device_us AS delta_total_us,
    delta_calls,
    baseline_calls,
    baseline_device_us AS baseline_total_us,
    experiment_calls,
    experiment_device_us AS experiment_total_us
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
WHERE kind = 'kernel';
