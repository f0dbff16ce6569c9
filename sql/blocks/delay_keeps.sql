-- block: delay_keeps
-- since: 0.2
-- summary: In which scenarios the operations of a pipeline-parallel job keep their delays.
-- grain: one row per operation of the graph and data-parallel rank
--
-- In scenario 0 none does. In the scenario of a part, the operations of the part do.
--
-- params
--   name   type     unit  default  meaning
--   nodes  VARCHAR  -     -        Name of a relation with job, node_id, stage and part, which is 'first-op' for the operations that begin a step.
--   parts  VARCHAR  -     -        Name of a relation with job, kind ('stage', 'operation' or 'dp_rank'), part and scenario, from 1.
--   lanes  VARCHAR  -     -        Name of a relation with job and dp_rank.
-- columns
--   name     type      unit  meaning
--   node_id  BIGINT    key   The operation.
--   dp_rank  BIGINT    key   Data-parallel rank.
--   keeps    BIGINT[]  -     One bit per scenario, eight scenarios to a number; 1 if it does.
CREATE MACRO delay_keeps(nodes VARCHAR, parts VARCHAR, lanes VARCHAR) AS TABLE
    WITH
    _ranks AS (
        SELECT DISTINCT a.job, a.dp_rank
        FROM query_table(lanes) AS a
    ),

    _scenarios AS (
        SELECT
            n.node_id,
            r.dp_rank,
            p.scenario,
            CASE p.kind
                WHEN 'stage' THEN n.stage::VARCHAR
                WHEN 'dp_rank' THEN r.dp_rank::VARCHAR
                ELSE n.part
            END = p.part AS is_kept
        FROM query_table(nodes) AS n
        INNER JOIN query_table(parts) AS p ON n.job = p.job
        INNER JOIN _ranks AS r ON n.job = r.job
    ),

    _eights AS (
        SELECT
            s.node_id,
            s.dp_rank,
            s.scenario // 8 AS block,
            sum(CASE WHEN s.is_kept THEN 1 << (s.scenario % 8)::INTEGER ELSE 0 END)::BIGINT AS keeps
        FROM _scenarios AS s
        GROUP BY s.node_id, s.dp_rank, s.scenario // 8
    )

    SELECT e.node_id, e.dp_rank, list(e.keeps ORDER BY e.block) AS keeps
    FROM _eights AS e
    GROUP BY e.node_id, e.dp_rank;
