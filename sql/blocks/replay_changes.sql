-- block: replay_changes
-- since: 0.1
-- summary: How much shorter work and the time before instants of threads are, if something takes longer or shorter.
-- grain: one row per scenario, and work or instant that changes
-- uses: replay_covered
--
-- Work takes its duration times the factor. On a thread, the time from one instant to the next changes by
-- the share of it that the ranges of a change cover; the rest is kept. What several changes of a scenario
-- name takes the product of their factors. Data loading is shorter where the ranges cover it, whatever they name.
--
-- params
--   name     type     unit  default  meaning
--   graph    VARCHAR  -     -        Name of a relation, as of replay_graph.
--   targets  VARCHAR  -     -        Name of a relation, as of replay_targets.
--   factors  VARCHAR  -     -        Name of a relation with scenario, number and factor: one row per change of a scenario, up to 60 each.
-- columns
--   name        type    unit  meaning
--   scenario    BIGINT  key   As given.
--   place       BIGINT  key   The node in the graph.
--   saved_ns    BIGINT  ns    By how much its duration, or the time before it, is shorter.
--   loading_ns  BIGINT  ns    What is left of data loading in that time.
CREATE MACRO replay_changes(graph VARCHAR, targets VARCHAR, factors VARCHAR) AS TABLE
    WITH
    -- Scenarios with the same changes and other factors share the ranges.
    _scenarios AS (
        SELECT f.scenario, list(f.number ORDER BY f.number) AS numbers
        FROM query_table(factors) AS f
        GROUP BY f.scenario
    ),

    _positions AS MATERIALIZED (
        SELECT p.sets, p.position, p.numbers[p.position] AS number
        FROM (
            SELECT s.sets, s.numbers, unnest(range(1, len(s.numbers) + 1)) AS position
            FROM (
                SELECT d.numbers, row_number() OVER (ORDER BY d.numbers) AS sets
                FROM (SELECT DISTINCT s.numbers FROM _scenarios AS s) AS d
            ) AS s
        ) AS p
    ),

    _factors AS MATERIALIZED (
        SELECT f.scenario, f.factor, p.sets, p.position
        FROM query_table(factors) AS f
        INNER JOIN _scenarios AS s ON f.scenario = s.scenario
        INNER JOIN _positions AS p ON f.number = p.number
        INNER JOIN (
            SELECT q.sets, list(q.number ORDER BY q.number) AS numbers
            FROM _positions AS q
            GROUP BY q.sets
        ) AS n
            ON p.sets = n.sets AND s.numbers = n.numbers
    ),

    _bounds AS (
        SELECT p.sets, e.lane, e.at_ns, sum(e.sign * (1::BIGINT << p.position)) AS bits
        FROM (
            SELECT t.number, t.lane, t.start_ns AS at_ns, 1 AS sign
            FROM query_table(targets) AS t
            WHERE t.lane IS NOT NULL
            UNION ALL
            SELECT t.number, t.lane, t.end_ns, -1
            FROM query_table(targets) AS t
            WHERE t.lane IS NOT NULL
        ) AS e
        INNER JOIN (
            SELECT c.sets, c.position, c.number
            FROM _positions AS c
            UNION ALL
            SELECT DISTINCT c.sets, 0, 0
            FROM _positions AS c
        ) AS p
            ON e.number = p.number
        GROUP BY p.sets, e.lane, e.at_ns
        ORDER BY p.sets, e.lane, e.at_ns
    ),

    -- Each set of changes divides a thread into pieces; a bit tells which changes name the piece, and the first one whether
    -- the thread loads data. After the last piece of a thread no bit is left.
    _pieces AS MATERIALIZED (
        SELECT
            b.sets,
            b.lane,
            b.at_ns AS start_ns,
            lead(b.at_ns) OVER () AS end_ns,
            sum(b.bits) OVER (ROWS UNBOUNDED PRECEDING)::BIGINT AS bits  -- noqa: PRS, CP02
        FROM _bounds AS b
    ),

    _groups AS MATERIALIZED (
        SELECT d.sets, d.bits, row_number() OVER (ORDER BY d.sets, d.bits) AS scenario
        FROM (SELECT DISTINCT p.sets, p.bits FROM _pieces AS p WHERE p.bits > 1) AS d
    ),

    _covering AS (
        SELECT g.scenario, p.lane, p.start_ns, p.end_ns
        FROM _pieces AS p
        INNER JOIN _groups AS g ON p.sets = g.sets AND p.bits = g.bits
    ),

    _group_factors AS MATERIALIZED (
        SELECT
            g.scenario AS group_number,
            f.scenario,
            product(f.factor) AS factor,
            g.bits & 1 = 1 AS loads
        FROM _groups AS g
        INNER JOIN _factors AS f ON g.sets = f.sets AND (g.bits >> f.position) & 1 = 1
        GROUP BY g.scenario, g.bits, f.scenario
    ),

    -- Half nanoseconds are rounded up. What is added is more, so that the order in which fractions are added or
    -- multiplied does not decide.
    _times AS (
        SELECT
            f.scenario,
            g.place,
            g.own_ns,
            coalesce(g.loading_ns, 0) AS loading_ns,
            floor(
                sum(
                    c.covered_ns * (g.own_ns::DOUBLE / (g.at_ns - g.before_ns)) * (1 - f.factor)
                )
                + 0.5001
            )::BIGINT AS saved_ns,
            floor(
                coalesce(
                    sum(
                        c.covered_ns * (g.own_ns::DOUBLE / (g.at_ns - g.before_ns)) * (1 - f.factor)
                    ) FILTER (WHERE f.loads),
                    0
                )
                + 0.5001
            )::BIGINT AS loading_saved_ns
        FROM replay_covered(graph, '_covering') AS c
        INNER JOIN query_table(graph) AS g ON c.place = g.place
        INNER JOIN _group_factors AS f ON c.scenario = f.group_number
        GROUP BY f.scenario, g.place, g.own_ns, g.loading_ns
    )

    SELECT
        w.scenario,
        g.place,
        g.duration_ns - floor(g.duration_ns * w.factor + 0.5001)::BIGINT AS saved_ns,
        NULL::BIGINT AS loading_ns
    FROM (
        SELECT f.scenario, t.id, product(f.factor) AS factor
        FROM query_table(targets) AS t
        INNER JOIN query_table(factors) AS f ON t.number = f.number
        WHERE t.id IS NOT NULL
        GROUP BY f.scenario, t.id
    ) AS w
    INNER JOIN query_table(graph) AS g ON w.id * 8 = g.id AND g.lane < 0
    UNION ALL
    SELECT
        t.scenario,
        t.place,
        t.saved_ns,
        least(t.loading_ns - t.loading_saved_ns, t.own_ns - t.saved_ns) AS loading_ns
    FROM _times AS t;
