-- block: pipeline_matches
-- since: 0.2
-- summary: Sends and receives between stages, with the computation that each belongs to.
-- grain: one row per send or receive that belongs to a computation
--
-- The sends of a direction, and the receives, belong to the computations of that direction, both in order.
-- Left out are receives that start after the last of these computations has started, and sends that end
-- before the first one has ended; 50 us are tolerated. The profiler records some that were never launched.
-- If exactly one receive is missing, the first computation has none.
--
-- The peer of a forward send or a backward receive is in the next chunk of the model, that of the others in
-- the chunk before. At the ends of the model there is no such chunk, and the operation has no peer.
--
-- params
--   name   type     unit  default  meaning
--   nodes  VARCHAR  -     -        Name of a relation with the rows of pipeline_nodes.
-- columns
--   name          type     unit  meaning
--   job           BIGINT   key   Number of the trace.
--   node_id       BIGINT   key   The send or receive.
--   compute_id    BIGINT   -     The computation that it belongs to.
--   previous_id   BIGINT   -     The computation of the same direction before that one.
--   is_send       BOOLEAN  -     Whether it is a send.
--   direction     VARCHAR  -     'forward' or 'backward'.
--   sender_stage  BIGINT   -     Stage that sends; NULL if it has no peer.
--   occurrence    BIGINT   -     Number, from 1, among those of its type and stage that have a peer; NULL if it has none.
CREATE MACRO pipeline_matches(nodes VARCHAR) AS TABLE
    WITH
    _computations AS (
        SELECT
            n.*,
            split_part(n.optype, '-', 1) AS direction,
            lag(n.node_id) OVER (
                PARTITION BY n.job, n.stage, n.optype ORDER BY n.seq_id
            ) AS previous_id
        FROM query_table(nodes) AS n
        WHERE n.optype IN ('forward-compute', 'backward-compute')
    ),

    _limits AS (
        SELECT
            c.job,
            c.stage,
            c.direction,
            count(*) AS computations,
            min(c.end_s) AS first_end_s,
            max(c.start_s) AS last_start_s
        FROM _computations AS c
        GROUP BY c.job, c.stage, c.direction
    ),

    _typed AS (
        SELECT
            n.*,
            split_part(n.optype, '-', 1) AS direction,
            n.optype IN ('forward-send', 'backward-send') AS is_send,
            CASE WHEN n.optype IN ('forward-send', 'backward-recv') THEN 1 ELSE -1 END AS to_peer
        FROM query_table(nodes) AS n
        WHERE n.optype IN ('forward-send', 'forward-recv', 'backward-send', 'backward-recv')
    ),

    _launched AS (
        SELECT
            t.*,
            m.computations,
            row_number() OVER (
                PARTITION BY t.job, t.stage, t.optype ORDER BY t.start_s, t.seq_id
            ) AS position,
            count(*) OVER (PARTITION BY t.job, t.stage, t.optype) AS launched
        FROM _typed AS t
        INNER JOIN _limits AS m
            ON t.job = m.job AND t.stage = m.stage AND t.direction = m.direction
        WHERE
            CASE
                WHEN t.is_send THEN t.end_s >= m.first_end_s - 0.00005::FLOAT
                ELSE t.start_s <= m.last_start_s + 0.00005::FLOAT
            END
    ),

    _matched AS (
        SELECT
            s.job,
            s.node_id,
            c.node_id AS compute_id,
            c.previous_id,
            s.is_send,
            s.direction,
            s.optype,
            s.stage,
            s.position,
            (s.stage + CASE WHEN s.is_send THEN 0 ELSE s.to_peer END + s.stages) % s.stages
                AS sender_stage,
            c.gmc + s.to_peer BETWEEN 0 AND s.chunks - 1 AS has_peer
        FROM _launched AS s
        INNER JOIN _computations AS c
            ON
                s.job = c.job AND s.stage = c.stage AND s.direction = c.direction
                AND s.position - 1
                + CASE WHEN NOT s.is_send AND s.launched + 1 = s.computations THEN 1 ELSE 0 END
                = c.seq_id
    )

    SELECT
        m.job,
        m.node_id,
        m.compute_id,
        m.previous_id,
        m.is_send,
        m.direction,
        CASE WHEN m.has_peer THEN m.sender_stage END AS sender_stage,
        CASE
            WHEN m.has_peer
                THEN row_number() OVER (
                    PARTITION BY m.job, m.stage, m.optype, m.has_peer ORDER BY m.position
                )
        END AS occurrence
    FROM _matched AS m;
