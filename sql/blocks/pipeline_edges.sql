-- block: pipeline_edges
-- since: 0.2
-- summary: Which operation of a pipeline-parallel job waits for which other of its stage.
-- grain: one row per operation and operation that it waits for
--
-- Order is by start, within a stage. The rules:
--
-- 1. Computations run one after another.
-- 2. Each of the four types of sends and receives has a stream of its own: one after another.
-- 3. A send waits for its computation. A computation waits for its receive, and the receive for the previous
--    computation of the direction. pipeline_matches says which belong together.
-- 4. The first backward send and receive wait for the computation two before the first backward computation,
--    if there are two before it.
-- 5. All-gathers of parameters and reduce-scatters of gradients run one after another. The first forward
--    computation of a model chunk waits for the last all-gather of the chunk.
-- 6. If gradients are reduced while computations run, the first reduce-scatter of a chunk waits for the
--    chunk's backward computation that ends last, and the layernorm all-reduce for the last reduce-scatter.
-- 7. The end of the step, each after the one before: the computation that ends last, gc, layernorm and
--    embedding all-reduce, then the separate all-reduce or all reduce-scatters, clip, optimizer. Only the first
--    and last stage have an embedding. What a stage has not is passed over.
--
-- params
--   name     type     unit  default  meaning
--   nodes    VARCHAR  -     -        Name of a relation with the rows of pipeline_nodes.
--   matches  VARCHAR  -     -        Name of a relation with the rows of pipeline_matches.
-- columns
--   name     type    unit  meaning
--   job      BIGINT  key   Number of the trace.
--   node_id  BIGINT  key   The operation that is waited for.
--   next_id  BIGINT  key   The operation that waits for it.
CREATE MACRO pipeline_edges(nodes VARCHAR, matches VARCHAR) AS TABLE
    WITH
    _nodes AS (
        SELECT
            n.*,
            n.optype IN ('forward-compute', 'backward-compute') AS is_computation,
            CASE
                WHEN n.optype IN ('forward-compute', 'backward-compute') THEN 'compute'
                WHEN n.optype IN ('params-all-gather', 'grads-reduce-scatter') THEN 'data-parallel'
                WHEN
                    n.optype IN ('forward-send', 'forward-recv', 'backward-send', 'backward-recv')
                    THEN n.optype
            END AS stream
        FROM query_table(nodes) AS n
    ),

    _placed AS (
        SELECT
            n.*,
            row_number() OVER in_stream AS turn,
            lag(n.node_id) OVER in_stream AS before_id
        FROM _nodes AS n
        WHERE n.stream IS NOT NULL
        WINDOW in_stream AS (
            PARTITION BY n.job, n.stage, n.stream ORDER BY n.start_s, n.seq_id, n.optype
        )
    ),

    -- The first and last operations of a chunk.
    _of_chunks AS (
        SELECT
            p.job,
            p.stage,
            p.mc,
            arg_min(p.node_id, p.turn) FILTER (WHERE p.optype = 'forward-compute') AS forward_id,
            arg_max(p.node_id, (p.end_s, -p.turn)) FILTER (WHERE p.optype = 'backward-compute')
                AS backward_id,
            arg_max(p.node_id, p.seq_id) FILTER (WHERE p.optype = 'params-all-gather')
                AS gather_id,
            arg_min(p.node_id, p.seq_id) FILTER (
                WHERE p.optype = 'grads-reduce-scatter' AND p.does_overlap
            ) AS scatter_id
        FROM _placed AS p
        GROUP BY p.job, p.stage, p.mc
    ),

    _of_stages AS (
        SELECT
            p.job,
            p.stage,
            arg_max(p.node_id, (p.end_s, -p.turn)) FILTER (WHERE p.is_computation) AS last_id,
            arg_max(p.node_id, p.seq_id) FILTER (
                WHERE p.optype = 'grads-reduce-scatter' AND p.does_overlap
            ) AS scatter_id,
            min(p.turn) FILTER (WHERE p.optype = 'backward-compute') AS backward_turn
        FROM _placed AS p
        GROUP BY p.job, p.stage
    ),

    _ends AS (
        SELECT
            n.job,
            n.node_id,
            n.stage,
            n.seq_id,
            CASE n.optype
                WHEN 'gc' THEN 1
                WHEN 'layernorm-grads-all-reduce' THEN 2
                WHEN 'embedding-grads-all-reduce' THEN 3
                WHEN 'separate-grads-all-reduce' THEN 4
                WHEN 'grads-reduce-scatter' THEN 4
                WHEN 'optimizer-clip-main-grad' THEN 5
                WHEN 'optimizer' THEN 6
            END AS turn
        FROM _nodes AS n
        WHERE
            n.optype IN (
                'gc', 'layernorm-grads-all-reduce', 'separate-grads-all-reduce',
                'optimizer-clip-main-grad', 'optimizer'
            )
            OR (
                n.optype = 'embedding-grads-all-reduce'
                AND (n.stage = 0 OR n.stage = n.stages - 1)
            )
            OR (n.optype = 'grads-reduce-scatter' AND NOT n.does_overlap)
        UNION ALL
        SELECT s.job, s.last_id, s.stage, 0, 0
        FROM _of_stages AS s
        WHERE s.last_id IS NOT NULL
    ),

    _edges AS (
        SELECT
            m.job,
            CASE WHEN m.is_send THEN m.compute_id ELSE m.node_id END AS node_id,
            CASE WHEN m.is_send THEN m.node_id ELSE m.compute_id END AS next_id
        FROM query_table(matches) AS m
        UNION ALL
        SELECT p.job, p.before_id, p.node_id
        FROM _placed AS p
        UNION ALL
        SELECT m.job, m.previous_id, m.node_id
        FROM query_table(matches) AS m
        WHERE NOT m.is_send
        UNION ALL
        SELECT s.job, c.node_id, p.node_id AS next_id
        FROM _of_stages AS s
        INNER JOIN _placed AS c
            ON
                s.job = c.job AND s.stage = c.stage AND s.backward_turn - 2 = c.turn
                AND c.is_computation
        INNER JOIN _placed AS p
            ON
                s.job = p.job AND s.stage = p.stage AND p.seq_id = 0
                AND p.optype IN ('backward-send', 'backward-recv')
        UNION ALL
        SELECT c.job, c.gather_id, c.forward_id
        FROM _of_chunks AS c
        UNION ALL
        SELECT c.job, c.backward_id, c.scatter_id
        FROM _of_chunks AS c
        UNION ALL
        SELECT s.job, s.scatter_id, n.node_id
        FROM _of_stages AS s
        INNER JOIN _nodes AS n
            ON
                s.job = n.job AND s.stage = n.stage AND n.seq_id = 0
                AND n.optype = 'layernorm-grads-all-reduce'
        UNION ALL
        SELECT
            e.job,
            lag(e.node_id) OVER (PARTITION BY e.job, e.stage ORDER BY e.turn, e.seq_id),
            e.node_id
        FROM _ends AS e
    )

    SELECT DISTINCT e.job, e.node_id, e.next_id
    FROM _edges AS e
    WHERE e.node_id IS NOT NULL AND e.next_id IS NOT NULL;
