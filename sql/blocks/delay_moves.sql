-- block: delay_moves
-- since: 0.2
-- summary: Operations of a pipeline-parallel job, with delays of some of them, to simulate.
-- grain: as pipeline_moves, but one row per operation to start from
--
-- As pipeline_moves, but all operations keep their own times, and some keep their delays. The delay of an operation
-- is part of the moves that lead to it. So own_s is the own time with that delay, and ideal_s without it. An
-- operation that waits for nothing has its delay in the row to start from.
--
-- params
--   name    type     unit  default  meaning
--   times   VARCHAR  -     -        Name of a relation with the rows of pipeline_times.
--   edges   VARCHAR  -     -        Name of a relation with the rows of pipeline_edges.
--   rungs   VARCHAR  -     -        Name of a relation with the rows of pipeline_rungs.
--   delays  VARCHAR  -     -        Name of a relation with the rows of pipeline_delays.
--   keeps   VARCHAR  -     -        Name of a relation with the rows of delay_keeps.
-- columns
--   name          type      unit  meaning
--   world         BIGINT    key   The step.
--   lane_id       BIGINT    key   The lane.
--   spot          BIGINT    -     As in pipeline_moves, like the next four.
--   to_spot       BIGINT    -     As there.
--   to_rung       INTEGER   -     As there.
--   to_node_id    BIGINT    -     As there.
--   waits_for     BIGINT    -     As there.
--   is_optimizer  BOOLEAN   -     As there.
--   joins         BOOLEAN   -     FALSE.
--   own_s         DOUBLE    s     Own time, and the delay of the next one.
--   ideal_s       DOUBLE    s     Own time.
--   keeps         BIGINT[]  -     In which scenarios the next one keeps its delay, eight to a number.
CREATE MACRO delay_moves(
    times VARCHAR, edges VARCHAR, rungs VARCHAR, delays VARCHAR, keeps VARCHAR
) AS TABLE
    WITH
    _spots AS MATERIALIZED (
        SELECT
            t.node_id,
            t.lane_id,
            t.step_id,
            t.own_s,
            t.is_optimizer,
            r.rung,
            d.is_root,
            d.delay_s,
            k.keeps,
            CASE WHEN t.is_synchronized THEN -t.step_id ELSE t.lane_id END
            * 4294967296 + t.group_id AS spot
        FROM query_table(times) AS t
        INNER JOIN query_table(rungs) AS r ON t.node_id = r.node_id
        INNER JOIN query_table(delays) AS d ON t.lane_id = d.lane_id AND t.node_id = d.node_id
        INNER JOIN query_table(keeps) AS k ON t.node_id = k.node_id AND t.dp_rank = k.dp_rank
    ),

    -- Materialized: joining all pairs of a lane first would take twenty times as long.
    _led AS MATERIALIZED (
        SELECT
            s.step_id,
            s.lane_id,
            s.spot,
            s.own_s AS before_s,
            e.next_id
        FROM _spots AS s
        INNER JOIN query_table(edges) AS e ON s.node_id = e.node_id
    )

    SELECT
        s.step_id AS world,
        s.lane_id,
        s.spot,
        n.spot AS to_spot,
        n.rung AS to_rung,
        n.node_id AS to_node_id,
        count(*) OVER (PARTITION BY n.lane_id, n.node_id) AS waits_for,
        FALSE AS is_optimizer,
        FALSE AS joins,
        s.before_s + n.delay_s AS own_s,
        s.before_s AS ideal_s,
        n.keeps
    FROM _led AS s
    INNER JOIN _spots AS n ON s.next_id = n.node_id AND s.lane_id = n.lane_id
    UNION ALL
    SELECT
        s.step_id,
        s.lane_id,
        s.spot,
        NULL,
        NULL,
        NULL,
        NULL,
        s.is_optimizer,
        FALSE,
        s.own_s,
        s.own_s AS ideal_s,
        s.keeps
    FROM _spots AS s
    UNION ALL
    SELECT
        s.step_id,
        NULL::BIGINT,
        NULL::BIGINT,
        s.spot,
        s.rung,
        NULL::BIGINT,
        NULL::BIGINT,
        FALSE,
        FALSE,
        s.delay_s,
        0::DOUBLE,
        s.keeps
    FROM _spots AS s
    WHERE s.is_root;
