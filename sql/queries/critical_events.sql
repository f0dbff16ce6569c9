-- When events ran on the critical path of $step, or of each step where it is NULL. A chain is one path.
SELECT
    dense_rank() OVER (ORDER BY p.step) AS chain,
    p.event_id,
    p.start_ns,
    p.start_ns + round(1000 * p.duration_us)::BIGINT AS end_ns
FROM critical_path(run := $run, worker := $worker, span := $span, step := $step) AS p
WHERE p.event_id IS NOT NULL AND p.bound NOT IN ('launch_delay', 'kernel_kernel_delay', 'other');
