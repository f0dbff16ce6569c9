-- block: straggler_keeps
-- since: 0.2
-- summary: In which scenarios the operations of a pipeline-parallel job keep their recorded own time.
-- grain: one row per operation of the graph
--
-- In scenario 0 all do, in scenario 1, the ideal, none does, and in scenario 2 those of all stages but the last
-- do. In the scenario of a part, the operations of the part do.
--
-- params
--   name   type     unit  default  meaning
--   nodes  VARCHAR  -     -        Name of a relation with the rows of pipeline_nodes.
--   parts  VARCHAR  -     -        Name of a relation with job, kind ('stage' or 'operation'), part and scenario, from 3.
-- columns
--   name     type      unit  meaning
--   node_id  BIGINT    key   The operation.
--   dp_rank  BIGINT    -     NULL: the same for all data-parallel ranks.
--   keeps    BIGINT[]  -     One bit per scenario, eight scenarios to a number; 1 if it does.
CREATE MACRO straggler_keeps(nodes VARCHAR, parts VARCHAR) AS TABLE
    WITH
    _scenarios AS (
        SELECT
            n.node_id,
            s.scenario,
            s.scenario = 0 OR (s.scenario = 2 AND n.stage < n.stages - 1) AS is_kept
        FROM query_table(nodes) AS n
        CROSS JOIN range(3) AS s (scenario)
        UNION ALL
        SELECT
            n.node_id,
            p.scenario,
            CASE p.kind WHEN 'stage' THEN n.stage::VARCHAR ELSE n.part END = p.part
        FROM query_table(nodes) AS n
        INNER JOIN query_table(parts) AS p ON n.job = p.job
    ),

    _eights AS (
        SELECT
            s.node_id,
            s.scenario // 8 AS block,
            sum(CASE WHEN s.is_kept THEN 1 << (s.scenario % 8)::INTEGER ELSE 0 END)::BIGINT AS keeps
        FROM _scenarios AS s
        GROUP BY s.node_id, s.scenario // 8
    )

    SELECT
        e.node_id,
        NULL::BIGINT AS dp_rank,
        list(e.keeps ORDER BY e.block) AS keeps
    FROM _eights AS e
    GROUP BY e.node_id;
