-- Panel of the report: Kernels by time.
SELECT
    name,
    calls,
    total_us,
    share_pct,
    mean_us,
    median_us,
    min_us,
    max_us,
    uses_tensor_cores,
    mean_blocks_per_sm,
    mean_est_achieved_occupancy_pct
FROM kernel_stats(run := $run, worker := $worker, span := $span)
LIMIT $most_rows;
