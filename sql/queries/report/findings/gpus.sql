-- Finding of the panel: how busy the devices are.
SELECT
    CASE
        WHEN count(*) = 1
            THEN
                format(
                    'Kernels run for {} of the time', as_percent(any_value(p.gpu_utilization_pct))
                )
                || coalesce(
                    format(
                        '; averaged over all time, {} of the multiprocessors are in use.',
                        as_percent(any_value(p.est_sm_efficiency_pct))
                    ),
                    '.'
                )
        WHEN as_percent(min(p.gpu_utilization_pct)) = as_percent(max(p.gpu_utilization_pct))
            THEN
                format(
                    'Kernels run for {} of the time on each device.',
                    as_percent(max(p.gpu_utilization_pct))
                )
        ELSE
            format(
                'Kernels run for {} of the time on device {}, and for {} on device {}.',
                as_percent(min(p.gpu_utilization_pct)),
                arg_min(p.device_id, p.gpu_utilization_pct),
                as_percent(max(p.gpu_utilization_pct)),
                arg_max(p.device_id, p.gpu_utilization_pct)
            )
    END AS finding
FROM panel_rows AS p
HAVING count(*) = count(p.gpu_utilization_pct) AND count(*) > 0;
