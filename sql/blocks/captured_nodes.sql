-- block: captured_nodes
-- since: 0.1
-- summary: Kernels, copies and memsets of captured graphs, and the operators and modules around them.
-- grain: one row per captured node
-- uses: is_wanted
--
-- This is the content of the table graph_nodes: ingest runs the block once and stores the result.
--
-- A thread captures from the end of its call of StreamBeginCapture to its next call of StreamEndCapture. A capture that the
-- recording cut short is left out. A node is a call in between that launches a kernel, copies or sets
-- memory, and caused no work on a device in this trace. Where a call into the runtime and the call into the
-- driver below it share a correlation, they are one node. Calls that launch a function on the host or
-- another graph have no name to recognise, and are left out.
--
-- params
--   run, worker, span
-- columns
--   run, worker, span
--   capture_id    BIGINT    key  The call that begins the capture.
--   position      BIGINT    key  Position of the node in its graph, from 0.
--   event_id      BIGINT    -    The captured call.
--   name          VARCHAR   -    Name of the kernel; 'gpu_memcpy' or 'gpu_memset'; NULL where not recorded.
--   graph_id      BIGINT    -    Number of the graph; NULL where not recorded or 0.
--   node_id       BIGINT    -    Number of the node; NULL where not recorded or 0.
--   op_id         BIGINT    -    Nearest operator around the call, or nearest annotation if there is no operator.
--   operator_ids  BIGINT[]  -    Operators around the call, the innermost first.
--   module_ids    BIGINT[]  -    Calls of modules around the call, the innermost first.
--   stack_id      BIGINT    -    Stack of the call.
CREATE MACRO captured_nodes(
    run VARCHAR := NULL, worker VARCHAR := NULL, span VARCHAR := NULL
) AS TABLE
    WITH RECURSIVE
    _calls AS MATERIALIZED (
        SELECT
            h.run,
            h.worker,
            h.span,
            h.pid,
            h.tid,
            h.event_id,
            h.correlation_id,
            h.start_ns,
            h.start_ns + h.duration_ns AS end_ns,
            contains(h.name, 'StreamBeginCapture') AS is_begin,
            contains(h.name, 'StreamEndCapture') AS is_end,
            CASE
                WHEN contains(h.name, 'Memcpy') THEN 'gpu_memcpy'
                WHEN contains(h.name, 'Memset') THEN 'gpu_memset'
                ELSE h.args ->> 'kernel'
            END AS name,
            try_cast(h.args ->> 'graph id' AS BIGINT) AS graph_id,
            try_cast(h.args ->> 'graph node id' AS BIGINT) AS node_id,
            h.op_id,
            h.parent_id,
            h.stack_id
        FROM host_events AS h
        WHERE
            (ends_with(h.category, '_runtime') OR ends_with(h.category, '_driver'))
            AND (
                contains(h.name, 'StreamBeginCapture')
                OR contains(h.name, 'StreamEndCapture')
                OR contains(h.name, 'Launch')
                OR contains(h.name, 'Memcpy')
                OR contains(h.name, 'Memset')
            )
            AND NOT contains(h.name, 'GraphLaunch')
            AND NOT contains(h.name, 'LaunchHostFunc')
            AND is_wanted(h.run, h.worker, h.span, run, worker, span)
    ),

    -- The last begin or end before a call, and the next one after it.
    _bounded AS (
        SELECT
            c.*,
            last_value(
                CASE WHEN c.is_begin THEN c.event_id WHEN c.is_end THEN -1 END IGNORE NULLS
            ) OVER before AS capture_id,
            last_value(
                CASE WHEN c.is_begin THEN c.end_ns WHEN c.is_end THEN -1 END IGNORE NULLS
            ) OVER before AS capture_ns,
            first_value(
                CASE WHEN c.is_begin THEN FALSE WHEN c.is_end THEN TRUE END IGNORE NULLS
            ) OVER after AS is_ended
        FROM _calls AS c
        WINDOW
            before AS (
                PARTITION BY c.run, c.worker, c.span, c.pid, c.tid
                ORDER BY c.start_ns, c.event_id
                ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
            ),
            after AS (
                PARTITION BY c.run, c.worker, c.span, c.pid, c.tid
                ORDER BY c.start_ns, c.event_id
                ROWS BETWEEN 1 FOLLOWING AND UNBOUNDED FOLLOWING
            )
    ),

    _ran AS (
        SELECT DISTINCT d.run, d.worker, d.span, d.launch_id
        FROM device_events AS d
        WHERE
            d.kind IN ('compute', 'communication', 'memcpy', 'memset')
            AND is_wanted(d.run, d.worker, d.span, run, worker, span)
    ),

    -- Of calls with one correlation the first is the node.
    _together AS (
        SELECT
            b.run,
            b.worker,
            b.span,
            b.capture_id,
            b.event_id,
            b.start_ns,
            coalesce(b.name, max(b.name) OVER alike) AS name,
            nullif(coalesce(b.graph_id, max(b.graph_id) OVER alike), 0) AS graph_id,
            nullif(coalesce(b.node_id, max(b.node_id) OVER alike), 0) AS node_id,
            b.op_id,
            b.parent_id,
            b.stack_id,
            bool_or(w.launch_id IS NOT NULL) OVER alike AS has_run,
            row_number() OVER (
                PARTITION BY
                    b.run, b.worker, b.span, b.capture_id,
                    coalesce(b.correlation_id, -b.event_id - 1)
                ORDER BY b.start_ns, b.event_id
            ) AS turn
        FROM _bounded AS b
        LEFT JOIN _ran AS w
            ON
                b.run = w.run AND b.worker = w.worker AND b.span = w.span
                AND b.event_id = w.launch_id
        WHERE
            b.capture_id >= 0 AND b.is_ended AND b.start_ns >= b.capture_ns
            AND NOT b.is_begin AND NOT b.is_end
        WINDOW alike AS (
            PARTITION BY
                b.run, b.worker, b.span, b.capture_id,
                coalesce(b.correlation_id, -b.event_id - 1)
        )
    ),

    _nodes AS MATERIALIZED (
        SELECT
            t.*,
            row_number() OVER (
                PARTITION BY t.run, t.worker, t.span, t.capture_id
                ORDER BY t.start_ns, t.event_id
            ) - 1 AS position
        FROM _together AS t
        WHERE t.turn = 1 AND NOT t.has_run
    ),

    _operators AS (
        SELECT DISTINCT n.run, n.worker, n.span, n.op_id AS inner_id, n.op_id AS id, 0 AS levels
        FROM _nodes AS n
        WHERE n.op_id IS NOT NULL
        UNION ALL
        SELECT o.run, o.worker, o.span, o.inner_id, h.parent_op_id, o.levels + 1
        FROM _operators AS o
        INNER JOIN host_events AS h
            ON
                o.run = h.run AND o.worker = h.worker AND o.span = h.span AND o.id = h.event_id
        WHERE h.parent_op_id IS NOT NULL
    ),

    _operators_of AS (
        SELECT
            o.run,
            o.worker,
            o.span,
            o.inner_id,
            list(o.id ORDER BY o.levels) AS operator_ids
        FROM _operators AS o
        INNER JOIN host_events AS h
            ON
                o.run = h.run AND o.worker = h.worker AND o.span = h.span AND o.id = h.event_id
        WHERE h.category = 'cpu_op'
        GROUP BY o.run, o.worker, o.span, o.inner_id
    ),

    _parents AS (
        SELECT DISTINCT
            n.run, n.worker, n.span, n.parent_id AS inner_id, n.parent_id AS id, 0 AS levels
        FROM _nodes AS n
        WHERE n.parent_id IS NOT NULL
        UNION ALL
        SELECT p.run, p.worker, p.span, p.inner_id, h.parent_id, p.levels + 1
        FROM _parents AS p
        INNER JOIN host_events AS h
            ON
                p.run = h.run AND p.worker = h.worker AND p.span = h.span AND p.id = h.event_id
        WHERE h.parent_id IS NOT NULL
    ),

    _modules_of AS (
        SELECT
            p.run,
            p.worker,
            p.span,
            p.inner_id,
            list(p.id ORDER BY p.levels) AS module_ids
        FROM _parents AS p
        INNER JOIN host_events AS h
            ON
                p.run = h.run AND p.worker = h.worker AND p.span = h.span AND p.id = h.event_id
        WHERE h.python_module_id IS NOT NULL
        GROUP BY p.run, p.worker, p.span, p.inner_id
    )

    SELECT
        n.run,
        n.worker,
        n.span,
        n.capture_id,
        n.position,
        n.event_id,
        n.name,
        n.graph_id,
        n.node_id,
        coalesce(o.operator_ids[1], n.op_id) AS op_id,
        coalesce(o.operator_ids, []) AS operator_ids,
        coalesce(m.module_ids, []) AS module_ids,
        n.stack_id
    FROM _nodes AS n
    LEFT JOIN _operators_of AS o
        ON n.run = o.run AND n.worker = o.worker AND n.span = o.span AND n.op_id = o.inner_id
    LEFT JOIN _modules_of AS m
        ON n.run = m.run AND n.worker = m.worker AND n.span = m.span AND n.parent_id = m.inner_id;
