-- block: lost_time
-- since: 0.1
-- summary: Time that the mean step of a trace loses to each cause; each instant counts for one cause.
-- grain: one row per trace
-- uses: data_waits, device_setup, label_time, optimizer_time, percentage, step_breakdown_summary_v1, step_compilation, step_synchronizations, trace_gpus, worker_waits
--
-- Idle time of a device is assigned in this order: to the data loader, to calls that wait for the device
-- or for a copy (limited to the time of runtime calls in the step), to torch.compile, to calls that prepare the device,
-- to the optimizer, and to the rest of the host's work. What is left is outside of operators: nothing that was recorded
-- runs, or nothing but labels. A cause only counts if its rule of recommendations fires, because a rare event does not
-- explain anything. Unless that rule fires, the time of labels is time of the host's work, as in step_breakdown.
--
-- If the loop has no annotations of a data loader, but its pipeline was recorded, as by MindSpore, the data loader
-- gets the share of the mean step that the training waits of the recorded time.
--
-- params
--   name   type     unit  default  meaning
--   rules  VARCHAR  -     -        Name of a relation with rows of device_advice.
--   run, worker, span
-- columns
--   run, worker, span
--   name               type     unit  meaning
--   total_us           DOUBLE   us    Length of the mean step.
--   memcpy_us          DOUBLE   us    Time of copies in the mean step, as in step_breakdown_summary.
--   communication_us   DOUBLE   us    Time of communication, likewise.
--   host_us            DOUBLE   us    Time of runtime calls and operators, likewise, without label_us.
--   dataloader_pct     DOUBLE   pct   Share of the data loader.
--   communication_pct  DOUBLE   pct   Share of communication.
--   runtime_pct        DOUBLE   pct   Share of runtime calls.
--   cpu_exec_pct       DOUBLE   pct   Share of operators and annotations, without label_us.
--   host_pct           DOUBLE   pct   Sum of runtime_pct and cpu_exec_pct.
--   more_loading_us    DOUBLE   us    Time of the data loader beyond that of the worker with the least, of those that are compared in worker_waits.
--   more_host_us       DOUBLE   us    The same for host_us, without the time of labels.
--   more_other_us      DOUBLE   us    The same for the time in which nothing that was recorded runs but labels.
--   straggler          VARCHAR  -     The worker that others wait for, as in worker_waits.
--   longest_wait_us    DOUBLE   us    The longest that one of them waits, likewise.
--   longest_wait_pct   DOUBLE   pct   The same in percent of its mean step.
--   straggler_us       DOUBLE   us    Time of waiting for it, likewise.
--   in_turn_us         DOUBLE   us    Time of waiting for whichever worker comes last in a step, as in worker_waits.
--   waits_for          VARCHAR  -     The straggler, if half or more of the communication is waiting for it, likewise.
--   waits_in_turn      BOOLEAN  -     Whether half or more of the communication is waiting in turn, likewise.
--   is_straggler       BOOLEAN  -     Whether other workers wait for this one.
--   is_launch_bound    BOOLEAN  -     Whether host_pct is above 50 and the trace uses a device.
--   loading_us         DOUBLE   us    Time lost to the data loader; 0 if that is up to 5 % of the step.
--   syncing_us         DOUBLE   us    Time lost to calls that wait for the device; 0 for up to 10 calls per step.
--   copying_us         DOUBLE   us    Time lost to blocking copies; 0 if the rule does not fire.
--   compiling_pct      DOUBLE   pct   Share of the time in which torch.compile compiles, whatever the device does; NULL if it does not.
--   compiling_steps    BIGINT   -     Number of steps in which it does.
--   steps              BIGINT   -     Number of steps; NULL if it neither compiles nor prepares the device nor runs an optimizer.
--   compiling_us       DOUBLE   us    Time lost to it; 0 if that share is up to 5 %.
--   setup_pct          DOUBLE   pct   Share of the time in which the host prepares an idle device; NULL if it never does.
--   setup_steps        BIGINT   -     Number of steps in which it does.
--   setup_call         VARCHAR  -     The call that takes longest.
--   setup_us           DOUBLE   us    Time lost to it; 0 if that share is up to 5 %.
--   optimizer          VARCHAR  -     Class of the optimizer; NULL if none ran.
--   implementation     VARCHAR  -     How it updates the parameters, as in optimizer_time.
--   optimizer_pct      DOUBLE   pct   Share of the time in it, as in optimizer_time.
--   optimizer_work_us  DOUBLE   us    Time in which the device works for it.
--   optimizing_us      DOUBLE   us    Time lost to it while no device works; 0 if its share is up to 20 %.
--   launching_us       DOUBLE   us    Rest of host_us.
--   outside_pct        DOUBLE   pct   Share of the mean step in which nothing that was recorded runs but labels, on the host or on a device.
--   outside_us         DOUBLE   us    Time lost outside of operators; 0 if its rule does not fire.
--   label_us           DOUBLE   us    Part of it in which labels are open, as in label_time.
--   waits_by           VARCHAR  -     'excessive_synchronization', 'blocking_copies', 'compilation', 'device_setup' or 'optimizer', whichever takes longest, if all together are more than half of host_us.
--   explained_us       DOUBLE   us    Total time lost to a named cause.
--   costliest          VARCHAR  -     Rule of the cause with the largest loss.
--   has_gaps           BOOLEAN  -     Whether device_gaps fires.
--   has_blocking       BOOLEAN  -     Whether blocking_copies fires.
CREATE MACRO lost_time(
    rules VARCHAR, run VARCHAR := NULL, worker VARCHAR := NULL, span VARCHAR := NULL
) AS TABLE
    WITH
    -- Of all workers of a run, because each is compared with the others.
    _breakdown AS (
        SELECT
            b.run,
            b.worker,
            b.span,
            any_value(b.mean_us) FILTER (WHERE b.category = 'total') AS total_us,
            any_value(b.mean_us) FILTER (WHERE b.category = 'memcpy') AS memcpy_us,
            coalesce(any_value(b.mean_us) FILTER (WHERE b.category = 'runtime'), 0) AS runtime_us,
            coalesce(any_value(b.mean_us) FILTER (WHERE b.category = 'dataloader'), 0)
                AS dataloader_us,
            any_value(b.mean_us) FILTER (WHERE b.category = 'communication') AS communication_us,
            coalesce(sum(b.mean_us) FILTER (WHERE b.category IN ('runtime', 'cpu_exec')), 0)
                AS host_us,
            coalesce(any_value(b.mean_us) FILTER (WHERE b.category = 'other'), 0) AS other_us,
            any_value(b.share_pct) FILTER (WHERE b.category = 'dataloader') AS dataloader_pct,
            any_value(b.share_pct) FILTER (WHERE b.category = 'communication') AS communication_pct,
            any_value(b.share_pct) FILTER (WHERE b.category = 'runtime') AS runtime_pct,
            any_value(b.share_pct) FILTER (WHERE b.category = 'cpu_exec') AS cpu_exec_pct,
            sum(b.share_pct) FILTER (WHERE b.category IN ('runtime', 'cpu_exec')) AS host_pct
        FROM step_breakdown_summary_v1(run := run, span := span) AS b
        GROUP BY b.run, b.worker, b.span
    ),

    _shares AS (
        SELECT
            b.run,
            b.worker,
            b.span,
            b.total_us,
            b.memcpy_us,
            b.runtime_us,
            b.communication_us,
            b.host_us,
            b.communication_pct,
            b.runtime_pct,
            b.cpu_exec_pct,
            b.host_pct,
            CASE
                WHEN b.dataloader_us = 0 AND a.wait_pct > 0 THEN a.wait_pct / 100 * b.total_us
                ELSE b.dataloader_us
            END AS dataloader_us,
            CASE
                WHEN b.dataloader_us = 0 AND a.wait_pct > 0 THEN a.wait_pct
                ELSE b.dataloader_pct
            END AS dataloader_pct,
            CASE
                WHEN b.dataloader_us = 0 AND a.wait_pct > 0
                    THEN greatest(b.other_us - a.wait_pct / 100 * b.total_us, 0)
                ELSE b.other_us
            END AS other_us,
            coalesce(l.label_us, 0) AS label_us
        FROM _breakdown AS b
        LEFT JOIN label_time(run := run, span := span) AS l
            ON b.run = l.run AND b.worker = l.worker AND b.span = l.span
        LEFT JOIN (
            SELECT w.run, w.worker, w.span, max(w.wait_pct) AS wait_pct
            FROM data_waits(run := run, span := span) AS w
            WHERE w.cause <> 'no_bottleneck' AND w.queue_empty_pct IS NOT NULL
            GROUP BY w.run, w.worker, w.span
        ) AS a
            ON b.run = a.run AND b.worker = a.worker AND b.span = a.span
    ),

    -- Of all workers, because each is compared with those that it is connected with.
    _of_workers AS MATERIALIZED (FROM worker_waits(run, NULL, span)),

    _more AS (
        SELECT
            s.run,
            s.worker,
            s.span,
            s.dataloader_us - min(s.dataloader_us) OVER of_set AS more_loading_us,
            s.host_us - s.label_us - min(s.host_us - s.label_us) OVER of_set AS more_host_us,
            s.other_us + s.label_us - min(s.other_us + s.label_us) OVER of_set AS more_other_us
        FROM _shares AS s
        INNER JOIN _of_workers AS w ON s.run = w.run AND s.worker = w.worker AND s.span = w.span
        WINDOW of_set AS (PARTITION BY w.set_id)
    ),

    _idle_rules AS (
        SELECT
            d.run,
            d.worker,
            d.span,
            any_value(d.value) FILTER (WHERE d.rule = 'blocking_copies') AS blocking_pct,
            bool_or(d.rule = 'device_gaps') AS has_gaps
        FROM query_table(rules) AS d
        GROUP BY d.run, d.worker, d.span
    ),

    _waits AS (
        SELECT y.run, y.worker, y.span, y.wait_us / y.steps AS wait_us
        FROM step_synchronizations(run, worker, span) AS y
        WHERE y.calls > 10 * y.steps
    ),

    -- Waiting is only lost time while the device is idle: within the time of runtime calls.
    _figures AS (
        SELECT
            g.run,
            g.worker,
            g.span,
            s.total_us,
            s.memcpy_us,
            s.communication_us,
            s.dataloader_pct,
            s.communication_pct,
            s.runtime_pct,
            s.host_us AS all_host_us,
            s.cpu_exec_pct AS all_exec_pct,
            s.host_pct AS all_host_pct,
            s.other_us AS unrecorded_us,
            s.label_us AS labelled_us,
            g.used_devices > 0 AS has_device,
            -- Without device work, only if there are operators, and no device whose work is missing.
            CASE
                WHEN g.used_devices > 0 THEN s.other_us + s.label_us > 0.5 * s.total_us
                ELSE
                    s.other_us + s.label_us > 0.3 * s.total_us
                    AND s.cpu_exec_pct > 0
                    AND g.seen_on_host IS NULL
                    AND coalesce(t.source, 'kineto') = 'kineto'
            END AS is_outside,
            w.straggler,
            w.straggler_us,
            w.in_turn_us,
            w.waits_for,
            w.waits_in_turn,
            j.more_loading_us,
            j.more_host_us,
            j.more_other_us,
            w.longest_wait_us,
            w.longest_wait_pct,
            coalesce(g.worker = w.straggler, FALSE) AS is_straggler,
            coalesce(i.has_gaps, FALSE) AS has_gaps,
            i.blocking_pct IS NOT NULL AS has_blocking,
            CASE WHEN s.dataloader_pct > 5 THEN s.dataloader_us ELSE 0 END AS loading_us,
            CASE WHEN y.wait_us IS NULL THEN 0 ELSE least(y.wait_us, s.runtime_us) END
                AS syncing_us,
            CASE
                WHEN i.blocking_pct IS NULL THEN 0
                ELSE
                    least(
                        i.blocking_pct / 100 * s.total_us,
                        greatest(s.runtime_us - coalesce(y.wait_us, 0), 0)
                    )
            END AS copying_us,
            c.compiling_steps,
            coalesce(c.steps, p.steps, o.steps) AS steps,
            c.compile_us / c.steps AS compile_us,
            percentage(c.compile_us / c.steps, s.total_us) AS compiling_pct,
            p.setup_steps,
            p.name AS setup_call,
            percentage(p.setup_us / p.steps, s.total_us) AS setup_pct,
            o.name AS optimizer,
            o.implementation,
            percentage(o.optimizer_us / o.steps, s.total_us) AS optimizer_pct,
            (o.optimizer_us - o.idle_us) / o.steps AS optimizer_work_us,
            o.idle_us / o.steps AS optimizer_idle_us
        FROM trace_gpus(run, worker, span) AS g
        INNER JOIN traces AS t ON g.run = t.run AND g.worker = t.worker AND g.span = t.span
        LEFT JOIN _shares AS s ON g.run = s.run AND g.worker = s.worker AND g.span = s.span
        LEFT JOIN _more AS j ON g.run = j.run AND g.worker = j.worker AND g.span = j.span
        LEFT JOIN _of_workers AS w ON g.run = w.run AND g.worker = w.worker AND g.span = w.span
        LEFT JOIN _waits AS y ON g.run = y.run AND g.worker = y.worker AND g.span = y.span
        LEFT JOIN step_compilation(run, worker, span) AS c
            ON g.run = c.run AND g.worker = c.worker AND g.span = c.span
        LEFT JOIN device_setup(run, worker, span) AS p
            ON
                g.run = p.run AND g.worker = p.worker AND g.span = p.span
                AND g.used_devices > 0
        LEFT JOIN optimizer_time(run, worker, span) AS o
            ON g.run = o.run AND g.worker = o.worker AND g.span = o.span
        LEFT JOIN _idle_rules AS i ON g.run = i.run AND g.worker = i.worker AND g.span = i.span
    ),

    _moved AS (
        SELECT f.*, CASE WHEN f.is_outside THEN f.labelled_us ELSE 0 END AS label_us
        FROM _figures AS f
    ),

    _measured AS (
        SELECT
            m.*,
            m.all_host_us - m.label_us AS host_us,
            m.all_exec_pct - percentage(m.label_us, m.total_us) AS cpu_exec_pct,
            m.all_host_pct - percentage(m.label_us, m.total_us) AS host_pct,
            m.unrecorded_us + m.label_us AS other_us,
            percentage(m.unrecorded_us + m.label_us, m.total_us) AS outside_pct,
            coalesce(
                m.has_device AND m.all_host_pct - percentage(m.label_us, m.total_us) > 50, FALSE
            ) AS is_launch_bound
        FROM _moved AS m
    ),

    _compiling AS (
        SELECT
            f.*,
            CASE
                WHEN f.compiling_pct > 5
                    THEN least(f.compile_us, f.host_us - f.syncing_us - f.copying_us)
                ELSE 0
            END AS compiling_us
        FROM _measured AS f
    ),

    _preparing AS (
        SELECT
            c.*,
            CASE
                WHEN c.setup_pct > 5
                    THEN
                        least(
                            c.setup_pct / 100 * c.total_us,
                            c.host_us - c.syncing_us - c.copying_us - c.compiling_us
                        )
                ELSE 0
            END AS setup_us
        FROM _compiling AS c
    ),

    _optimizing AS (
        SELECT
            p.*,
            CASE
                WHEN p.optimizer_pct > 20
                    THEN
                        least(
                            p.optimizer_idle_us,
                            p.host_us - p.syncing_us - p.copying_us - p.compiling_us - p.setup_us
                        )
                ELSE 0
            END AS optimizing_us
        FROM _preparing AS p
    ),

    _divided AS (
        SELECT
            f.*,
            f.host_us - f.syncing_us - f.copying_us - f.compiling_us - f.setup_us
            - f.optimizing_us AS launching_us,
            CASE
                WHEN
                    f.syncing_us + f.copying_us + f.compiling_us + f.setup_us + f.optimizing_us
                    <= 0.5 * f.host_us
                    THEN NULL
                WHEN
                    f.optimizing_us
                    > greatest(f.syncing_us, f.copying_us, f.compiling_us, f.setup_us)
                    THEN 'optimizer'
                WHEN f.setup_us > greatest(f.syncing_us, f.copying_us, f.compiling_us)
                    THEN 'device_setup'
                WHEN f.compiling_us >= greatest(f.syncing_us, f.copying_us) THEN 'compilation'
                WHEN f.syncing_us >= f.copying_us THEN 'excessive_synchronization'
                ELSE 'blocking_copies'
            END AS waits_by
        FROM _optimizing AS f
    ),

    _bound AS (
        SELECT
            d.*,
            CASE WHEN d.is_launch_bound AND d.waits_by IS NULL THEN d.launching_us ELSE 0 END
                AS launch_bound_us,
            CASE WHEN d.is_outside THEN d.other_us ELSE 0 END AS outside_us
        FROM _divided AS d
    ),

    _named AS (
        SELECT
            b.*,
            greatest(
                b.loading_us,
                b.syncing_us,
                b.copying_us,
                b.compiling_us,
                b.setup_us,
                b.optimizing_us,
                b.launch_bound_us,
                b.outside_us
            ) AS costliest_us
        FROM _bound AS b
    )

    SELECT
        n.run,
        n.worker,
        n.span,
        n.total_us,
        n.memcpy_us,
        n.communication_us,
        n.host_us,
        n.dataloader_pct,
        n.communication_pct,
        n.runtime_pct,
        n.cpu_exec_pct,
        n.host_pct,
        n.more_loading_us,
        n.more_host_us,
        n.more_other_us,
        n.straggler,
        n.longest_wait_us,
        n.longest_wait_pct,
        n.straggler_us,
        n.in_turn_us,
        n.waits_for,
        n.waits_in_turn,
        n.is_straggler,
        n.is_launch_bound,
        n.loading_us,
        n.syncing_us,
        n.copying_us,
        n.compiling_pct,
        n.compiling_steps,
        n.steps,
        n.compiling_us,
        n.setup_pct,
        n.setup_steps,
        n.setup_call,
        n.setup_us,
        n.optimizer,
        n.implementation,
        n.optimizer_pct,
        n.optimizer_work_us,
        n.optimizing_us,
        n.launching_us,
        n.outside_pct,
        n.outside_us,
        n.label_us,
        n.waits_by,
        n.loading_us + n.syncing_us + n.copying_us + n.compiling_us + n.setup_us
        + n.optimizing_us + n.launch_bound_us + n.outside_us AS explained_us,
        CASE n.costliest_us
            WHEN n.loading_us THEN 'data_loading'
            WHEN n.syncing_us THEN 'excessive_synchronization'
            WHEN n.copying_us THEN 'blocking_copies'
            WHEN n.compiling_us THEN 'compilation'
            WHEN n.setup_us THEN 'device_setup'
            WHEN n.optimizing_us THEN 'optimizer'
            WHEN n.launch_bound_us THEN 'launch_bound'
            ELSE 'outside_operators'
        END AS costliest,
        n.has_gaps,
        n.has_blocking
    FROM _named AS n;
