-- block: replay_nodes
-- since: 0.1
-- summary: What a replay gives a new time: work on streams, and those instants of threads that matter.
-- grain: one row per kernel, copy or memset, and per instant
-- uses: latest_before
--
-- Of a thread only these instants matter: the start of a call that launches work, the start and the end of
-- a call that waits and of a step, the end of a call that a full queue may block, the two ends of a
-- hand-over, and where the thread starts and ends. The number of a node is that of its event times 8, plus 0 for
-- the start, 1 for the end, 2 for the start of an outermost event that another thread handed over to, 3
-- for the end of an outermost event that hands over, and 4 for the end of the thread.
--
-- A hand-over is assumed where a thread had no event open, and an outermost event of another thread of
-- its process ended meanwhile: the last of these.
--
-- params
--   name    type     unit  default  meaning
--   events  VARCHAR  -     -        Name of a relation, as of replay_events.
--   work    VARCHAR  -     -        Name of a relation, as of replay_work.
--   queues  VARCHAR  -     -        Name of a relation, as of replay_queues.
-- columns
--   name         type    unit  meaning
--   place        BIGINT  key   Number in the order of time, over all traces.
--   trace        BIGINT  -     Number of the trace.
--   lane         BIGINT  -     Thread, or stream if below 0.
--   id           BIGINT  key   Number of the node.
--   at_ns        BIGINT  ns    When it is or starts.
--   duration_ns  BIGINT  ns    Duration of the work; 0 for an instant.
--   source_id    BIGINT  -     For the start of an event that was handed over to: the node that it waited for.
CREATE MACRO replay_nodes(events VARCHAR, work VARCHAR, queues VARCHAR) AS TABLE
    WITH
    -- Sorted before the windows, not by them: then they take a tenth of the time. Thread and end are one number, because
    -- the largest end so far must not be that of another thread.
    _in_order AS (
        SELECT e.trace, e.process, e.lane, e.id, e.start_ns, e.end_ns
        FROM query_table(events) AS e
        WHERE NOT e.is_step
        ORDER BY e.lane ASC, e.start_ns ASC, e.end_ns DESC, e.id ASC
    ),

    _reached AS (
        SELECT
            o.trace,
            o.process,
            o.lane,
            o.id,
            o.start_ns,
            max((o.lane::HUGEINT << 64) + o.end_ns)
                OVER (ROWS UNBOUNDED PRECEDING) AS reached,  -- noqa: PRS, CP02
            lag(o.lane) OVER () AS lane_before
        FROM _in_order AS o
    ),

    _after AS (
        SELECT
            r.trace,
            r.process,
            r.lane,
            r.id,
            r.start_ns,
            CASE
                WHEN r.lane_before = r.lane
                    THEN (lag(r.reached) OVER () - (r.lane::HUGEINT << 64))::BIGINT
            END AS before_ns
        FROM _reached AS r
    ),

    -- Outermost events, with the end of all that starts in them: the time before the next one of the thread.
    _outermost AS (
        SELECT a.*, lead(a.before_ns) OVER () AS end_ns
        FROM _after AS a
        WHERE a.before_ns IS NULL OR a.start_ns >= a.before_ns
    ),

    _tops AS MATERIALIZED (
        SELECT
            o.trace,
            o.process,
            o.lane,
            o.id,
            o.start_ns,
            o.before_ns,
            coalesce(o.end_ns, l.end_ns) AS end_ns
        FROM _outermost AS o
        INNER JOIN (
            SELECT e.lane, max(e.end_ns) AS end_ns
            FROM query_table(events) AS e
            WHERE NOT e.is_step
            GROUP BY e.lane
        ) AS l
            ON o.lane = l.lane
    ),

    -- The number of a thread counts before that of an event; lanes here are processes.
    _top_ends AS (
        SELECT t.process AS lane, t.end_ns AS at_ns, max((t.lane, t.id))[2] AS id
        FROM _tops AS t
        WHERE t.end_ns > t.start_ns
        GROUP BY t.process, t.end_ns
    ),

    _top_starts AS (
        SELECT t.process AS lane, t.start_ns AS at_ns, t.id
        FROM _tops AS t
    ),

    _handovers AS MATERIALIZED (
        SELECT t.id, e.latest_id AS source_id
        FROM _tops AS t
        INNER JOIN latest_before('_top_ends', '_top_starts') AS e ON t.id = e.id
        WHERE t.before_ns IS NULL OR e.latest_ns > t.before_ns
    ),

    _instants AS (
        SELECT w.trace, w.call_lane AS lane, w.call_id * 8 AS id, w.call_ns AS at_ns, 2 AS turn
        FROM query_table(work) AS w
        WHERE w.call_id IS NOT NULL
        UNION
        SELECT
            e.trace,
            e.lane,
            e.id * 8 + p.part,
            CASE WHEN p.part = 0 THEN e.start_ns ELSE e.end_ns END,
            p.part + 2
        FROM query_table(events) AS e
        CROSS JOIN (VALUES (0), (1)) AS p (part)
        WHERE e.waits_for IS NOT NULL
        UNION
        SELECT w.trace, w.call_lane, w.call_id * 8 + 1, w.call_end_ns, 3
        FROM query_table(work) AS w
        WHERE w.kind = 'memcpy' AND w.end_ns <= w.call_end_ns
        UNION
        SELECT q.trace, q.lane, q.call_id * 8 + 1, q.call_end_ns, 3
        FROM query_table(queues) AS q
        UNION ALL
        SELECT
            e.trace,
            e.lane,
            e.id * 8 + p.part,
            CASE WHEN p.part = 0 THEN e.start_ns ELSE e.end_ns END,
            1 - p.part
        FROM query_table(events) AS e
        CROSS JOIN (VALUES (0), (1)) AS p (part)
        WHERE e.is_step
        UNION ALL
        SELECT t.trace, t.lane, t.id * 8 + 2, t.start_ns, 1
        FROM _tops AS t
        WHERE t.before_ns IS NULL OR t.id IN (SELECT h.id FROM _handovers AS h)
        UNION ALL
        SELECT t.trace, t.lane, t.id * 8 + 3, t.end_ns, 0
        FROM _tops AS t
        WHERE t.id IN (SELECT h.source_id FROM _handovers AS h)
        UNION ALL
        SELECT t.trace, t.lane, max((t.end_ns, t.id))[2] * 8 + 4, max(t.end_ns), 4
        FROM _tops AS t
        GROUP BY t.trace, t.lane
    ),

    _nodes AS (
        SELECT i.trace, i.lane, i.id, i.at_ns, i.turn, 0 AS duration_ns
        FROM _instants AS i
        UNION ALL
        SELECT w.trace, w.lane, w.id * 8, w.start_ns, 5, w.end_ns - w.start_ns
        FROM query_table(work) AS w
    )

    SELECT
        row_number() OVER (ORDER BY n.trace, n.at_ns, n.turn, n.lane, n.id) AS place,
        n.trace,
        n.lane,
        n.id,
        n.at_ns,
        n.duration_ns,
        h.source_id * 8 + 3 AS source_id
    FROM _nodes AS n
    LEFT JOIN _handovers AS h ON n.id = h.id * 8 + 2;
