-- block: trend_values
-- since: 0.1
-- summary: Contribution of each trace to the trend of a figure.
-- grain: one row per trace of the included runs
-- uses: checked_choice, has_epoch, kernel_steps, operator_steps, trace_figures
--
-- params
--   name    type     unit  default  meaning
--   figure  VARCHAR  -     -        As in trend.
--   name    VARCHAR  -     NULL     Name of the operator or kernel, for the figures that need one.
--   runs    VARCHAR  -     '*'      Pattern of the runs to include, e.g. 'nightly/*'.
-- columns
--   run, worker, span
--   name          type     unit  meaning
--   start_ns      BIGINT   ns    Start of the first event of the trace, nanoseconds since the epoch; NULL if the trace does not say when it was recorded.
--   value         DOUBLE   -     Value of the figure; NULL if the trace does not record it.
--   is_recording  BOOLEAN  -     Whether the figure is one per step, and the trace has no steps: the value is then that of the whole recording.
CREATE MACRO trend_values(
    figure VARCHAR, name VARCHAR := NULL, runs VARCHAR := '*'
) AS TABLE
    WITH
    -- Traces in which an operator, its device work, or a kernel can be measured.
    _measured AS (
        SELECT DISTINCT h.run, h.worker, h.span
        FROM host_events AS h
        WHERE
            h.inner_self_ns IS NOT NULL
            AND (
                figure IN ('operator_calls', 'operator_host_self_us')
                OR (figure = 'operator_device_self_us' AND h.plain_self_ns IS NOT NULL)
            )
        UNION ALL
        SELECT DISTINCT d.run, d.worker, d.span
        FROM device_events AS d
        WHERE
            figure IN ('kernel_calls', 'kernel_total_us')
            AND d.kind IN ('compute', 'communication')
    ),

    _step_counts AS (
        SELECT s.run, s.worker, s.span, count(*) AS steps
        FROM steps AS s
        INNER JOIN _measured AS m ON s.run = m.run AND s.worker = m.worker AND s.span = m.span
        WHERE NOT s.is_tail
        GROUP BY s.run, s.worker, s.span
    ),

    _named AS (
        SELECT
            o.run,
            o.worker,
            o.span,
            CASE figure
                WHEN 'operator_calls' THEN o.calls
                WHEN 'operator_host_self_us' THEN o.host_self_ns / 1000.0
                ELSE o.device_self_ns / 1000.0
            END AS value
        FROM operator_steps(name := name) AS o
        WHERE figure IN ('operator_calls', 'operator_host_self_us', 'operator_device_self_us')
        UNION ALL
        SELECT
            k.run,
            k.worker,
            k.span,
            CASE figure WHEN 'kernel_calls' THEN k.calls ELSE k.total_ns / 1000.0 END
        FROM kernel_steps(name := name) AS k
        WHERE figure IN ('kernel_calls', 'kernel_total_us')
    ),

    _named_totals AS (
        SELECT n.run, n.worker, n.span, sum(n.value) AS value
        FROM _named AS n
        GROUP BY n.run, n.worker, n.span
    ),

    _trace_values AS (
        SELECT c.run, c.worker, c.span, coalesce(n.value, 0) / c.steps AS value
        FROM _step_counts AS c
        LEFT JOIN _named_totals AS n
            ON c.run = n.run AND c.worker = n.worker AND c.span = n.span
        UNION ALL
        SELECT f.run, f.worker, f.span, f.value
        FROM trace_figures(figures := [figure]) AS f
    ),

    _stepped AS (
        SELECT DISTINCT s.run, s.worker, s.span
        FROM steps AS s
        WHERE s.step IS NOT NULL
    )

    SELECT
        t.run,
        t.worker,
        t.span,
        CASE WHEN has_epoch(t.skipped_reasons) THEN t.start_ns END AS start_ns,
        v.value,
        s.run IS NULL AND NOT (ends_with(figure, '_pct') OR ends_with(figure, '_bytes'))
            AS is_recording
    FROM traces AS t
    LEFT JOIN _trace_values AS v ON t.run = v.run AND t.worker = v.worker AND t.span = v.span
    LEFT JOIN _stepped AS s ON t.run = s.run AND t.worker = s.worker AND t.span = s.span
    WHERE
        t.run GLOB runs
        AND (
            SELECT
                CASE
                    WHEN NOT c.is_allowed THEN FALSE
                    WHEN
                        (name IS NULL) = (
                            starts_with(figure, 'operator_')
                            OR figure IN ('kernel_calls', 'kernel_total_us')
                        )
                        THEN error(format(
                            CASE
                                WHEN name IS NULL THEN '{} needs a name' ELSE '{} takes no name'
                            END,
                            figure
                        ))
                    ELSE TRUE
                END
            FROM
                checked_choice(
                    'figure',
                    figure,
                    [
                        'step_us',
                        'kernel_us',
                        'memcpy_us',
                        'memset_us',
                        'communication_us',
                        'runtime_us',
                        'dataloader_us',
                        'cpu_exec_us',
                        'other_us',
                        'gpu_utilization_pct',
                        'est_sm_efficiency_pct',
                        'est_achieved_occupancy_pct',
                        'tensor_core_time_pct',
                        'gpu_idle_pct',
                        'exposed_communication_pct',
                        'peak_memory_bytes',
                        'mean_memory_bytes',
                        'peak_host_memory_bytes',
                        'mean_host_memory_bytes',
                        'operator_calls',
                        'operator_host_self_us',
                        'operator_device_self_us',
                        'kernel_calls',
                        'kernel_total_us'
                    ]
                ) AS c
        );
