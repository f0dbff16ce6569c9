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
    WITH
    _waits AS MATERIALIZED (
        SELECT g.place, s.source.place AS source_place, s.source.lag_ns
        FROM query_table(graph) AS g, unnest(g.sources) AS s (source)
        WHERE g.sources IS NOT NULL
    ),

    _marked AS (
        SELECT
            g.*,
            g.sources IS NOT NULL
            OR m.place IS NOT NULL
            OR g.own_ns IS NULL
            OR lead(g.place) OVER (PARTITION BY g.lane ORDER BY g.place) IS NULL AS is_jump
        FROM query_table(graph) AS g
        LEFT JOIN (
            SELECT w.source_place AS place
            FROM _waits AS w
            UNION
            SELECT t.place
            FROM query_table(wanted) AS t
        ) AS m ON g.place = m.place
    ),

    -- A stretch ends at a jump, and holds what follows the jump before.
    _nodes AS MATERIALIZED (
        SELECT
            m.*,
            min(CASE WHEN m.is_jump THEN m.place END) OVER (
                PARTITION BY m.lane ORDER BY m.place
                ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING
            ) AS jump,
            max(CASE WHEN m.is_jump THEN m.place END) OVER (
                PARTITION BY m.lane ORDER BY m.place
                ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
            ) AS jump_before
        FROM _marked AS m
    ),

    _lengths AS (
        SELECT
            s.scenario,
            n.trace,
            n.place,
            n.lane,
            n.call_place,
            n.launch_ns,
            n.is_jump,
            n.jump,
            n.jump_before,
            coalesce(n.own_ns, 0) - CASE WHEN n.lane < 0 THEN 0 ELSE coalesce(c.saved_ns, 0) END
                AS own_ns,
            n.duration_ns - CASE WHEN n.lane < 0 THEN coalesce(c.saved_ns, 0) ELSE 0 END
                AS duration_ns,
            coalesce(c.loading_ns, n.loading_ns, 0) AS loading_ns,
            coalesce(n.kind = 'communication', FALSE) AS communicates,
            CASE WHEN s.keeps_rests THEN n.rest_ns ELSE 0 END AS rest_ns
        FROM _nodes AS n
        CROSS JOIN query_table(scenarios) AS s
        LEFT JOIN query_table(changes) AS c ON s.scenario = c.scenario AND n.place = c.place
    ),

    -- From the start of the stretch to a node of a thread; from work to the end of the stretch on a stream.
    _sums AS MATERIALIZED (
        SELECT
            l.scenario,
            l.trace,
            l.place,
            l.lane,
            l.call_place,
            l.launch_ns,
            l.is_jump,
            l.jump,
            l.jump_before,
            l.own_ns,
            l.duration_ns,
            l.loading_ns,
            l.communicates,
            l.rest_ns,
            sum(l.own_ns + l.duration_ns + l.rest_ns) OVER stretch AS sum_ns,
            sum(l.loading_ns) OVER stretch AS loading_sum_ns,
            sum(CASE WHEN l.communicates THEN 0 ELSE l.duration_ns END) OVER stretch AS work_sum_ns,
            sum(CASE WHEN l.communicates THEN l.duration_ns ELSE 0 END) OVER stretch
                AS communication_sum_ns,
            sum(l.rest_ns) OVER stretch AS rest_sum_ns
        FROM _lengths AS l
        WINDOW
            stretch AS (
                PARTITION BY l.scenario, l.jump
                ORDER BY CASE WHEN l.lane < 0 THEN -l.place ELSE l.place END
                ROWS UNBOUNDED PRECEDING
            )
    ),

    _edges AS (
        -- Along the lane.
        SELECT
            s.scenario,
            s.trace,
            'lane' AS way,
            s.jump_before AS source_place,
            s.jump AS target_place,
            s.lane,
            sum(s.own_ns + s.duration_ns + s.rest_ns) AS lag_ns,
            sum(s.loading_ns) AS loading_ns,
            sum(CASE WHEN s.communicates THEN 0 ELSE s.duration_ns END) AS work_ns,
            sum(CASE WHEN s.communicates THEN s.duration_ns ELSE 0 END) AS communication_ns,
            sum(s.rest_ns) AS rest_ns
        FROM _sums AS s
        WHERE s.jump_before IS NOT NULL
        GROUP BY s.scenario, s.trace, s.jump_before, s.jump, s.lane
        UNION ALL
        -- Launches.
        SELECT
            w.scenario,
            w.trace,
            'launch',
            CASE WHEN c.is_jump THEN c.place ELSE c.jump_before END,
            w.jump,
            w.lane,
            w.sum_ns - w.own_ns + w.launch_ns + CASE WHEN c.is_jump THEN 0 ELSE c.sum_ns END,
            w.loading_sum_ns + CASE WHEN c.is_jump THEN 0 ELSE c.loading_sum_ns END,
            w.work_sum_ns + CASE WHEN c.is_jump THEN 0 ELSE c.work_sum_ns END,
            w.communication_sum_ns + CASE WHEN c.is_jump THEN 0 ELSE c.communication_sum_ns END,
            w.rest_sum_ns + CASE WHEN c.is_jump THEN 0 ELSE c.rest_sum_ns END
        FROM _sums AS w
        INNER JOIN _sums AS c ON w.scenario = c.scenario AND w.call_place = c.place
        UNION ALL
        -- Other waits; without any of the three, the start of the trace.
        SELECT
            s.scenario,
            s.trace,
            CASE WHEN w.place IS NULL THEN 'start' ELSE 'wait' END,
            w.source_place,
            s.place,
            s.lane,
            s.duration_ns + s.rest_ns + coalesce(w.lag_ns, 0),
            0,
            CASE WHEN s.communicates THEN 0 ELSE s.duration_ns END,
            CASE WHEN s.communicates THEN s.duration_ns ELSE 0 END,
            s.rest_ns
        FROM _sums AS s
        LEFT JOIN _waits AS w ON s.place = w.place
        WHERE w.place IS NOT NULL OR (s.is_jump AND s.jump_before IS NULL AND s.call_place IS NULL)
    )

    SELECT
        e.scenario,
        e.trace,
        e.way,
        e.source_place,
        e.target_place,
        e.lane,
        e.longest[1]::BIGINT AS lag_ns,
        e.longest[2]::BIGINT AS loading_ns,
        e.longest[3]::BIGINT AS work_ns,
        e.longest[4]::BIGINT AS communication_ns,
        e.longest[5]::BIGINT AS rest_ns
    FROM (
        SELECT
            e.scenario,
            e.trace,
            e.way,
            e.source_place,
            e.target_place,
            e.lane,
            max((e.lag_ns, e.loading_ns, e.work_ns, e.communication_ns, e.rest_ns)) AS longest
        FROM _edges AS e
        GROUP BY e.scenario, e.trace, e.way, e.source_place, e.target_place, e.lane
    ) AS e;
