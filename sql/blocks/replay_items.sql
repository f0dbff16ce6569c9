-- block: replay_items
-- since: 0.1
-- summary: Device events that launches of graphs caused, in order.
-- grain: one row per device event
--
-- The order is that of the numbers of the nodes if all events of the launch have one, else that of the start,
-- and then that of the file.
--
-- params
--   name      type     unit  default  meaning
--   launches  VARCHAR  -     -        Name of a relation with run, worker, span and event_id: calls that launch graphs.
-- columns
--   run, worker, span
--   launch_id    BIGINT   key  The call that launched the graph.
--   event_id     BIGINT   key  The event in device_events.
--   position     BIGINT   -    Position in the launch, from 0.
--   name         VARCHAR  -    Name of the kernel; 'gpu_memcpy' or 'gpu_memset'.
--   stream       VARCHAR  -    Stream that it ran on.
--   node_id      BIGINT   -    Number of its node; NULL where not recorded or 0.
--   start_ns     BIGINT   ns   Start.
--   duration_ns  BIGINT   ns   Duration.
--   uses_tensor_cores  BOOLEAN  -  Whether it is a kernel that uses tensor cores; NULL for a kernel whose name does not tell.
CREATE MACRO replay_items(launches VARCHAR) AS TABLE
    WITH
    _launches AS (
        SELECT g.run, g.worker, g.span, g.event_id, g.has_nodes, row_number() OVER () AS number
        FROM graphs AS g
        SEMI JOIN query_table(launches) AS l
            ON
                g.run = l.run AND g.worker = l.worker AND g.span = l.span
                AND g.event_id = l.event_id
        WHERE g.role = 'launch'
    )

    SELECT
        d.run,
        d.worker,
        d.span,
        d.launch_id,
        d.event_id,
        row_number() OVER (
            PARTITION BY l.number
            ORDER BY
                CASE WHEN l.has_nodes THEN d.graph_node_id END ASC,
                d.start_ns ASC,
                d.event_id ASC
        ) - 1 AS position,
        CASE WHEN d.category IN ('gpu_memcpy', 'gpu_memset') THEN d.category ELSE d.name END
            AS name,
        coalesce(d.stream_id::VARCHAR, d.tid) AS stream,
        nullif(d.graph_node_id, 0) AS node_id,
        d.start_ns,
        d.duration_ns,
        coalesce(d.uses_tensor_cores, CASE WHEN d.category <> 'kernel' THEN FALSE END)
            AS uses_tensor_cores
    FROM device_events AS d
    INNER JOIN _launches AS l
        ON
            d.run = l.run AND d.worker = l.worker AND d.span = l.span
            AND d.launch_id = l.event_id
    WHERE d.kind IN ('compute', 'communication', 'memcpy', 'memset');
