-- block: pipeline_moves
-- since: 0.2
-- summary: Operations of a pipeline-parallel job, with where they start and what they lead to, to simulate.
-- grain: one row per operation and operation that waits for it, one per operation, and one per place to start from
--
-- A spot is a group in a lane, or in a step if the group waits for all data-parallel ranks. In worlds of
-- two lanes it is always a group in a lane.
--
-- params
--   name       type     unit  default  meaning
--   times      VARCHAR  -     -        Name of a relation with the rows of pipeline_times.
--   edges      VARCHAR  -     -        Name of a relation with the rows of pipeline_edges.
--   rungs      VARCHAR  -     -        Name of a relation with the rows of pipeline_rungs.
--   keeps      VARCHAR  -     -        Name of a relation with node_id, dp_rank (NULL for all) and keeps: in which scenarios the operation keeps its recorded time, one bit each, eight scenarios to a number.
--   are_pairs  BOOLEAN  -     FALSE    Whether the worlds are a lane and one that stands for all others of its step.
-- columns
--   name          type      unit  meaning
--   world         BIGINT    key   What is simulated alone: a step, or a lane if worlds are pairs.
--   lane_id       BIGINT    key   The lane.
--   spot          BIGINT    -     Where the operation starts; NULL if nothing leads to the spot that follows.
--   to_spot       BIGINT    -     Where the next one starts; NULL if the row stands for the end of the operation.
--   to_rung       INTEGER   -     Rung of its group.
--   to_node_id    BIGINT    -     The next one.
--   waits_for     BIGINT    -     Number of operations that the next one waits for.
--   is_optimizer  BOOLEAN   -     Whether the operation is an optimizer.
--   joins         BOOLEAN   -     Whether both lanes of a pair start it together.
--   own_s         DOUBLE    s     Own time as recorded.
--   ideal_s       DOUBLE    s     Own time in the ideal job.
--   keeps         BIGINT[]  -     As given.
CREATE MACRO pipeline_moves(
    times VARCHAR, edges VARCHAR, rungs VARCHAR, keeps VARCHAR, are_pairs BOOLEAN := FALSE
) AS TABLE
    WITH
    _spots AS MATERIALIZED (
        SELECT
            t.node_id,
            t.lane_id,
            t.step_id,
            t.own_s,
            t.ideal_s,
            t.is_optimizer,
            t.is_synchronized AND are_pairs AS joins,
            r.rung,
            k.keeps,
            CASE WHEN are_pairs THEN t.lane_id ELSE t.step_id END AS world,
            CASE WHEN t.is_synchronized AND NOT are_pairs THEN -t.step_id ELSE t.lane_id END
            * 4294967296 + t.group_id AS spot
        FROM query_table(times) AS t
        INNER JOIN query_table(rungs) AS r ON t.node_id = r.node_id
        INNER JOIN query_table(keeps) AS k
            ON t.node_id = k.node_id AND (k.dp_rank IS NULL OR t.dp_rank = k.dp_rank)
    ),

    _targets AS (
        SELECT
            e.node_id,
            e.next_id,
            r.group_id,
            r.is_synchronized,
            r.rung,
            count(*) OVER (PARTITION BY e.next_id) AS waits_for
        FROM query_table(edges) AS e
        INNER JOIN query_table(rungs) AS r ON e.next_id = r.node_id
    )

    SELECT
        s.world,
        s.lane_id,
        s.spot,
        CASE WHEN t.is_synchronized AND NOT are_pairs THEN -s.step_id ELSE s.lane_id END
        * 4294967296 + t.group_id AS to_spot,
        t.rung AS to_rung,
        t.next_id AS to_node_id,
        t.waits_for,
        FALSE AS is_optimizer,
        s.joins,
        s.own_s,
        s.ideal_s,
        s.keeps
    FROM _spots AS s
    INNER JOIN _targets AS t ON s.node_id = t.node_id
    UNION ALL
    SELECT
        s.world,
        s.lane_id,
        s.spot,
        NULL,
        NULL,
        NULL,
        NULL,
        s.is_optimizer,
        s.joins,
        s.own_s,
        s.ideal_s,
        s.keeps
    FROM _spots AS s
    UNION ALL
    SELECT
        s.world,
        NULL::BIGINT,
        NULL::BIGINT,
        s.spot,
        s.rung,
        NULL::BIGINT,
        NULL::BIGINT,
        FALSE,
        FALSE,
        0::DOUBLE,
        0::DOUBLE,
        any_value(s.keeps)
    FROM _spots AS s
    ANTI JOIN _targets AS t ON s.node_id = t.next_id
    GROUP BY s.world, s.spot, s.rung;
