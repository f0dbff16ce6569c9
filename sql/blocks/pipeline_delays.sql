-- block: pipeline_delays
-- since: 0.2
-- summary: How much later than possible each operation of a pipeline-parallel job started.
-- grain: one row per operation
--
-- The delay is the time from the latest end of what the operation waits for, in its lane, to its start; of an
-- operation that waits for nothing, the time since the start of the step. Delays are 32-bit numbers. One of -10
-- ms or less counts as 0, and others below 0 stay, as for transfers in pipeline_times.
--
-- params
--   name   type     unit  default  meaning
--   times  VARCHAR  -     -        Name of a relation with the rows of pipeline_times.
--   edges  VARCHAR  -     -        Name of a relation with the rows of pipeline_edges.
-- columns
--   name     type     unit  meaning
--   lane_id  BIGINT   key   The lane.
--   node_id  BIGINT   key   The operation of the graph.
--   is_root  BOOLEAN  -     Whether it waits for nothing.
--   delay_s  DOUBLE   s     Its delay.
CREATE MACRO pipeline_delays(times VARCHAR, edges VARCHAR) AS TABLE
    WITH
    _ready AS (
        SELECT t.lane_id, e.next_id AS node_id, max(t.end_s) AS end_s
        FROM query_table(times) AS t
        INNER JOIN query_table(edges) AS e ON t.node_id = e.node_id
        GROUP BY t.lane_id, e.next_id
    )

    SELECT
        t.lane_id,
        t.node_id,
        r.end_s IS NULL AS is_root,
        (
            CASE
                WHEN t.start_s - coalesce(r.end_s, 0::FLOAT) <= -0.01::FLOAT THEN 0
                ELSE t.start_s - coalesce(r.end_s, 0::FLOAT)
            END
        )::DOUBLE AS delay_s
    FROM query_table(times) AS t
    LEFT JOIN _ready AS r ON t.lane_id = r.lane_id AND t.node_id = r.node_id;
