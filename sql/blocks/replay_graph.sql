-- block: replay_graph
-- since: 0.1
-- summary: Graph of what each instant and each work of a trace waited for, with the lags between them.
-- grain: one row per node
-- uses: replay_covered, replay_edges, replay_lags, replay_nodes, replay_queues
--
-- Work and instants have a time T. With the lags of the recording, T is the latest of
--
-- - the time of the node before on its thread or stream, its duration, and own_ns;
-- - for work, the start of the call that launched it, and launch_ns;
-- - the end of each node that it waits for (replay_edges), and the lag;
--
-- and rest_ns more, which nothing explains. So T is the recorded time if nothing changes. A lag is the time
-- between as recorded, but at most the typical lag of its kind. On a thread own_ns is all of the time
-- between, unless the thread waited: Python and gaps are kept.
--
-- If work starts with more than 5 us that nothing explains, and work on another stream ended at most 30 us
-- before, it waited for that: an event between streams, which is rarely recorded.
--
-- params
--   name    type     unit  default  meaning
--   events  VARCHAR  -     -        Name of a relation, as of replay_events.
--   work    VARCHAR  -     -        Name of a relation, as of replay_work.
-- columns
--   name         type     unit  meaning
--   place        BIGINT   key   Number in the order of time, over all traces.
--   trace        BIGINT   -     Number of the trace, as in trace_names.
--   lane         BIGINT   -     Thread, or stream if below 0.
--   id           BIGINT   key   Number of the node, as in replay_nodes.
--   kind         VARCHAR  -     'compute', 'communication', 'memcpy' or 'memset'; NULL for an instant of a thread.
--   at_ns        BIGINT   ns    When it is or starts, from the start of its trace.
--   before_ns    BIGINT   ns    End of the node before on its lane; NULL for the first.
--   duration_ns  BIGINT   ns    Duration of the work; 0 for an instant.
--   own_ns       BIGINT   ns    Lag from the end of the node before on its lane; NULL for the first.
--   loading_ns   BIGINT   ns    Part of own_ns in which the thread loads data; NULL if there is none.
--   call_place   BIGINT   -     Start of the call that launched it; NULL where unknown.
--   launch_ns    BIGINT   ns    Lag from there.
--   sources      STRUCT(place BIGINT, lag_ns BIGINT)[]  -  Other nodes that it waits for; NULL if there are none.
--   rest_ns      BIGINT   ns    Time that nothing explains.
CREATE MACRO replay_graph(events VARCHAR, work VARCHAR) AS TABLE
    WITH
    _queues AS MATERIALIZED (FROM replay_queues(work)),

    _places AS MATERIALIZED (FROM replay_nodes(events, work, '_queues')),

    _known AS MATERIALIZED (FROM replay_edges(events, work, '_places', '_queues')),

    _lists AS (
        SELECT
            k.target_place,
            list({ 'place': k.source_place, 'lag_ns': k.lag_ns } ORDER BY k.source_place)
                AS sources,
            max(n.at_ns + n.duration_ns + k.lag_ns) AS reached_ns,
            min(k.own_ns) AS own_ns
        FROM _known AS k
        INNER JOIN _places AS n ON k.source_place = n.place
        GROUP BY k.target_place
    ),

    -- Sorted before the windows, not by them: then they need no memory.
    _in_order AS (
        SELECT n.*
        FROM _places AS n
        ORDER BY n.lane, n.place
    ),

    _followed AS (
        SELECT
            o.*,
            CASE
                WHEN lag(o.lane) OVER () = o.lane THEN lag(o.at_ns + o.duration_ns) OVER ()
            END AS before_ns
        FROM _in_order AS o
    ),

    _firsts AS (
        SELECT n.trace, min(n.at_ns) AS first_ns
        FROM _places AS n
        GROUP BY n.trace
    ),

    _linked AS (
        SELECT
            n.place,
            n.trace,
            n.lane,
            n.id,
            w.kind,
            n.at_ns,
            f.first_ns,
            n.duration_ns,
            n.before_ns,
            CASE WHEN n.lane < 0 THEN g.gap_ns ELSE l.own_ns END AS longest_ns,
            c.place AS call_place,
            c.at_ns AS call_ns,
            CASE
                WHEN c.at_ns IS NOT NULL THEN least(n.at_ns - c.at_ns, g.launch_ns)
            END AS launch_ns,
            l.sources,
            l.reached_ns
        FROM _followed AS n
        INNER JOIN _firsts AS f ON n.trace = f.trace
        LEFT JOIN query_table(work) AS w ON n.lane < 0 AND n.id = w.id * 8
        LEFT JOIN replay_lags(work) AS g ON n.trace = g.trace
        LEFT JOIN _places AS c ON w.call_id * 8 = c.id AND c.place < n.place
        LEFT JOIN _lists AS l ON n.place = l.target_place
    ),

    -- least and greatest leave out what is NULL.
    _explained AS MATERIALIZED (
        SELECT
            k.*,
            k.at_ns
            - coalesce(
                greatest(k.before_ns + k.own_ns, k.call_ns + k.launch_ns, k.reached_ns), k.first_ns
            ) AS rest_ns
        FROM (
            SELECT
                l.*,
                CASE
                    WHEN l.before_ns IS NOT NULL THEN least(l.at_ns - l.before_ns, l.longest_ns)
                END AS own_ns
            FROM _linked AS l
        ) AS k
    ),

    _loading AS (
        SELECT 0 AS scenario, e.lane, e.start_ns, e.end_ns
        FROM query_table(events) AS e
        WHERE e.is_loading
    ),

    _ends_in_order AS (
        SELECT x.trace, x.lane, x.id, x.place, x.at_ns, x.at_ns + x.duration_ns AS end_ns
        FROM _explained AS x
        WHERE x.lane < 0
        ORDER BY x.trace, x.at_ns + x.duration_ns, x.at_ns, x.id
    ),

    -- The end before, where it is on another stream.
    _changed AS (
        SELECT
            o.*,
            CASE
                WHEN lag(o.trace) OVER () = o.trace AND lag(o.lane) OVER () <> o.lane
                    THEN {
                        'trace': o.trace,
                        'place': lag(o.place) OVER (),
                        'end_ns': lag(o.end_ns) OVER ()
                    }
            END AS changed
        FROM _ends_in_order AS o
    ),

    -- The last ends of two streams: of the last one that ended, and of the last on any other.
    _ends AS (
        SELECT
            e.trace,
            e.end_ns,
            max((e.at_ns, e.id, e.lane))[3] AS lane,
            max((e.at_ns, e.id, e.place))[3] AS place,
            max((e.at_ns, e.id, e.other))[3] AS other
        FROM (
            SELECT
                c.*,
                last_value(c.changed IGNORE NULLS)
                    OVER (ROWS UNBOUNDED PRECEDING) AS other  -- noqa: PRS, CP02
            FROM _changed AS c
        ) AS e
        GROUP BY e.trace, e.end_ns
    ),

    _inferred AS (
        SELECT i.place, i.source
        FROM (
            SELECT
                x.place,
                x.at_ns,
                CASE
                    WHEN e.lane <> x.lane THEN { 'place': e.place, 'end_ns': e.end_ns }
                    WHEN e.other.trace = e.trace
                        THEN { 'place': e.other.place, 'end_ns': e.other.end_ns }
                END AS source
            FROM _explained AS x
            ASOF INNER JOIN _ends AS e ON x.trace = e.trace AND x.at_ns >= e.end_ns
            WHERE x.lane < 0 AND x.rest_ns > 5000
        ) AS i
        WHERE i.source.end_ns >= i.at_ns - 30000 AND i.source.place < i.place
    )

    SELECT
        x.place,
        x.trace,
        x.lane,
        x.id,
        x.kind,
        x.at_ns,
        x.before_ns,
        x.duration_ns,
        x.own_ns,
        floor(l.covered_ns * (x.own_ns::DOUBLE / (x.at_ns - x.before_ns)) + 0.5)::BIGINT
            AS loading_ns,
        x.call_place,
        x.launch_ns,
        CASE
            WHEN i.place IS NULL THEN x.sources
            ELSE list_append(
                coalesce(x.sources, []),
                { 'place': i.source.place, 'lag_ns': x.at_ns - i.source.end_ns }
            )
        END AS sources,
        CASE WHEN i.place IS NULL THEN x.rest_ns ELSE 0 END AS rest_ns
    FROM _explained AS x
    LEFT JOIN _inferred AS i ON x.place = i.place
    LEFT JOIN replay_covered('_explained', '_loading') AS l ON x.place = l.place;
