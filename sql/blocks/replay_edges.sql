-- block: replay_edges
-- since: 0.1
-- summary: What nodes of a replay wait for, apart from the node before on the lane and the launch.
-- grain: one row per edge
-- uses: latest_before
--
-- - A thread without an event waits for the outermost event of another thread that ended last meanwhile.
-- - A call that waits for a device waits for the work launched last on each of its streams before. Other
--   calls that wait do so for the last copy that their thread launched before, if it ended meanwhile, or
--   else for the work that ended last meanwhile. A copying call waits for its copy, if this ended before the
--   call.
-- - Work waits for the work on other streams that its stream waited for, as recorded. A collective of which nothing
--   is recorded waits for the last work that its thread launched on another stream before it, if that ended before
--   it started.
-- - A launch waits for work of its stream, if the queue of the stream can be full.
--
-- The lag of an edge is all of the time between where the node waited, and at most 2 us otherwise. A node
-- that waited keeps only a part of the time since the node before on its thread: nothing after a hand-over,
-- at most 3 us in a call that waited for work, and the median launch in a launch that was blocked.
--
-- params
--   name    type     unit  default  meaning
--   events  VARCHAR  -     -        Name of a relation, as of replay_events.
--   work    VARCHAR  -     -        Name of a relation, as of replay_work.
--   nodes   VARCHAR  -     -        Name of a relation, as of replay_nodes.
--   queues  VARCHAR  -     -        Name of a relation, as of replay_queues.
-- columns
--   name          type    unit  meaning
--   source_place  BIGINT  key   Node that it comes from.
--   target_place  BIGINT  key   Node that waits.
--   lag_ns        BIGINT  ns    From the end of the source to the target.
--   own_ns        BIGINT  ns    What the target keeps at most of the time since the node before; NULL keeps all.
CREATE MACRO replay_edges(
    events VARCHAR, work VARCHAR, nodes VARCHAR, queues VARCHAR
) AS TABLE
    WITH
    -- The last work of each call on each stream, and the last copy.
    _launches AS MATERIALIZED (
        SELECT
            w.lane,
            w.call_lane,
            w.call_ns,
            max((w.start_ns, w.id))[2] AS id,
            max((w.start_ns, w.id, w.end_ns))[3] AS end_ns
        FROM query_table(work) AS w
        WHERE w.call_id IS NOT NULL
        GROUP BY w.lane, w.call_lane, w.call_ns
    ),

    -- Lanes here are a thread and a stream in one number.
    _pairs AS (
        SELECT l.call_lane::BIGINT * (1::BIGINT << 32) - l.lane AS lane, l.call_ns AS at_ns, l.id
        FROM _launches AS l
    ),

    _asked_pairs AS (
        SELECT
            w.call_lane::BIGINT * (1::BIGINT << 32) - s.lane AS lane,
            w.call_ns - 1 AS at_ns,
            w.id
        FROM query_table(work) AS w
        INNER JOIN (SELECT DISTINCT l.call_lane, l.lane FROM _launches AS l) AS s
            ON w.call_lane = s.call_lane AND w.lane <> s.lane
        WHERE w.kind = 'communication' AND w.sources IS NULL
    ),

    _collectives AS (
        SELECT
            p.id,
            max(CASE WHEN l.end_ns <= w.start_ns THEN (p.latest_ns, p.latest_id) END)[2]
                AS source_id
        FROM latest_before('_pairs', '_asked_pairs') AS p
        INNER JOIN query_table(work) AS w ON p.id = w.id
        INNER JOIN query_table(work) AS l ON p.latest_id = l.id
        GROUP BY p.id
    ),

    _streams AS (
        SELECT l.lane, l.call_ns AS at_ns, l.id
        FROM _launches AS l
    ),

    _asked_streams AS (
        SELECT s.lane, e.start_ns - 1 AS at_ns, e.id
        FROM query_table(events) AS e
        INNER JOIN (SELECT DISTINCT w.trace, w.lane FROM query_table(work) AS w) AS s
            ON e.trace = s.trace
        WHERE e.waits_for = 'device'
    ),

    _device_waits AS (
        SELECT
            e.id,
            e.start_ns,
            s.latest_id AS source_id,
            CASE WHEN w.end_ns <= e.end_ns THEN w.end_ns END AS done_ns
        FROM latest_before('_streams', '_asked_streams') AS s
        INNER JOIN query_table(events) AS e ON s.id = e.id
        INNER JOIN query_table(work) AS w ON s.latest_id = w.id
    ),

    _thread_copies AS (
        SELECT w.call_lane AS lane, w.call_ns AS at_ns, w.id
        FROM query_table(work) AS w
        WHERE w.kind = 'memcpy' AND w.call_id IS NOT NULL
    ),

    _asked_threads AS (
        SELECT e.lane, e.start_ns - 1 AS at_ns, e.id
        FROM query_table(events) AS e
        WHERE e.waits_for = 'stream'
    ),

    -- Lanes here are traces.
    _ends AS (
        SELECT w.trace AS lane, w.end_ns AS at_ns, w.id
        FROM query_table(work) AS w
    ),

    _asked_ends AS (
        SELECT e.trace AS lane, e.end_ns AS at_ns, e.id
        FROM query_table(events) AS e
        WHERE e.waits_for = 'stream'
    ),

    -- The last copy of the thread, unless it ended before the call, and something else meanwhile.
    _stream_waits AS (
        SELECT
            c.id,
            c.start_ns,
            CASE WHEN c.is_copy THEN c.copy_id ELSE c.last_id END AS source_id,
            CASE
                WHEN CASE WHEN c.is_copy THEN c.copied_ns ELSE c.last_ns END <= c.end_ns
                    THEN CASE WHEN c.is_copy THEN c.copied_ns ELSE c.last_ns END
            END AS done_ns
        FROM (
            SELECT
                e.id,
                e.start_ns,
                e.end_ns,
                w.id AS copy_id,
                w.end_ns AS copied_ns,
                l.latest_id AS last_id,
                l.latest_ns AS last_ns,
                coalesce(w.end_ns > e.start_ns AND w.end_ns <= e.end_ns, FALSE)
                OR coalesce(l.latest_ns <= e.start_ns, TRUE) AS is_copy
            FROM query_table(events) AS e
            LEFT JOIN latest_before('_thread_copies', '_asked_threads') AS t ON e.id = t.id
            LEFT JOIN query_table(work) AS w ON t.latest_id = w.id
            LEFT JOIN latest_before('_ends', '_asked_ends') AS l ON e.id = l.id
            WHERE e.waits_for = 'stream'
        ) AS c
    ),

    _copies AS (
        SELECT
            w.call_id AS id,
            w.call_ns AS start_ns,
            max((w.end_ns, w.id))[2] AS source_id,
            max(w.end_ns) AS done_ns
        FROM query_table(work) AS w
        WHERE w.kind = 'memcpy' AND w.end_ns <= w.call_end_ns
        GROUP BY w.call_id, w.call_ns
    ),

    _waits AS (
        SELECT
            c.id,
            c.source_id,
            c.done_ns > c.start_ns
            AND row_number() OVER (
                PARTITION BY c.id ORDER BY c.done_ns DESC, c.source_id DESC
            ) = 1 AS has_waited
        FROM (
            SELECT d.id, d.start_ns, d.source_id, d.done_ns
            FROM _device_waits AS d
            UNION ALL
            SELECT s.id, s.start_ns, s.source_id, s.done_ns
            FROM _stream_waits AS s
            UNION ALL
            SELECT p.id, p.start_ns, p.source_id, p.done_ns
            FROM _copies AS p
        ) AS c
        WHERE c.done_ns IS NOT NULL
    ),

    -- The longest lag, and what the target keeps at most of its own time; NULL keeps all.
    _edges AS (
        SELECT n.source_id, n.id AS target_id, NULL AS lag_ns, 0 AS own_ns
        FROM query_table(nodes) AS n
        WHERE n.source_id IS NOT NULL
        UNION ALL
        SELECT c.source_id * 8, c.id * 8, 2000, NULL
        FROM _collectives AS c
        UNION ALL
        SELECT s.source_id * 8, w.id * 8, 2000, NULL
        FROM query_table(work) AS w, unnest(w.sources) AS s (source_id)
        UNION ALL
        SELECT
            w.source_id * 8,
            w.id * 8 + 1,
            CASE WHEN w.has_waited THEN NULL ELSE 2000 END,
            CASE WHEN w.has_waited THEN 3000 END
        FROM _waits AS w
        UNION ALL
        SELECT
            q.source_id * 8,
            q.call_id * 8 + 1,
            CASE WHEN q.was_blocked THEN NULL ELSE 2000 END,
            CASE WHEN q.was_blocked THEN q.launch_ns END
        FROM query_table(queues) AS q
    )

    -- Clocks may differ: an edge that would go back in time is left out. Here and above, a condition on two
    -- times in WHERE would become one of the join, and DuckDB would compare all pairs of rows.
    SELECT l.source_place, l.target_place, l.lag_ns, l.own_ns
    FROM (
        SELECT
            s.place AS source_place,
            t.place AS target_place,
            CASE
                WHEN s.place < t.place AND s.at_ns + s.duration_ns <= t.at_ns
                    THEN least(t.at_ns - s.at_ns - s.duration_ns, e.lag_ns)
            END AS lag_ns,
            e.own_ns
        FROM _edges AS e
        INNER JOIN query_table(nodes) AS s ON e.source_id = s.id
        INNER JOIN query_table(nodes) AS t ON e.target_id = t.id
    ) AS l
    WHERE l.lag_ns IS NOT NULL;
