-- block: replay_times
-- since: 0.1
-- summary: New times of a replay: the longest path to each jump.
-- grain: one row per scenario and jump
-- uses: longest_paths
--
-- What a jump depends on has its new time already, because the jumps are in order. They are in about as many blocks as a
-- block has jumps, as longest_paths needs them.
--
-- A time is five numbers, in order. Of two that end at the same time the one with more data loading is the later one,
-- and so on. One number is found at a time: first the end, and then each part along those edges that are the latest by
-- the numbers before it.
--
-- params
--   name   type     unit  default  meaning
--   jumps  VARCHAR  -     -        Name of a relation, as of replay_jumps.
-- columns
--   name              type    unit  meaning
--   scenario          BIGINT  key   As given.
--   place             BIGINT  key   The jump.
--   end_ns            BIGINT  ns    Its new time, or the new end of the work, from the start of the trace. The next columns are parts of it.
--   loading_ns        BIGINT  ns    Data loading.
--   work_ns           BIGINT  ns    Kernels, copies and memsets other than collectives.
--   communication_ns  BIGINT  ns    Collectives.
--   rest_ns           BIGINT  ns    Time that nothing explains.
CREATE MACRO replay_times(jumps VARCHAR) AS TABLE
    WITH
    -- The start of the trace is number 1.
    _places AS MATERIALIZED (
        SELECT
            n.trace,
            n.place,
            (n.number + 1)::INTEGER AS number,
            (n.number - 1) // n.size AS block
        FROM (
            SELECT
                p.trace,
                p.place,
                row_number() OVER (PARTITION BY p.trace ORDER BY p.place) AS number,
                ceil(sqrt(count(*) OVER (PARTITION BY p.trace)))::BIGINT AS size
            FROM (
                SELECT DISTINCT j.trace, j.target_place AS place FROM query_table(jumps) AS j
            ) AS p
        ) AS n
    ),

    _edges AS (
        SELECT
            j.scenario,
            t.trace,
            t.block,
            list(
                {
                    'target': t.number,
                    'source': coalesce(s.number, 1),
                    'lag_ns': j.lag_ns,
                    'loading_ns': j.loading_ns,
                    'work_ns': j.work_ns,
                    'communication_ns': j.communication_ns,
                    'rest_ns': j.rest_ns
                }
                ORDER BY t.number
            ) AS edges
        FROM query_table(jumps) AS j
        INNER JOIN _places AS t ON j.target_place = t.place
        LEFT JOIN _places AS s ON j.source_place = s.place
        GROUP BY j.scenario, t.trace, t.block
    ),

    _blocks AS (
        SELECT e.scenario, e.trace, list(e.edges ORDER BY e.block) AS blocks
        FROM _edges AS e
        GROUP BY e.scenario, e.trace
    ),

    _ends AS (
        SELECT
            b.*,
            longest_paths(
                list_transform(b.blocks, LAMBDA edges: flatten(list_transform(
                    edges,
                    LAMBDA e: [e.target, e.source, e.lag_ns]
                )))
            ) AS ends
        FROM _blocks AS b
    ),

    _loadings AS (
        SELECT
            b.*,
            longest_paths(
                list_transform(b.blocks, LAMBDA edges: flatten(list_transform(
                    list_filter(
                        edges,
                        LAMBDA e: b.ends[e.source] + e.lag_ns = b.ends[e.target]
                    ),
                    LAMBDA e: [e.target, e.source, e.loading_ns]
                )))
            ) AS loadings
        FROM _ends AS b
    ),

    _works AS (
        SELECT
            b.*,
            longest_paths(
                list_transform(b.blocks, LAMBDA edges: flatten(list_transform(
                    list_filter(
                        edges,
                        LAMBDA e: b.ends[e.source] + e.lag_ns = b.ends[e.target]
                        AND b.loadings[e.source] + e.loading_ns = b.loadings[e.target]
                    ),
                    LAMBDA e: [e.target, e.source, e.work_ns]
                )))
            ) AS works
        FROM _loadings AS b
    ),

    _communications AS (
        SELECT
            b.*,
            longest_paths(
                list_transform(b.blocks, LAMBDA edges: flatten(list_transform(
                    list_filter(
                        edges,
                        LAMBDA e: b.ends[e.source] + e.lag_ns = b.ends[e.target]
                        AND b.loadings[e.source] + e.loading_ns = b.loadings[e.target]
                        AND b.works[e.source] + e.work_ns = b.works[e.target]
                    ),
                    LAMBDA e: [e.target, e.source, e.communication_ns]
                )))
            ) AS communications
        FROM _works AS b
    ),

    _rests AS (
        SELECT
            b.*,
            longest_paths(
                list_transform(b.blocks, LAMBDA edges: flatten(list_transform(
                    list_filter(
                        edges,
                        LAMBDA e: b.ends[e.source] + e.lag_ns = b.ends[e.target]
                        AND b.loadings[e.source] + e.loading_ns = b.loadings[e.target]
                        AND b.works[e.source] + e.work_ns = b.works[e.target]
                        AND b.communications[e.source] + e.communication_ns
                        = b.communications[e.target]
                    ),
                    LAMBDA e: [e.target, e.source, e.rest_ns]
                )))
            ) AS rests
        FROM _communications AS b
    ),

    _times AS (
        SELECT
            b.scenario,
            b.trace,
            unnest(range(1, len(b.ends) + 1)) AS number,
            unnest(b.ends) AS end_ns,
            unnest(b.loadings) AS loading_ns,
            unnest(b.works) AS work_ns,
            unnest(b.communications) AS communication_ns,
            unnest(b.rests) AS rest_ns
        FROM _rests AS b
    )

    SELECT
        t.scenario,
        p.place,
        t.end_ns,
        t.loading_ns,
        t.work_ns,
        t.communication_ns,
        t.rest_ns
    FROM _times AS t
    INNER JOIN _places AS p ON t.trace = p.trace AND t.number = p.number;
