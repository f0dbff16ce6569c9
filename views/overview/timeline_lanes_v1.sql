-- view: timeline_lanes
-- version: 1
-- since: 0.1
-- summary: The lanes of a timeline from top to bottom: steps, host threads, and streams of the devices.
-- grain: one row per lane of a trace
-- distributes: trace
-- order: run, worker, span, position
-- carries: spark
-- empty: The trace has no events with a duration.
-- uses: is_wanted, timeline_events
-- example: samples --run ddp_gloo --worker rank0
--
-- The main thread is the one in which most steps begin; without steps, the one with the most operators; and
-- without operators, the one on which events run longest. A backward thread is another thread with operators
-- of the backward pass. Threads with operators come before threads without.
--
-- params
--   run, worker, span
-- columns
--   run, worker, span
--   position   BIGINT   -    Position of the lane, from 1.
--   lane       VARCHAR  key  Kind of the lane, then process and thread, or device and stream.
--   kind       VARCHAR  -    'steps', 'thread', 'stream', 'annotations' or 'syncs'.
--   role       VARCHAR  -    'main' or 'backward' for such a thread.
--   pid        VARCHAR  key  Process of a thread, or device of a stream.
--   tid        VARCHAR  key  Thread, or stream.
--   process    VARCHAR  -    Label of the process in the trace, e.g. 'GPU 0', or else its name.
--   name       VARCHAR  -    Name of the thread in the trace.
--   depths     INTEGER  -    Number of depths: the largest number of events that are open at the same time.
--   events     BIGINT   -    Number of events.
--   operators  BIGINT   -    Number of operators.
--   start_ns   BIGINT   ns   Start of the first event, nanoseconds since the epoch.
--   end_ns     BIGINT   ns   End of the last event.
CREATE MACRO timeline_lanes_v1(
    run VARCHAR := NULL, worker VARCHAR := NULL, span VARCHAR := NULL
) AS TABLE
    WITH
    lanes AS MATERIALIZED (
        SELECT
            e.run,
            e.worker,
            e.span,
            e.lane,
            e.kind,
            e.pid,
            e.tid,
            max(e.depth) + 1 AS depths,
            count(*) AS events,
            count(*) FILTER (WHERE e.category = 'cpu_op') AS operators,
            -- On an operator that is not of the backward pass, the number is 0.
            count(*) FILTER (WHERE e.forward_thread_id > 0) AS backwards,
            sum(e.end_ns - e.start_ns) FILTER (WHERE e.depth = 0) AS busy_ns,
            min(e.start_ns) AS start_ns,
            max(e.end_ns) AS end_ns
        FROM timeline_events(run, worker, span) AS e
        GROUP BY e.run, e.worker, e.span, e.lane, e.kind, e.pid, e.tid
    ),

    step_threads AS (
        SELECT
            h.run,
            h.worker,
            h.span,
            h.pid,
            h.tid,
            count(*) AS steps
        FROM steps AS s
        INNER JOIN host_events AS h
            ON
                s.run = h.run AND s.worker = h.worker AND s.span = h.span
                AND s.event_id = h.event_id
        WHERE
            is_wanted(s.run, s.worker, s.span, run, worker, span)
            AND is_wanted(h.run, h.worker, h.span, run, worker, span)
        GROUP BY h.run, h.worker, h.span, h.pid, h.tid
    ),

    threads AS (
        SELECT
            t.*,
            row_number() OVER (
                PARTITION BY t.run, t.worker, t.span
                ORDER BY
                    coalesce(s.steps, 0) DESC, t.operators DESC, t.busy_ns DESC,
                    t.start_ns ASC, t.lane ASC
            ) AS importance
        FROM lanes AS t
        LEFT JOIN step_threads AS s
            ON
                t.run = s.run AND t.worker = s.worker AND t.span = s.span
                AND t.pid = s.pid AND t.tid = s.tid
        WHERE t.kind = 'thread'
    ),

    roles AS (
        SELECT
            t.run,
            t.worker,
            t.span,
            t.lane,
            t.importance,
            CASE
                WHEN t.importance = 1 THEN 'main' WHEN t.backwards > 0 THEN 'backward'
            END AS role
        FROM threads AS t
    ),

    labels AS (
        SELECT
            p.run,
            p.worker,
            p.span,
            p.pid,
            min(coalesce(nullif(p.process_labels, ''), p.process_name)) AS process
        FROM processes AS p
        WHERE is_wanted(p.run, p.worker, p.span, run, worker, span)
        GROUP BY p.run, p.worker, p.span, p.pid
    ),

    names AS (
        SELECT
            p.run,
            p.worker,
            p.span,
            p.pid,
            p.tid,
            min(p.thread_name) AS name
        FROM processes AS p
        WHERE is_wanted(p.run, p.worker, p.span, run, worker, span)
        GROUP BY p.run, p.worker, p.span, p.pid, p.tid
    )

    SELECT
        p.run,
        p.worker,
        p.span,
        p.position,
        p.lane,
        p.kind,
        p.role,
        p.pid,
        p.tid,
        b.process,
        n.name,
        p.depths,
        p.events,
        p.operators,
        p.start_ns,
        p.end_ns
    FROM (
        SELECT
            l.*,
            r.role,
            row_number() OVER (
                PARTITION BY l.run, l.worker, l.span
                ORDER BY
                    l.kind <> 'steps', l.kind <> 'thread',
                    r.role IS DISTINCT FROM 'main', r.role IS DISTINCT FROM 'backward',
                    coalesce(l.operators, 0) = 0, r.importance,
                    try_cast(l.pid AS BIGINT), l.pid, try_cast(l.tid AS BIGINT), l.tid, l.kind
            ) AS position
        FROM lanes AS l
        LEFT JOIN roles AS r
            ON l.run = r.run AND l.worker = r.worker AND l.span = r.span AND l.lane = r.lane
    ) AS p
    LEFT JOIN labels AS b
        ON p.run = b.run AND p.worker = b.worker AND p.span = b.span AND p.pid = b.pid
    LEFT JOIN names AS n
        ON
            p.run = n.run AND p.worker = n.worker AND p.span = n.span
            AND p.pid = n.pid AND p.tid = n.tid
    ORDER BY p.run, p.worker, p.span, p.position;
