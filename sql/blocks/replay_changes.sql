-- block: replay_changes
-- since: 0.1
-- summary: How much shorter work and the time before instants of threads are, if something takes longer or shorter.
-- grain: one row per scenario, and work or instant that changes
-- uses: replay_covered
--
-- Work takes its duration times the factor. On a thread, the time from one instant to the next changes by
-- the share of it that the given intervals cover; the rest is kept.
--
-- params
--   name       type     unit  default  meaning
--   graph      VARCHAR  -     -        Name of a relation, as of replay_graph.
--   work       VARCHAR  -     -        Name of a relation with scenario, id (numbered as in trace_names) and factor: work that changes.
--   intervals  VARCHAR  -     -        Name of a relation with scenario, lane, start_ns, end_ns and factor: time of threads that changes; the factor of a scenario is the same in all rows.
--   loads      VARCHAR  -     -        Name of a relation with scenario: those whose intervals are data loading.
-- columns
--   name        type    unit  meaning
--   scenario    BIGINT  key   As given.
--   place       BIGINT  key   The node in the graph.
--   saved_ns    BIGINT  ns    By how much its duration, or the time before it, is shorter.
--   loading_ns  BIGINT  ns    What is left of data loading in that time.
CREATE MACRO replay_changes(
    graph VARCHAR, work VARCHAR, intervals VARCHAR, loads VARCHAR
) AS TABLE
    WITH
    _factors AS (
        SELECT i.scenario, any_value(i.factor) AS factor, l.scenario IS NOT NULL AS loads
        FROM query_table(intervals) AS i
        LEFT JOIN query_table(loads) AS l ON i.scenario = l.scenario
        GROUP BY i.scenario, l.scenario
    ),

    _times AS (
        SELECT
            c.scenario,
            c.place,
            g.own_ns,
            coalesce(g.loading_ns, 0) AS loading_ns,
            floor(
                c.covered_ns * (g.own_ns::DOUBLE / (g.at_ns - g.before_ns)) * (1 - f.factor) + 0.5
            )::BIGINT AS saved_ns,
            f.loads
        FROM replay_covered(graph, intervals) AS c
        INNER JOIN query_table(graph) AS g ON c.place = g.place
        INNER JOIN _factors AS f ON c.scenario = f.scenario
    )

    SELECT
        w.scenario,
        g.place,
        g.duration_ns - floor(g.duration_ns * w.factor + 0.5)::BIGINT AS saved_ns,
        NULL::BIGINT AS loading_ns
    FROM query_table(work) AS w
    INNER JOIN query_table(graph) AS g ON w.id * 8 = g.id AND g.lane < 0
    UNION ALL
    SELECT
        t.scenario,
        t.place,
        t.saved_ns,
        CASE
            WHEN t.loads THEN t.loading_ns - t.saved_ns
            ELSE least(t.loading_ns, t.own_ns - t.saved_ns)
        END AS loading_ns
    FROM _times AS t;
