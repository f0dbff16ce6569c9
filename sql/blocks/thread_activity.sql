-- block: thread_activity
-- since: 0.1
-- summary: Work of threads: operators, runtime and driver calls, and data loading.
-- grain: one row per operator that ends inside the time or later, and per call and data loading before the end of the time
--
-- Annotations and Python frames tell where a program is, not that it works.
--
-- params
--   name     type     unit  default  meaning
--   traces   VARCHAR  -     -        Name of a relation with run, worker, span, trace (a number), from_ns and to_ns: the time to report.
--   threads  VARCHAR  -     -        Name of a relation with trace, pid, tid and lane (a number): all threads of the traces.
-- columns
--   trace             BIGINT   key  Number of the trace.
--   lane              BIGINT   key  Number of the thread.
--   event_id          BIGINT   key  The event.
--   parent_id         BIGINT   key  Parent on the thread, of any category.
--   name              VARCHAR  -    Name of a call; NULL for an operator and for data loading.
--   is_op             BOOLEAN  -    Whether it is an operator.
--   is_call           BOOLEAN  -    Whether it is a runtime or driver call.
--   is_active         BOOLEAN  -    Whether it has a duration, and ends after from_ns of the trace.
--   start_ns          BIGINT   ns   Start of the event.
--   end_ns            BIGINT   ns   End of the event.
--   overlap_start_ns  BIGINT   ns   Start of the first event of any category that starts inside it and ends after it; NULL if there is none.
--   correlation_id    BIGINT   -    For a call, the id that joins it to device events.
CREATE MACRO thread_activity(traces VARCHAR, threads VARCHAR) AS TABLE
    WITH
    -- Numbers first: texts join slowly.
    _events AS (
        SELECT
            a.trace,
            a.from_ns,
            h.event_id,
            h.parent_id,
            h.category,
            h.name,
            h.pid,
            h.tid,
            h.start_ns,
            h.start_ns + h.duration_ns AS end_ns,
            h.overlap_start_ns,
            h.correlation_id
        FROM host_events AS h
        INNER JOIN query_table(traces) AS a
            ON h.run = a.run AND h.worker = a.worker AND h.span = a.span
        WHERE
            h.start_ns < a.to_ns
            AND (
                ends_with(h.category, '_runtime')
                OR ends_with(h.category, '_driver')
                OR (h.category = 'cpu_op' AND h.start_ns + h.duration_ns > a.from_ns)
                OR (
                    h.category = 'user_annotation'
                    AND (
                        starts_with(h.name, 'enumerate(DataLoader)#')
                        OR starts_with(h.name, 'enumerate(DataPipe)#')
                    )
                )
            )
    )

    SELECT
        e.trace,
        t.lane,
        e.event_id,
        e.parent_id,
        CASE WHEN e.category NOT IN ('cpu_op', 'user_annotation') THEN e.name END AS name,
        e.category = 'cpu_op' AS is_op,
        e.category NOT IN ('cpu_op', 'user_annotation') AS is_call,
        e.end_ns > greatest(e.start_ns, e.from_ns) AS is_active,
        e.start_ns,
        e.end_ns,
        e.overlap_start_ns,
        e.correlation_id
    FROM _events AS e
    INNER JOIN query_table(threads) AS t
        ON
            e.trace = t.trace
            AND e.pid IS NOT DISTINCT FROM t.pid
            AND e.tid IS NOT DISTINCT FROM t.tid;
