-- block: replay_times
-- since: 0.1
-- summary: New times of a replay: the longest way to each jump.
-- grain: one row per scenario and jump
--
-- There are two ways. Traces whose lanes run long without each other are solved in parts, all others in order.
--
-- In parts: in each round every thread and stream continues until the first jump that depends on one which another lane
-- has not reached in an earlier round. So the jumps of a part depend only on earlier parts and on what comes
-- before on their lane, and a running maximum along the lane gives their times. Then each round takes the
-- parts of the same number, and sends times on to later ones. There are as many rounds as a chain of waits changes
-- lanes: few in a loop that never waits for the device, also if its queue is full; two for each wait otherwise. A trace
-- is left to the other way once a round reaches fewer than 50 jumps on average.
--
-- In order: what a jump depends on has its new time already. The times of a trace are one list, which grows by the
-- latest of what the next jump depends on. To add one time copies a list, so the jumps are in blocks, and a trace
-- has about as many blocks as a block has jumps: the list of a block grows by its jumps, and then that of
-- the trace by the block.
--
-- A time is five numbers, in order. The later one of two is the greater list or row: of two that end at the same time,
-- the one with more data loading, and so on.
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
    WITH RECURSIVE
    _points AS MATERIALIZED (
        SELECT DISTINCT j.trace, j.lane, j.target_place AS place
        FROM query_table(jumps) AS j
    ),

    _links AS MATERIALIZED (
        SELECT DISTINCT j.source_place, s.lane AS source_lane, j.target_place, j.lane
        FROM query_table(jumps) AS j
        INNER JOIN _points AS s ON j.source_place = s.place
        WHERE j.way <> 'lane'
    ),

    -- For each jump and another lane: the first jump there that depends on this one or on a later one of its lane.
    _limits AS MATERIALIZED (
        SELECT l.place, l.lane, l.limit_place
        FROM (
            SELECT
                k.place,
                k.lane,
                k.target_place,
                min(k.target_place) OVER (
                    PARTITION BY k.source_lane, k.lane
                    ORDER BY k.place DESC, k.target_place ASC NULLS LAST
                    ROWS UNBOUNDED PRECEDING
                ) AS limit_place
            FROM (
                SELECT l.source_lane, l.source_place AS place, l.lane, l.target_place
                FROM _links AS l
                UNION ALL
                SELECT p.lane AS source_lane, p.place, o.lane, NULL AS target_place
                FROM _points AS p
                INNER JOIN (SELECT DISTINCT i.source_lane, i.lane FROM _links AS i) AS o
                    ON p.lane = o.source_lane
            ) AS k
        ) AS l
        WHERE l.target_place IS NULL AND l.limit_place IS NOT NULL
    ),

    -- Where each lane is at the start of a round.
    _fronts AS (
        SELECT p.trace, p.lane, min(p.place) AS place, 0 AS number, any_value(n.most) AS most
        FROM _points AS p
        INNER JOIN (
            SELECT o.trace, count(*) // 50 AS most
            FROM _points AS o
            GROUP BY o.trace
        ) AS n
            ON p.trace = n.trace
        GROUP BY p.trace, p.lane
        UNION ALL
        SELECT n.trace, n.lane, n.limit_place, n.number, n.most
        FROM (
            SELECT
                f.trace,
                f.lane,
                f.number + 1 AS number,
                f.most,
                min(l.limit_place) AS limit_place
            FROM _fronts AS f
            INNER JOIN (
                SELECT l.lane, l.limit_place
                FROM _fronts AS o
                INNER JOIN _limits AS l ON o.place = l.place
            ) AS l
                ON f.lane = l.lane
            WHERE f.number < f.most
            GROUP BY f.trace, f.lane, f.number, f.most
        ) AS n
    ),

    _in_parts AS MATERIALIZED (
        SELECT f.trace
        FROM _fronts AS f
        GROUP BY f.trace
        HAVING max(f.number) < max(f.most)
    ),

    _parts AS MATERIALIZED (
        SELECT f.lane, f.place, max(f.number) AS part
        FROM _fronts AS f
        INNER JOIN _in_parts AS i ON f.trace = i.trace
        GROUP BY f.lane, f.place
    ),

    -- The sum of the lags along each lane.
    _jumps AS MATERIALIZED (
        SELECT
            s.scenario,
            s.trace,
            s.place,
            s.lane,
            p.part,
            s.sum_ns,
            s.sum_loading_ns,
            s.sum_work_ns,
            s.sum_communication_ns,
            s.sum_rest_ns
        FROM (
            SELECT
                l.*,
                coalesce(sum(l.lag_ns) OVER of_lane, 0)::BIGINT AS sum_ns,
                coalesce(sum(l.loading_ns) OVER of_lane, 0)::BIGINT AS sum_loading_ns,
                coalesce(sum(l.work_ns) OVER of_lane, 0)::BIGINT AS sum_work_ns,
                coalesce(sum(l.communication_ns) OVER of_lane, 0)::BIGINT AS sum_communication_ns,
                coalesce(sum(l.rest_ns) OVER of_lane, 0)::BIGINT AS sum_rest_ns
            FROM (
                SELECT
                    j.scenario,
                    j.trace,
                    j.lane,
                    j.target_place AS place,
                    sum(j.lag_ns) FILTER (WHERE j.way = 'lane') AS lag_ns,
                    sum(j.loading_ns) FILTER (WHERE j.way = 'lane') AS loading_ns,
                    sum(j.work_ns) FILTER (WHERE j.way = 'lane') AS work_ns,
                    sum(j.communication_ns) FILTER (WHERE j.way = 'lane') AS communication_ns,
                    sum(j.rest_ns) FILTER (WHERE j.way = 'lane') AS rest_ns
                FROM query_table(jumps) AS j
                GROUP BY j.scenario, j.trace, j.lane, j.target_place
            ) AS l
            WINDOW
                of_lane AS (
                    PARTITION BY l.scenario, l.lane ORDER BY l.place ROWS UNBOUNDED PRECEDING
                )
        ) AS s
        ASOF INNER JOIN _parts AS p ON s.lane = p.lane AND s.place >= p.place
    ),

    _edges AS MATERIALIZED (
        SELECT j.*, t.part
        FROM query_table(jumps) AS j
        INNER JOIN _jumps AS t ON j.scenario = t.scenario AND j.target_place = t.place
        LEFT JOIN _jumps AS s ON j.scenario = s.scenario AND j.source_place = s.place
        WHERE s.part IS DISTINCT FROM t.part
    ),

    _times AS (
        SELECT
            e.scenario,
            e.trace,
            e.part,
            e.target_place AS place,
            FALSE AS is_done,
            max((e.lag_ns, e.loading_ns, e.work_ns, e.communication_ns, e.rest_ns)) AS time
        FROM _edges AS e
        WHERE e.way = 'start'
        GROUP BY e.scenario, e.trace, e.part, e.target_place
        UNION ALL
        (
            WITH
            _open AS (
                SELECT t.*, min(t.part) OVER (PARTITION BY t.trace) AS next_part
                FROM _times AS t
                WHERE NOT t.is_done
            ),

            _solved AS (
                SELECT
                    m.scenario,
                    m.trace,
                    m.part,
                    m.place,
                    m.sum_ns + m.time[1] AS end_ns,
                    m.sum_loading_ns + m.time[2] AS loading_ns,
                    m.sum_work_ns + m.time[3] AS work_ns,
                    m.sum_communication_ns + m.time[4] AS communication_ns,
                    m.sum_rest_ns + m.time[5] AS rest_ns
                FROM (
                    SELECT
                        j.*,
                        max((
                            o.time[1] - j.sum_ns,
                            o.time[2] - j.sum_loading_ns,
                            o.time[3] - j.sum_work_ns,
                            o.time[4] - j.sum_communication_ns,
                            o.time[5] - j.sum_rest_ns
                        )) FILTER (WHERE o.time IS NOT NULL) OVER (
                            PARTITION BY j.scenario, j.lane ORDER BY j.place
                            ROWS UNBOUNDED PRECEDING
                        ) AS time
                    FROM _jumps AS j
                    INNER JOIN (SELECT DISTINCT c.trace, c.next_part FROM _open AS c) AS p
                        ON j.trace = p.trace AND j.part = p.next_part
                    LEFT JOIN _open AS o ON j.scenario = o.scenario AND j.place = o.place
                ) AS m
            )

            SELECT
                n.scenario,
                n.trace,
                n.part,
                n.place,
                bool_or(n.is_done) AS is_done,
                max(n.time) AS time
            FROM (
                SELECT o.scenario, o.trace, o.part, o.place, FALSE AS is_done, o.time
                FROM _open AS o
                WHERE o.part <> o.next_part
                UNION ALL
                SELECT
                    s.scenario,
                    s.trace,
                    s.part,
                    s.place,
                    TRUE,
                    (s.end_ns, s.loading_ns, s.work_ns, s.communication_ns, s.rest_ns)
                FROM _solved AS s
                UNION ALL
                SELECT
                    e.scenario,
                    e.trace,
                    e.part,
                    e.target_place,
                    FALSE,
                    (
                        s.end_ns + e.lag_ns,
                        s.loading_ns + e.loading_ns,
                        s.work_ns + e.work_ns,
                        s.communication_ns + e.communication_ns,
                        s.rest_ns + e.rest_ns
                    )
                FROM _solved AS s
                INNER JOIN _edges AS e ON s.scenario = e.scenario AND s.place = e.source_place
            ) AS n
            GROUP BY n.scenario, n.trace, n.part, n.place
        )
    ),

    -- The first block is the start of the trace.
    _places AS MATERIALIZED (
        SELECT
            n.trace,
            n.place,
            (n.number - 1) // n.size + 2 AS block,
            (n.number - 1) % n.size + 1 AS position
        FROM (
            SELECT
                p.trace,
                p.place,
                row_number() OVER (PARTITION BY p.trace ORDER BY p.place) AS number,
                ceil(sqrt(count(*) OVER (PARTITION BY p.trace)))::BIGINT AS size
            FROM _points AS p
            ANTI JOIN _in_parts AS i ON p.trace = i.trace
        ) AS n
    ),

    -- Lists of one type throughout, as DuckDB 1.5 requires.
    _sources AS (
        SELECT
            j.scenario,
            t.trace,
            t.block,
            t.position,
            list([
                coalesce(s.block, 1),
                coalesce(s.position, 1),
                j.lag_ns,
                j.loading_ns,
                j.work_ns,
                j.communication_ns,
                j.rest_ns
            ]) AS sources
        FROM query_table(jumps) AS j
        INNER JOIN _places AS t ON j.target_place = t.place
        LEFT JOIN _places AS s ON j.source_place = s.place
        GROUP BY j.scenario, t.trace, t.block, t.position
    ),

    _traces AS (
        SELECT b.scenario, b.trace, list(b.jumps ORDER BY b.block) AS blocks
        FROM (
            SELECT j.scenario, j.trace, j.block, list(j.sources ORDER BY j.position) AS jumps
            FROM _sources AS j
            GROUP BY j.scenario, j.trace, j.block
        ) AS b
        GROUP BY b.scenario, b.trace
    ),

    -- A source in the block itself is in times, and not yet in known.
    _blocks AS (
        SELECT
            t.scenario,
            t.trace,
            -- The linter does not know lambdas with two parameters.
            list_reduce(  -- noqa: PRS
                t.blocks,
                LAMBDA known, jumps_of_block: list_append(known, list_reduce(
                    jumps_of_block,
                    LAMBDA times, sources: list_append(times, list_max(list_transform(
                        sources,
                        LAMBDA s: list_transform(
                            coalesce(known[s[1]][s[2]], times[s[2]]),
                            LAMBDA ns, part: ns + s[part + 2]
                        )
                    ))),
                    []::BIGINT[][]
                )),
                [[[0::BIGINT, 0, 0, 0, 0]]]
            ) AS blocks
        FROM _traces AS t
    ),

    _in_order AS (
        SELECT
            b.scenario,
            b.trace,
            b.block,
            unnest(range(1, len(b.times) + 1)) AS position,
            unnest(b.times) AS time
        FROM (
            SELECT
                b.scenario,
                b.trace,
                unnest(range(1, len(b.blocks) + 1)) AS block,
                unnest(b.blocks) AS times
            FROM _blocks AS b
        ) AS b
    )

    SELECT
        t.scenario,
        t.place,
        t.time[1] AS end_ns,
        t.time[2] AS loading_ns,
        t.time[3] AS work_ns,
        t.time[4] AS communication_ns,
        t.time[5] AS rest_ns
    FROM _times AS t
    WHERE t.is_done
    UNION ALL
    SELECT
        t.scenario,
        p.place,
        t.time[1] AS end_ns,
        t.time[2] AS loading_ns,
        t.time[3] AS work_ns,
        t.time[4] AS communication_ns,
        t.time[5] AS rest_ns
    FROM _in_order AS t
    INNER JOIN _places AS p ON t.trace = p.trace AND t.block = p.block AND t.position = p.position;
