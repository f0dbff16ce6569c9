-- block: recorded_graphs
-- since: 0.1
-- summary: Launches of graphs, and captured graphs, with what recognises them again.
-- grain: one row per call that launches a graph, and per capture of one
-- uses: is_wanted
--
-- This is the content of the table graphs: ingest runs the block once and stores the result.
--
-- The items of a launch are the device work that it caused. They are in order if they ran on one stream
-- (by start, then by position in the file), or if each has a number of its node (by that number). The
-- items of a captured graph are its nodes.
--
-- params
--   name  type     unit  default  meaning
--   rel   VARCHAR  -     -        Name of a relation that holds captured_nodes(run, worker, span).
--   run, worker, span
-- columns
--   run, worker, span
--   event_id        BIGINT     key  The call that launches the graph, or that begins its capture.
--   role            VARCHAR    -    'launch' or 'capture'.
--   pid             VARCHAR    -    Process of the call.
--   tid             VARCHAR    -    Thread of the call.
--   start_ns        BIGINT     ns   Start of the call.
--   operator_ids    BIGINT[]   -    Operators around the call, the innermost first.
--   module_ids      BIGINT[]   -    Calls of modules around the call, the innermost first.
--   annotation_ids  BIGINT[]   -    Annotations around the call, the outermost first.
--   graph_id        BIGINT     -    Number of the graph, where all items have the same one.
--   items           BIGINT     -    Number of device events, or of nodes.
--   duration_ns     BIGINT     ns   Sum of the durations of the device events; 0 for a capture.
--   streams         INTEGER    -    Number of streams of the device events; NULL for a capture.
--   has_nodes       BOOLEAN    -    Whether each item has a number of its node that no other has.
--   is_named        BOOLEAN    -    Whether the names of all items are known.
--   sequence        VARCHAR    -    Hash of the names in order; NULL where the order is not known.
--   names           VARCHAR    -    Hash of the names without regard to order.
CREATE MACRO recorded_graphs(
    rel VARCHAR, run VARCHAR := NULL, worker VARCHAR := NULL, span VARCHAR := NULL
) AS TABLE
    WITH RECURSIVE
    _calls AS MATERIALIZED (
        SELECT
            h.run,
            h.worker,
            h.span,
            h.event_id,
            h.correlation_id,
            h.pid,
            h.tid,
            h.start_ns,
            h.op_id,
            h.parent_id,
            contains(h.name, 'GraphLaunch') AS is_launch
        FROM host_events AS h
        WHERE
            (ends_with(h.category, '_runtime') OR ends_with(h.category, '_driver'))
            AND (contains(h.name, 'GraphLaunch') OR contains(h.name, 'StreamBeginCapture'))
            AND is_wanted(h.run, h.worker, h.span, run, worker, span)
    ),

    _events AS MATERIALIZED (
        SELECT
            d.run,
            d.worker,
            d.span,
            d.launch_id,
            d.event_id,
            d.start_ns,
            d.duration_ns,
            coalesce(d.stream_id::VARCHAR, d.tid) AS stream,
            nullif(d.graph_id, 0) AS graph_id,
            nullif(d.graph_node_id, 0) AS node_id,
            CASE WHEN d.category IN ('gpu_memcpy', 'gpu_memset') THEN d.category ELSE d.name END
                AS name
        FROM device_events AS d
        INNER JOIN _calls AS c
            ON
                d.run = c.run AND d.worker = c.worker AND d.span = c.span
                AND d.launch_id = c.event_id
        WHERE c.is_launch AND d.kind IN ('compute', 'communication', 'memcpy', 'memset')
    ),

    _numbered AS (
        SELECT
            e.run,
            e.worker,
            e.span,
            e.launch_id,
            count(e.graph_id) = count(*) AND count(DISTINCT e.node_id) = count(*) AS has_nodes
        FROM _events AS e
        GROUP BY e.run, e.worker, e.span, e.launch_id
    ),

    _launched AS (
        SELECT
            e.run,
            e.worker,
            e.span,
            e.launch_id,
            CASE
                WHEN count(e.graph_id) = count(*) AND min(e.graph_id) = max(e.graph_id)
                    THEN min(e.graph_id)
            END AS graph_id,
            count(*) AS items,
            sum(e.duration_ns)::BIGINT AS duration_ns,
            count(DISTINCT e.stream)::INTEGER AS streams,
            bool_and(n.has_nodes) AS has_nodes,
            bool_and(e.name IS NOT NULL) AS is_named,
            CASE
                WHEN bool_and(n.has_nodes) OR count(DISTINCT e.stream) = 1
                    THEN
                        md5(
                            string_agg(
                                e.name,
                                chr(10)
                                ORDER BY
                                    CASE WHEN n.has_nodes THEN e.node_id END ASC,
                                    e.start_ns ASC,
                                    e.event_id ASC
                            )
                        )
            END AS sequence,
            md5(string_agg(e.name, chr(10) ORDER BY e.name)) AS names
        FROM _events AS e
        INNER JOIN _numbered AS n
            ON
                e.run = n.run AND e.worker = n.worker AND e.span = n.span
                AND e.launch_id = n.launch_id
        GROUP BY e.run, e.worker, e.span, e.launch_id
    ),

    _captured AS (
        SELECT
            n.run,
            n.worker,
            n.span,
            n.capture_id,
            CASE
                WHEN count(n.graph_id) = count(*) AND min(n.graph_id) = max(n.graph_id)
                    THEN min(n.graph_id)
            END AS graph_id,
            count(*) AS items,
            count(n.graph_id) = count(*) AND count(DISTINCT n.node_id) = count(*) AS has_nodes,
            bool_and(n.name IS NOT NULL) AS is_named,
            md5(string_agg(n.name, chr(10) ORDER BY n.position)) AS sequence,
            md5(string_agg(n.name, chr(10) ORDER BY n.name)) AS names
        FROM query_table(rel) AS n
        GROUP BY n.run, n.worker, n.span, n.capture_id
    ),

    -- A call into the runtime and one into the driver may share a correlation: the work belongs to one.
    _chosen AS (
        SELECT
            c.*,
            l.launch_id IS NOT NULL OR c.correlation_id IS NULL
            OR (
                bool_and(l.launch_id IS NULL) OVER alike
                AND c.event_id = min(c.event_id) OVER alike
            ) AS is_wanted
        FROM _calls AS c
        LEFT JOIN _launched AS l
            ON
                c.run = l.run AND c.worker = l.worker AND c.span = l.span
                AND c.event_id = l.launch_id
        WHERE c.is_launch
        WINDOW alike AS (PARTITION BY c.run, c.worker, c.span, c.correlation_id)
    ),

    _around AS (
        SELECT c.run, c.worker, c.span, c.event_id, c.op_id AS id, 0 AS levels
        FROM _calls AS c
        WHERE c.op_id IS NOT NULL
        UNION ALL
        SELECT a.run, a.worker, a.span, a.event_id, h.parent_op_id, a.levels + 1
        FROM _around AS a
        INNER JOIN host_events AS h
            ON
                a.run = h.run AND a.worker = h.worker AND a.span = h.span AND a.id = h.event_id
        WHERE h.parent_op_id IS NOT NULL
    ),

    _named AS (
        SELECT
            a.run,
            a.worker,
            a.span,
            a.event_id,
            list(a.id ORDER BY a.levels) FILTER (WHERE h.category = 'cpu_op') AS operator_ids,
            list(a.id ORDER BY a.levels DESC) FILTER (WHERE h.category = 'user_annotation')
                AS annotation_ids
        FROM _around AS a
        INNER JOIN host_events AS h
            ON
                a.run = h.run AND a.worker = h.worker AND a.span = h.span AND a.id = h.event_id
        GROUP BY a.run, a.worker, a.span, a.event_id
    ),

    _parents AS (
        SELECT c.run, c.worker, c.span, c.event_id, c.parent_id AS id, 0 AS levels
        FROM _calls AS c
        WHERE c.parent_id IS NOT NULL
        UNION ALL
        SELECT p.run, p.worker, p.span, p.event_id, h.parent_id, p.levels + 1
        FROM _parents AS p
        INNER JOIN host_events AS h
            ON
                p.run = h.run AND p.worker = h.worker AND p.span = h.span AND p.id = h.event_id
        WHERE h.parent_id IS NOT NULL
    ),

    _modules AS (
        SELECT
            p.run,
            p.worker,
            p.span,
            p.event_id,
            list(p.id ORDER BY p.levels) AS module_ids
        FROM _parents AS p
        INNER JOIN host_events AS h
            ON
                p.run = h.run AND p.worker = h.worker AND p.span = h.span AND p.id = h.event_id
        WHERE h.python_module_id IS NOT NULL
        GROUP BY p.run, p.worker, p.span, p.event_id
    )

    SELECT
        c.run,
        c.worker,
        c.span,
        c.event_id,
        CASE WHEN c.is_launch THEN 'launch' ELSE 'capture' END AS role,
        c.pid,
        c.tid,
        c.start_ns,
        coalesce(n.operator_ids, []) AS operator_ids,
        coalesce(m.module_ids, []) AS module_ids,
        coalesce(n.annotation_ids, []) AS annotation_ids,
        coalesce(l.graph_id, g.graph_id) AS graph_id,
        coalesce(l.items, g.items, 0) AS items,
        coalesce(l.duration_ns, 0) AS duration_ns,
        CASE WHEN c.is_launch THEN coalesce(l.streams, 0) END AS streams,
        coalesce(l.has_nodes, g.has_nodes, FALSE) AS has_nodes,
        coalesce(l.is_named, g.is_named, FALSE) AS is_named,
        coalesce(l.sequence, g.sequence) AS sequence,
        coalesce(l.names, g.names) AS names
    FROM _calls AS c
    LEFT JOIN _launched AS l
        ON c.run = l.run AND c.worker = l.worker AND c.span = l.span AND c.event_id = l.launch_id
    LEFT JOIN _captured AS g
        ON c.run = g.run AND c.worker = g.worker AND c.span = g.span AND c.event_id = g.capture_id
    LEFT JOIN _named AS n
        ON c.run = n.run AND c.worker = n.worker AND c.span = n.span AND c.event_id = n.event_id
    LEFT JOIN _modules AS m
        ON c.run = m.run AND c.worker = m.worker AND c.span = m.span AND c.event_id = m.event_id
    LEFT JOIN _chosen AS w
        ON c.run = w.run AND c.worker = w.worker AND c.span = w.span AND c.event_id = w.event_id
    WHERE CASE WHEN c.is_launch THEN w.is_wanted ELSE g.items > 0 END;
