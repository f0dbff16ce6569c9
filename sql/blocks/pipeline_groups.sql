-- block: pipeline_groups
-- since: 0.2
-- summary: Operations of a pipeline-parallel job that start to transfer together.
-- grain: one row per operation
--
-- A send and the receive of its peer are a group: of a direction, the k-th with a peer on each side. So are
-- the embedding all-reduces of the first and last stage, and the clips of all stages. A send or receive
-- without a peer, and each exchange between data-parallel ranks, is a group of its own; so is every
-- operation that does not communicate. Exchanges between data-parallel ranks, and clips, wait for the same
-- operations of all data-parallel ranks.
--
-- params
--   name     type     unit  default  meaning
--   nodes    VARCHAR  -     -        Name of a relation with the rows of pipeline_nodes.
--   matches  VARCHAR  -     -        Name of a relation with the rows of pipeline_matches.
-- columns
--   name              type     unit  meaning
--   job               BIGINT   key   Number of the trace.
--   node_id           BIGINT   key   The operation.
--   group_id          BIGINT   -     Its group: the smallest node_id in it.
--   is_communication  BOOLEAN  -     Whether it waits for the members of its group.
--   is_synchronized   BOOLEAN  -     Whether it waits for all data-parallel ranks.
CREATE MACRO pipeline_groups(nodes VARCHAR, matches VARCHAR) AS TABLE
    WITH
    _named AS (
        SELECT
            n.job,
            n.node_id,
            CASE
                WHEN m.sender_stage IS NOT NULL
                    THEN m.direction || ' ' || m.sender_stage || ' ' || m.occurrence
                WHEN n.optype = 'optimizer-clip-main-grad' THEN n.optype
                WHEN
                    n.optype = 'embedding-grads-all-reduce'
                    AND (n.stage = 0 OR n.stage = n.stages - 1)
                    THEN n.optype
            END AS name,
            n.optype IN (
                'params-all-gather', 'grads-reduce-scatter', 'separate-grads-all-reduce',
                'optimizer-clip-main-grad'
            ) AS is_synchronized,
            n.optype IN ('forward-send', 'forward-recv', 'backward-send', 'backward-recv')
                AS is_between_stages
        FROM query_table(nodes) AS n
        LEFT JOIN query_table(matches) AS m ON n.node_id = m.node_id
    )

    SELECT
        d.job,
        d.node_id,
        CASE
            WHEN d.name IS NULL THEN d.node_id
            ELSE min(d.node_id) OVER (PARTITION BY d.job, d.name)
        END AS group_id,
        d.name IS NOT NULL OR d.is_synchronized OR d.is_between_stages AS is_communication,
        d.is_synchronized
    FROM _named AS d;
