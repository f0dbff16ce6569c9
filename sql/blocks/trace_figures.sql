-- block: trace_figures
-- since: 0.1
-- summary: Figures that summarise each trace.
-- grain: one row per trace and figure that it records
-- uses: gpu_summary_v1, gpu_time_v1, memory_totals, percentage, ratio, step_breakdown_v1
--
-- Device figures are means over the devices of a trace. Step figures are means over the steps that are not
-- tail steps.
--
--   step_us, kernel_us, memcpy_us, memset_us, communication_us, runtime_us, dataloader_us, cpu_exec_us,
--   other_us                                        time per step, as in step_breakdown
--   gpu_utilization_pct, est_sm_efficiency_pct, est_achieved_occupancy_pct, tensor_core_time_pct
--                                                   as in gpu_summary
--   gpu_idle_pct, exposed_communication_pct         shares of the window of gpu_time
--   peak_memory_bytes, mean_memory_bytes            allocated on devices other than the host
--   peak_host_memory_bytes, mean_host_memory_bytes  allocated on the host
--
-- Memory that another process sent, as data loader workers do, is not included; see the block memory_totals.
--
-- params
--   name     type       unit  default  meaning
--   run, worker, span
--   figures  VARCHAR[]  -     NULL     Figures to compute; NULL computes all.
-- columns
--   run, worker, span
--   figure  VARCHAR  key  Name of the figure, with its unit.
--   value   DOUBLE   -    Value of the figure.
CREATE MACRO trace_figures(
    run VARCHAR := NULL,
    worker VARCHAR := NULL,
    span VARCHAR := NULL,
    figures VARCHAR[] := NULL
) AS TABLE
    WITH
    _points AS (
        SELECT
            m.run,
            m.worker,
            m.span,
            m.device,
            m.device_type = 'cpu' AS on_host,
            m.allocated_bytes AS bytes,
            lead(m.time_ns) OVER (
                PARTITION BY m.run, m.worker, m.span, m.device ORDER BY m.time_ns, m.event_id
            ) - m.time_ns AS duration_ns
        FROM memory_totals(run, worker, span) AS m
        WHERE
            figures IS NULL
            OR list_has_any(
                figures,
                [
                    'peak_memory_bytes',
                    'mean_memory_bytes',
                    'peak_host_memory_bytes',
                    'mean_host_memory_bytes'
                ]
            )
    ),

    _curves AS (
        SELECT
            p.run,
            p.worker,
            p.span,
            p.on_host,
            max(p.bytes)::DOUBLE AS peak_bytes,
            ratio(sum(p.bytes::DOUBLE * p.duration_ns), sum(p.duration_ns)) AS mean_bytes
        FROM _points AS p
        GROUP BY p.run, p.worker, p.span, p.on_host, p.device
    ),

    _parts AS (
        SELECT
            b.run,
            b.worker,
            b.span,
            unnest([
                { 'figure': 'step_us', 'value': b.total_us },
                { 'figure': 'kernel_us', 'value': b.kernel_us },
                { 'figure': 'memcpy_us', 'value': b.memcpy_us },
                { 'figure': 'memset_us', 'value': b.memset_us },
                { 'figure': 'communication_us', 'value': b.communication_us },
                { 'figure': 'runtime_us', 'value': b.runtime_us },
                { 'figure': 'dataloader_us', 'value': b.dataloader_us },
                { 'figure': 'cpu_exec_us', 'value': b.cpu_exec_us },
                { 'figure': 'other_us', 'value': b.other_us }
            ]) AS part
        FROM step_breakdown_v1(run := run, worker := worker, span := span) AS b
        WHERE
            NOT b.is_tail
            AND (
                figures IS NULL
                OR list_has_any(
                    figures,
                    [
                        'step_us',
                        'kernel_us',
                        'memcpy_us',
                        'memset_us',
                        'communication_us',
                        'runtime_us',
                        'dataloader_us',
                        'cpu_exec_us',
                        'other_us'
                    ]
                )
            )
        UNION ALL
        SELECT
            g.run,
            g.worker,
            g.span,
            unnest([
                { 'figure': 'gpu_utilization_pct', 'value': g.gpu_utilization_pct },
                { 'figure': 'est_sm_efficiency_pct', 'value': g.est_sm_efficiency_pct },
                { 'figure': 'est_achieved_occupancy_pct', 'value': g.est_achieved_occupancy_pct },
                { 'figure': 'tensor_core_time_pct', 'value': g.tensor_core_time_pct }
            ])
        FROM gpu_summary_v1(run := run, worker := worker, span := span) AS g
        WHERE
            figures IS NULL
            OR list_has_any(
                figures,
                [
                    'gpu_utilization_pct',
                    'est_sm_efficiency_pct',
                    'est_achieved_occupancy_pct',
                    'tensor_core_time_pct'
                ]
            )
        UNION ALL
        SELECT
            t.run,
            t.worker,
            t.span,
            unnest([
                { 'figure': 'gpu_idle_pct', 'value': percentage(t.idle_us, t.window_us) },
                {
                    'figure': 'exposed_communication_pct',
                    'value': percentage(t.exposed_communication_us, t.window_us)
                }
            ])
        FROM gpu_time_v1(run := run, worker := worker, span := span) AS t
        WHERE
            figures IS NULL
            OR list_has_any(figures, ['gpu_idle_pct', 'exposed_communication_pct'])
        UNION ALL
        SELECT
            c.run,
            c.worker,
            c.span,
            unnest([
                {
                    'figure': CASE
                        WHEN c.on_host THEN 'peak_host_memory_bytes' ELSE 'peak_memory_bytes'
                    END,
                    'value': c.peak_bytes
                },
                {
                    'figure': CASE
                        WHEN c.on_host THEN 'mean_host_memory_bytes' ELSE 'mean_memory_bytes'
                    END,
                    'value': c.mean_bytes
                }
            ])
        FROM _curves AS c
    )

    SELECT
        p.run,
        p.worker,
        p.span,
        p.part.figure,
        avg(p.part.value) AS value
    FROM _parts AS p
    WHERE p.part.value IS NOT NULL AND (figures IS NULL OR list_contains(figures, p.part.figure))
    GROUP BY p.run, p.worker, p.span, p.part.figure;
