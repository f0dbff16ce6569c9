-- block: replay_events
-- since: 0.1
-- summary: Operators, calls, data loading and steps of threads, as a replay of their traces needs them.
-- grain: one row per event
-- uses: first_id, is_host_wait, is_wanted, trace_names
--
-- Annotations and Python frames tell where a program is, not that it works. Only steps and data loading
-- are taken of them.
--
-- params
--   run, worker, span
-- columns
--   name        type     unit  meaning
--   trace       BIGINT   key   Number of the trace, as in trace_names.
--   id          BIGINT   key   Number of the event, as in trace_names.
--   process     BIGINT   -     Number of the process.
--   lane        BIGINT   -     Number of the thread.
--   pid         VARCHAR  -     Process of the thread, as in host_events.
--   tid         VARCHAR  -     The thread, as in host_events.
--   is_call     BOOLEAN  -     Whether it is a runtime or driver call.
--   is_loading  BOOLEAN  -     Whether it is data loading.
--   is_step     BOOLEAN  -     Whether it is a step.
--   waits_for   VARCHAR  -     'device' for a call that waits for a device, 'stream' for other calls that wait; NULL for all others.
--   start_ns    BIGINT   ns    Start of the event.
--   end_ns      BIGINT   ns    End of the event.
CREATE MACRO replay_events(
    run VARCHAR := NULL, worker VARCHAR := NULL, span VARCHAR := NULL
) AS TABLE
    WITH
    _events AS (
        SELECT
            first_id(t.names, h.run, h.worker, h.span) AS first_id,
            h.event_id,
            h.pid,
            h.tid,
            ends_with(h.category, '_runtime') OR ends_with(h.category, '_driver') AS is_call,
            starts_with(h.name, 'enumerate(DataLoader)#')
            OR starts_with(h.name, 'enumerate(DataPipe)#') AS is_loading,
            CASE
                WHEN contains(h.name, 'DeviceSynchronize') THEN 'device'
                WHEN is_host_wait(h.name) THEN 'stream'
            END AS waits_for,
            h.category = 'user_annotation' AS is_annotation,
            h.start_ns,
            h.start_ns + h.duration_ns AS end_ns
        FROM host_events AS h
        CROSS JOIN trace_names(run, worker, span) AS t
        WHERE
            h.category <> 'python_function'
            AND is_wanted(h.run, h.worker, h.span, run, worker, span)
            AND (
                h.category IN ('cpu_op', 'user_annotation')
                OR ends_with(h.category, '_runtime')
                OR ends_with(h.category, '_driver')
            )
    ),

    _steps AS MATERIALIZED (
        SELECT first_id(t.names, s.run, s.worker, s.span) + s.event_id AS id
        FROM steps AS s
        CROSS JOIN trace_names(run, worker, span) AS t
        WHERE s.step IS NOT NULL AND is_wanted(s.run, s.worker, s.span, run, worker, span)
    ),

    _threads AS MATERIALIZED (
        SELECT
            p.first_id,
            p.pid,
            p.tid,
            dense_rank() OVER (ORDER BY p.first_id, p.pid) AS process,
            row_number() OVER (ORDER BY p.first_id, p.pid, p.tid) AS lane
        FROM (
            SELECT DISTINCT first_id(t.names, h.run, h.worker, h.span) AS first_id, h.pid, h.tid
            FROM host_events AS h
            CROSS JOIN trace_names(run, worker, span) AS t
            WHERE is_wanted(h.run, h.worker, h.span, run, worker, span)
        ) AS p
    )

    SELECT
        e.first_id >> 40 AS trace,
        e.first_id + e.event_id AS id,
        t.process,
        t.lane,
        t.pid,
        t.tid,
        e.is_call,
        e.is_annotation AND e.is_loading AS is_loading,
        s.id IS NOT NULL AS is_step,
        CASE WHEN e.is_call THEN e.waits_for END AS waits_for,
        e.start_ns,
        e.end_ns
    FROM _events AS e
    INNER JOIN _threads AS t
        ON
            e.first_id = t.first_id
            AND e.pid IS NOT DISTINCT FROM t.pid
            AND e.tid IS NOT DISTINCT FROM t.tid
    LEFT JOIN _steps AS s ON e.first_id + e.event_id = s.id
    WHERE NOT e.is_annotation OR e.is_loading OR s.id IS NOT NULL;
