-- block: label_time
-- since: 0.1
-- summary: Time of the mean step in which nothing runs but labels: annotations around code that was not recorded.
-- grain: one row per trace with operators in which there is such time
-- uses: is_wanted
--
-- The means are over complete steps. step_breakdown counts this time in cpu_exec_us, as the TensorBoard plugin does.
-- Of a trace without operators nobody can say what runs in its labels.
--
-- params
--   run, worker, span
-- columns
--   run, worker, span
--   name      type    unit  meaning
--   label_us  DOUBLE  us    Time per step in which one or more labels are open, and nothing else runs, on any thread or device.
CREATE MACRO label_time(
    run VARCHAR := NULL, worker VARCHAR := NULL, span VARCHAR := NULL
) AS TABLE
    WITH
    _steps AS (
        SELECT
            s.run,
            s.worker,
            s.span,
            s.event_id,
            count(*) OVER (PARTITION BY s.run, s.worker, s.span) AS steps
        FROM steps AS s
        WHERE is_wanted(s.run, s.worker, s.span, run, worker, span) AND NOT s.is_tail
    ),

    _activity AS (
        SELECT
            a.run,
            a.worker,
            a.span,
            a.step_event_id,
            a.duration_ns,
            a.cpu_exec
            AND NOT a.cpu_op
            AND NOT (
                a.kernel OR a.memcpy OR a.memset OR a.device_communication
                OR a.host_communication OR a.runtime OR a.dataloader
            ) AS is_labelled,
            bool_or(a.cpu_op) OVER (PARTITION BY a.run, a.worker, a.span) AS has_operators
        FROM step_activity AS a
        WHERE is_wanted(a.run, a.worker, a.span, run, worker, span)
    )

    SELECT
        a.run,
        a.worker,
        a.span,
        sum(a.duration_ns) / any_value(s.steps) / 1000.0 AS label_us
    FROM _activity AS a
    INNER JOIN _steps AS s
        ON
            a.run = s.run AND a.worker = s.worker AND a.span = s.span
            AND a.step_event_id IS NOT DISTINCT FROM s.event_id
    WHERE a.is_labelled AND a.has_operators
    GROUP BY a.run, a.worker, a.span;
