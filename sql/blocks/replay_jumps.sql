-- block: replay_jumps
-- since: 0.1
-- summary: The graph of a replay without the nodes between two jumps of a thread or stream, per scenario.
-- grain: one row per scenario, jump, and jump before it that it depends on
--
-- A jump is a node that waits for another node than the one before on its lane and the launch, or that such a
-- node waits for, or whose time is wanted, or the first or the last of its lane. Between two jumps a
-- thread takes the sum of its own times, and work on a stream the sum of its durations and lags. So a launch
-- between two jumps of a thread, of work between two jumps of a stream, is an edge between jumps; of all
-- such edges the longest counts.
--
-- params
--   name       type     unit  default  meaning
--   graph      VARCHAR  -     -        Name of a relation, as of replay_graph.
--   wanted     VARCHAR  -     -        Name of a relation with place: nodes whose time is wanted.
--   scenarios  VARCHAR  -     -        Name of a relation with scenario (a number) and keeps_rests: whether it keeps the time that nothing explains.
--   changes    VARCHAR  -     -        Name of a relation with scenario, place, saved_ns and loading_ns: by how much work is shorter, or the time before an instant of a thread, and what is left of data loading in that time.
-- columns
--   name              type     unit  meaning
--   scenario          BIGINT   key   As given.
--   trace             BIGINT   -     Number of the trace.
--   way               VARCHAR  key   'lane', 'launch' or 'wait'; 'start' where the jump depends on none.
--   source_place      BIGINT   key   Jump that it depends on; NULL where it depends on none.
--   target_place      BIGINT   key   The jump.
--   lane              BIGINT   -     Thread of the jump, or stream if below 0.
--   lag_ns            BIGINT   ns    From the end of the one to the end of the other; without a source, from the start of the trace. The next columns are parts of it.
--   loading_ns        BIGINT   ns    Data loading.
--   work_ns           BIGINT   ns    Kernels, copies and memsets other than collectives.
--   communication_ns  BIGINT   ns    Collectives.
--   rest_ns           BIGINT   ns    Time that nothing explains.
CREATE MACRO replay_jumps(
    graph VARCHAR, wanted VARCHAR, scenarios VARCHAR, changes VARCHAR
) AS TABLE
    WITH RECURSIVE
    _waits AS MATERIALIZED (
        SELECT g.place, s.source.place AS source_place, s.source.lag_ns
        FROM query_table(graph) AS g, unnest(g.sources) AS s (source)
        WHERE g.sources IS NOT NULL
    ),

    _marked AS (
        SELECT
            g.place,
            g.trace,
            g.lane,
            g.call_place,
            g.launch_ns,
            coalesce(g.own_ns, 0) AS own_ns,
            g.duration_ns,
            CASE WHEN g.kind = 'communication' THEN 0 ELSE g.duration_ns END AS work_ns,
            CASE WHEN g.kind = 'communication' THEN g.duration_ns ELSE 0 END AS communication_ns,
            coalesce(g.loading_ns, 0) AS loading_ns,
            g.rest_ns,
            g.sources IS NOT NULL OR g.own_ns IS NULL OR m.place IS NOT NULL AS is_jump
        FROM query_table(graph) AS g
        LEFT JOIN (
            SELECT w.source_place AS place
            FROM _waits AS w
            UNION
            SELECT t.place
            FROM query_table(wanted) AS t
            UNION
            SELECT max(l.place) AS place
            FROM query_table(graph) AS l
            GROUP BY l.lane
        ) AS m ON g.place = m.place
    ),

    -- Sorted before the window, not by it: then the window takes a tenth of the time. The sums continue from lane to
    -- lane, so only the difference between two nodes of one lane means something. A lane starts and ends with a jump.
    -- The jumps are numbered: jump is the number of the last one until the node.
    _in_order AS (
        SELECT m.*
        FROM _marked AS m
        ORDER BY m.lane, m.place
    ),

    _nodes AS MATERIALIZED (
        SELECT
            o.place,
            o.trace,
            o.lane,
            o.call_place,
            o.launch_ns,
            o.duration_ns,
            o.work_ns,
            o.communication_ns,
            o.loading_ns,
            o.rest_ns,
            o.is_jump,
            sum(CASE WHEN o.is_jump THEN 1 ELSE 0 END) OVER so_far::BIGINT AS jump,
            sum(o.own_ns + o.duration_ns + o.rest_ns) OVER so_far::BIGINT AS sum_ns,
            sum(o.loading_ns) OVER so_far::BIGINT AS loading_sum_ns,
            sum(o.work_ns) OVER so_far::BIGINT AS work_sum_ns,
            sum(o.communication_ns) OVER so_far::BIGINT AS communication_sum_ns,
            sum(o.rest_ns) OVER so_far::BIGINT AS rest_sum_ns
        FROM _in_order AS o
        WINDOW so_far AS (ROWS UNBOUNDED PRECEDING)  -- noqa: PRS, CP02
    ),

    _jump_nodes AS MATERIALIZED (
        SELECT
            n.*,
            CASE WHEN lag(n.lane) OVER () = n.lane THEN lag(n.place) OVER () END AS jump_before
        FROM _nodes AS n
        WHERE n.is_jump
    ),

    -- A stretch ends at a jump, and holds what follows the jump before. From the jump before the call, along the
    -- thread to the call, and from the work along its stream to the next jump.
    _launches AS MATERIALIZED (
        SELECT
            w.place,
            c.place AS call_place,
            s.place AS source_place,
            t.place AS target_place,
            w.launch_ns + c.sum_ns - w.sum_ns + w.duration_ns + w.rest_ns AS lag_ns,
            c.loading_sum_ns - w.loading_sum_ns AS loading_ns,
            c.work_sum_ns - w.work_sum_ns + w.work_ns AS work_ns,
            c.communication_sum_ns - w.communication_sum_ns + w.communication_ns
                AS communication_ns,
            c.rest_sum_ns - w.rest_sum_ns + w.rest_ns AS rest_ns
        FROM _nodes AS w
        INNER JOIN _nodes AS c ON w.call_place = c.place
        INNER JOIN _jump_nodes AS s ON c.jump = s.jump
        INNER JOIN _jump_nodes AS t ON w.jump + CASE WHEN w.is_jump THEN 0 ELSE 1 END = t.jump
    ),

    -- All scenarios at once would not fit into memory: some in each round, of about a million nodes together.
    _scenarios AS MATERIALIZED (
        SELECT
            s.scenario,
            s.keeps_rests,
            dense_rank() OVER (ORDER BY s.number * n.nodes // 1000000) AS round
        FROM (
            SELECT q.*, row_number() OVER (ORDER BY q.scenario) AS number
            FROM query_table(scenarios) AS q
        ) AS s
        CROSS JOIN (SELECT count(*) AS nodes FROM query_table(graph)) AS n
    ),

    _edges AS (
        SELECT
            0::BIGINT AS round,
            NULL::BIGINT AS scenario,
            NULL::BIGINT AS trace,
            NULL::VARCHAR AS way,
            NULL::BIGINT AS source_place,
            NULL::BIGINT AS target_place,
            NULL::BIGINT AS lane,
            NULL::BIGINT AS lag_ns,
            NULL::BIGINT AS loading_ns,
            NULL::BIGINT AS work_ns,
            NULL::BIGINT AS communication_ns,
            NULL::BIGINT AS rest_ns
        UNION ALL
        (
            WITH
            _round AS MATERIALIZED (
                SELECT s.scenario, s.keeps_rests, s.round
                FROM _scenarios AS s
                INNER JOIN (SELECT DISTINCT e.round + 1 AS round FROM _edges AS e) AS e
                    ON s.round = e.round
            ),

            -- By how much shorter the lane is until each node. On a thread, part_ns is data loading, on a
            -- stream collectives.
            _changed AS (
                SELECT
                    l.scenario,
                    n.place,
                    coalesce(c.saved_ns, 0) AS saved_ns,
                    CASE
                        WHEN n.lane > 0 THEN coalesce(n.loading_ns - c.loading_ns, 0)
                        WHEN n.communication_ns > 0 THEN coalesce(c.saved_ns, 0)
                        ELSE 0
                    END AS part_ns
                FROM (
                    SELECT DISTINCT d.scenario, m.lane
                    FROM query_table(changes) AS d
                    INNER JOIN _round AS r ON d.scenario = r.scenario
                    INNER JOIN _nodes AS m ON d.place = m.place
                ) AS l
                INNER JOIN _nodes AS n ON l.lane = n.lane
                LEFT JOIN query_table(changes) AS c
                    ON l.scenario = c.scenario AND n.place = c.place
                ORDER BY l.scenario, n.lane, n.place
            ),

            _saved AS MATERIALIZED (
                SELECT
                    c.scenario,
                    c.place,
                    c.saved_ns,
                    c.part_ns,
                    sum(c.saved_ns) OVER so_far::BIGINT AS sum_ns,
                    sum(c.part_ns) OVER so_far::BIGINT AS part_sum_ns
                FROM _changed AS c
                WINDOW so_far AS (ROWS UNBOUNDED PRECEDING)  -- noqa: PRS, CP02
            ),

            -- The jumps, with the sums of each scenario.
            _jumps AS MATERIALIZED (
                SELECT
                    s.round,
                    s.scenario,
                    n.trace,
                    n.place,
                    n.lane,
                    n.jump_before,
                    n.call_place,
                    n.sum_ns - coalesce(v.sum_ns, 0)
                    - CASE WHEN s.keeps_rests THEN 0 ELSE n.rest_sum_ns END
                        AS sum_ns,
                    n.loading_sum_ns
                    - CASE WHEN n.lane > 0 THEN coalesce(v.part_sum_ns, 0) ELSE 0 END
                        AS loading_sum_ns,
                    n.work_sum_ns
                    - CASE WHEN n.lane < 0 THEN coalesce(v.sum_ns - v.part_sum_ns, 0) ELSE 0 END
                        AS work_sum_ns,
                    n.communication_sum_ns
                    - CASE WHEN n.lane < 0 THEN coalesce(v.part_sum_ns, 0) ELSE 0 END
                        AS communication_sum_ns,
                    CASE WHEN s.keeps_rests THEN n.rest_sum_ns ELSE 0 END AS rest_sum_ns,
                    n.work_ns
                    - CASE WHEN n.lane < 0 THEN coalesce(v.saved_ns - v.part_ns, 0) ELSE 0 END
                        AS work_ns,
                    n.communication_ns - CASE WHEN n.lane < 0 THEN coalesce(v.part_ns, 0) ELSE 0 END
                        AS communication_ns,
                    CASE WHEN s.keeps_rests THEN n.rest_ns ELSE 0 END AS rest_ns
                FROM _jump_nodes AS n
                CROSS JOIN _round AS s
                LEFT JOIN _saved AS v ON s.scenario = v.scenario AND n.place = v.place
            ),

            -- The longest of those between two jumps.
            _longest AS (
                SELECT
                    s.scenario,
                    l.source_place,
                    l.target_place,
                    max((
                        l.lag_ns - coalesce(c.sum_ns, 0) + coalesce(w.sum_ns - w.saved_ns, 0)
                        - CASE WHEN s.keeps_rests THEN 0 ELSE l.rest_ns END,
                        l.loading_ns - coalesce(c.part_sum_ns, 0),
                        l.work_ns + coalesce(w.sum_ns - w.saved_ns - w.part_sum_ns + w.part_ns, 0),
                        l.communication_ns + coalesce(w.part_sum_ns - w.part_ns, 0),
                        CASE WHEN s.keeps_rests THEN l.rest_ns ELSE 0 END
                    )) AS longest
                FROM _launches AS l
                CROSS JOIN _round AS s
                LEFT JOIN _saved AS c ON s.scenario = c.scenario AND l.call_place = c.place
                LEFT JOIN _saved AS w ON s.scenario = w.scenario AND l.place = w.place
                GROUP BY s.scenario, l.source_place, l.target_place
            )

            -- Along the lane.
            SELECT
                j.round,
                j.scenario,
                j.trace,
                'lane' AS way,
                j.jump_before AS source_place,
                j.place AS target_place,
                j.lane,
                j.sum_ns - b.sum_ns AS lag_ns,
                j.loading_sum_ns - b.loading_sum_ns AS loading_ns,
                j.work_sum_ns - b.work_sum_ns AS work_ns,
                j.communication_sum_ns - b.communication_sum_ns AS communication_ns,
                j.rest_sum_ns - b.rest_sum_ns AS rest_ns
            FROM _jumps AS j
            INNER JOIN _jumps AS b ON j.scenario = b.scenario AND j.jump_before = b.place
            UNION ALL
            -- Launches.
            SELECT
                j.round,
                j.scenario,
                j.trace,
                'launch',
                l.source_place,
                j.place,
                j.lane,
                l.longest[1] + j.sum_ns - b.sum_ns,
                l.longest[2] + j.loading_sum_ns - b.loading_sum_ns,
                l.longest[3] + j.work_sum_ns - b.work_sum_ns,
                l.longest[4] + j.communication_sum_ns - b.communication_sum_ns,
                l.longest[5] + j.rest_sum_ns - b.rest_sum_ns
            FROM _longest AS l
            INNER JOIN _jumps AS j ON l.scenario = j.scenario AND l.target_place = j.place
            -- DuckDB would join all jumps of a scenario with each other, if this were an inner join.
            LEFT JOIN _jumps AS b ON l.scenario = b.scenario AND l.source_place = b.place
            UNION ALL
            -- Other waits; without any of the three, the start of the trace.
            SELECT
                j.round,
                j.scenario,
                j.trace,
                CASE WHEN w.place IS NULL THEN 'start' ELSE 'wait' END,
                w.source_place,
                j.place,
                j.lane,
                j.work_ns + j.communication_ns + j.rest_ns + coalesce(w.lag_ns, 0),
                0,
                j.work_ns,
                j.communication_ns,
                j.rest_ns
            FROM _jumps AS j
            LEFT JOIN _waits AS w ON j.place = w.place
            WHERE w.place IS NOT NULL OR (j.jump_before IS NULL AND j.call_place IS NULL)
        )
    )

    SELECT
        e.scenario,
        e.trace,
        e.way,
        e.source_place,
        e.target_place,
        e.lane,
        e.lag_ns,
        e.loading_ns,
        e.work_ns,
        e.communication_ns,
        e.rest_ns
    FROM _edges AS e
    WHERE e.round > 0;
