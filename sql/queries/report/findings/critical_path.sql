-- Finding of the panel: what takes most of the critical path.
SELECT
    format(
        '{} is {} of the critical path.',
        CASE arg_max(p.bound, p.share_pct)
            WHEN 'cpu' THEN 'Work of the host'
            WHEN 'data_loading' THEN 'The data loader'
            WHEN 'sync' THEN 'Waiting for a synchronization'
            WHEN 'launch_delay' THEN 'The delay from a launch to its start'
            WHEN 'kernel_kernel_delay' THEN 'The delay between kernels'
            WHEN 'device_compute' THEN 'Computation on the device'
            WHEN 'device_communication' THEN 'Communication on the device'
            WHEN 'device_memory' THEN 'Copying on the device'
            ELSE 'Time of which nothing is recorded'
        END,
        as_percent(max(p.share_pct))
    ) AS finding
FROM panel_rows AS p
HAVING
    (count(*) > 1 OR any_value(p.bound) <> 'other')
    AND max(p.share_pct) > 0 AND max(p.share_pct, 2)[1] > coalesce(max(p.share_pct, 2)[2], 0);
