-- block: replay_times
-- since: 0.1
-- summary: New times of a replay: the longest way to each jump.
-- grain: one row per scenario and jump
--
-- In the order of time, what a jump depends on has its new time already. The times of a trace are one list, which
-- grows by the latest of what the next jump depends on. To add one time copies a list, so the jumps are in
-- blocks, and a trace has about as many blocks as a block has jumps: the list of a block grows by its jumps, and
-- then that of the trace by the block.
--
-- A time is a list of five numbers. The later one of two is the greater list: of two that end at the same time, the
-- one with more data loading, and so on.
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
    -- The first block is the start of the trace.
    _points AS MATERIALIZED (
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
            FROM (
                SELECT DISTINCT j.trace, j.target_place AS place FROM query_table(jumps) AS j
            ) AS p
        ) AS n
    ),

    -- Lists of one type throughout, as DuckDB 1.5 requires.
    _jumps AS (
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
        INNER JOIN _points AS t ON j.target_place = t.place
        LEFT JOIN _points AS s ON j.source_place = s.place
        GROUP BY j.scenario, t.trace, t.block, t.position
    ),

    _traces AS (
        SELECT b.scenario, b.trace, list(b.jumps ORDER BY b.block) AS blocks
        FROM (
            SELECT j.scenario, j.trace, j.block, list(j.sources ORDER BY j.position) AS jumps
            FROM _jumps AS j
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

    _times AS (
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
        p.place,
        t.time[1] AS end_ns,
        t.time[2] AS loading_ns,
        t.time[3] AS work_ns,
        t.time[4] AS communication_ns,
        t.time[5] AS rest_ns
    FROM _times AS t
    INNER JOIN _points AS p ON t.trace = p.trace AND t.block = p.block AND t.position = p.position;
