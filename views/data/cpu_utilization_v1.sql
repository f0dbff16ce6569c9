-- view: cpu_utilization
-- version: 1
-- since: 0.2
-- summary: Use of the CPUs by the host, the process, its children and the operators of the input pipeline.
-- grain: one row per scope and sample, step or trace
-- distributes: trace
-- order: run, worker, span, list_position(['host', 'process', 'child_process', 'operator'], scope), pid, operator_id, start_ns
-- empty: No use of the CPUs was recorded: {record cpus}.
-- uses: checked_choice, is_wanted
-- example: drawn --group-by trace
--
-- Percentages of the host are those of the time of all its cores. All others are percentages of one core: a process
-- with two busy threads uses 200 %. Nsight Systems records the process only, and only the sum of user and system
-- time. A sample is about the time since the sample before it. group_by 'step' and 'trace' report means over the
-- samples, of which context_switches is the sum; samples outside of all steps are in no step.
--
-- params
--   name      type     unit  default   meaning
--   run, worker, span
--   group_by  VARCHAR  -     'sample'  'sample', 'step' or 'trace'.
--   scope     VARCHAR  -     NULL      'host', 'process', 'child_process' or 'operator'; NULL reports all.
-- columns
--   run, worker, span
--   name                type     unit  meaning
--   scope               VARCHAR  key   'host', 'process', 'child_process' such as a worker of a DataLoader, or 'operator' of the input pipeline.
--   pid                 BIGINT   key   Process; NULL for the host and for operators.
--   loader_worker       BIGINT   -     Number of the worker of the DataLoader that a child process is; NULL for others.
--   operator_id         BIGINT   key   Operator of the input pipeline; NULL for others.
--   operator            VARCHAR  -     Kind of the operator.
--   step                BIGINT   key   Step as recorded in which the samples are; NULL outside of steps, and for group_by 'trace'.
--   start_ns            BIGINT   ns    Time of the first sample, nanoseconds since the epoch; for MindData by the clock of its files.
--   samples             BIGINT   -     Number of samples.
--   user_pct            DOUBLE   pct   CPU time in user code; NULL where only the sum is recorded.
--   system_pct          DOUBLE   pct   CPU time in the system; NULL in the same case.
--   busy_pct            DOUBLE   pct   Sum of both: CPU time.
--   io_wait_pct         DOUBLE   pct   Time in which the host only waited for storage; NULL for others.
--   idle_pct            DOUBLE   pct   Time in which the host was idle; NULL for others.
--   runnable_processes  DOUBLE   -     Processes and threads of the host that ran or could run; NULL for others.
--   context_switches    BIGINT   -     Context switches of the host; NULL for others.
--   cores               BIGINT   -     Cores of the host; NULL if unknown, and for others.
CREATE MACRO cpu_utilization_v1(
    run VARCHAR := NULL,
    worker VARCHAR := NULL,
    span VARCHAR := NULL,
    group_by VARCHAR := 'sample',
    scope VARCHAR := NULL
) AS TABLE
    WITH
    samples AS (
        SELECT
            s.run,
            s.worker,
            s.span,
            s.name AS scope,
            s.pid,
            s.time_ns,
            max(s.value) FILTER (WHERE s.series = 'user_pct') AS user_pct,
            max(s.value) FILTER (WHERE s.series = 'system_pct') AS system_pct,
            max(s.value) FILTER (WHERE s.series = 'busy_pct') AS busy_pct,
            max(s.value) FILTER (WHERE s.series = 'io_wait_pct') AS io_wait_pct,
            max(s.value) FILTER (WHERE s.series = 'idle_pct') AS idle_pct,
            max(s.value) FILTER (WHERE s.series = 'runnable_processes') AS runnable_processes,
            max(s.value) FILTER (WHERE s.series = 'context_switches') AS context_switches,
            max(s.value) FILTER (WHERE s.series = 'cores') AS cores
        FROM counter_samples AS s
        WHERE
            is_wanted(s.run, s.worker, s.span, run, worker, span)
            AND s.category = 'cpu_utilization'
            AND (scope IS NULL OR s.name = scope)
            AND (
                SELECT c.is_allowed
                FROM checked_choice('group_by', group_by, ['sample', 'step', 'trace']) AS c
            )
        GROUP BY s.run, s.worker, s.span, s.name, s.pid, s.time_ns
    ),

    placed AS (
        SELECT
            m.run,
            m.worker,
            m.span,
            m.scope,
            m.pid,
            m.time_ns,
            max(t.step) AS step,
            any_value(m.user_pct) AS user_pct,
            any_value(m.system_pct) AS system_pct,
            any_value(m.busy_pct) AS busy_pct,
            any_value(m.io_wait_pct) AS io_wait_pct,
            any_value(m.idle_pct) AS idle_pct,
            any_value(m.runnable_processes) AS runnable_processes,
            any_value(m.context_switches) AS context_switches,
            any_value(m.cores) AS cores
        FROM samples AS m
        LEFT JOIN steps AS t
            ON
                m.run = t.run AND m.worker = t.worker AND m.span = t.span
                AND m.time_ns >= t.start_ns AND m.time_ns < t.end_ns
        GROUP BY m.run, m.worker, m.span, m.scope, m.pid, m.time_ns
    ),

    grouped AS (
        SELECT
            p.run,
            p.worker,
            p.span,
            p.scope,
            p.pid,
            CASE WHEN group_by <> 'trace' THEN p.step END AS step,
            min(p.time_ns) AS start_ns,
            count(*) AS samples,
            avg(p.user_pct) AS user_pct,
            avg(p.system_pct) AS system_pct,
            avg(p.busy_pct) AS busy_pct,
            avg(p.io_wait_pct) AS io_wait_pct,
            avg(p.idle_pct) AS idle_pct,
            avg(p.runnable_processes) AS runnable_processes,
            sum(p.context_switches)::BIGINT AS context_switches,
            max(p.cores)::BIGINT AS cores
        FROM placed AS p
        WHERE group_by <> 'step' OR p.step IS NOT NULL
        GROUP BY
            p.run, p.worker, p.span, p.scope, p.pid,
            CASE WHEN group_by <> 'trace' THEN p.step END,
            CASE WHEN group_by = 'sample' THEN p.time_ns END
    ),

    loader_workers AS (
        SELECT b.run, b.worker, b.span, b.loader_pid, max(b.loader_worker) AS loader_worker
        FROM data_pipeline_batches AS b
        WHERE is_wanted(b.run, b.worker, b.span, run, worker, span)
        GROUP BY b.run, b.worker, b.span, b.loader_pid
    )

    SELECT
        g.run,
        g.worker,
        g.span,
        g.scope,
        CASE WHEN g.scope <> 'operator' THEN g.pid::BIGINT END AS pid,
        l.loader_worker,
        CASE WHEN g.scope = 'operator' THEN g.pid::BIGINT END AS operator_id,
        o.operator,
        g.step,
        g.start_ns,
        g.samples,
        g.user_pct,
        g.system_pct,
        coalesce(g.busy_pct, g.user_pct + coalesce(g.system_pct, 0), g.system_pct) AS busy_pct,
        g.io_wait_pct,
        g.idle_pct,
        g.runnable_processes,
        g.context_switches,
        g.cores
    FROM grouped AS g
    LEFT JOIN loader_workers AS l
        ON
            g.run = l.run AND g.worker = l.worker AND g.span = l.span
            AND g.scope = 'child_process' AND g.pid = l.loader_pid::VARCHAR
    LEFT JOIN data_pipeline_operators AS o
        ON
            g.run = o.run AND g.worker = o.worker AND g.span = o.span
            AND g.scope = 'operator' AND o.pipeline = 0 AND g.pid = o.operator_id::VARCHAR
    ORDER BY
        g.run,
        g.worker,
        g.span,
        list_position(['host', 'process', 'child_process', 'operator'], g.scope),
        g.pid::BIGINT,
        g.start_ns;
