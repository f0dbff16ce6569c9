-- block: replayed_stacks
-- since: 0.1
-- summary: Call stacks that captured the replayed device events, for flame graphs.
-- grain: one row per launch of a graph, stack and name of a kernel
-- uses: matched_replays
--
-- A stack begins below the events that were open around the capture of its graph. If only the operator is
-- known, it is the stack.
--
-- params
--   run, worker, span
-- columns
--   run, worker, span
--   launch_id    BIGINT   key  The call that launched the graph.
--   stack        VARCHAR  key  Names from the outermost to the innermost, separated by ';'; in names, a ';' becomes ','.
--   name         VARCHAR  key  Name of the kernel, copy or memset.
--   duration_ns  BIGINT   ns   Sum of the durations.
CREATE MACRO replayed_stacks(
    run VARCHAR := NULL, worker VARCHAR := NULL, span VARCHAR := NULL
) AS TABLE
    WITH RECURSIVE
    _events AS MATERIALIZED (
        SELECT e.*, n.stack_id
        FROM matched_replays(run, worker, span) AS e
        INNER JOIN graph_nodes AS n
            ON
                e.capture_run = n.run AND e.capture_worker = n.worker
                AND e.capture_span = n.span AND e.call_id = n.event_id
    ),

    _begins AS (
        SELECT DISTINCT h.run, h.worker, h.span, h.stack_id
        FROM host_events AS h
        INNER JOIN (
            SELECT DISTINCT e.capture_run, e.capture_worker, e.capture_span, e.capture_id
            FROM _events AS e
        ) AS c
            ON
                h.run = c.capture_run AND h.worker = c.capture_worker
                AND h.span = c.capture_span AND h.event_id = c.capture_id
    ),

    _outside AS (
        SELECT b.run, b.worker, b.span, b.stack_id
        FROM _begins AS b
        UNION
        SELECT o.run, o.worker, o.span, s.outer_stack_id
        FROM _outside AS o
        INNER JOIN stacks AS s
            ON
                o.run = s.run AND o.worker = s.worker AND o.span = s.span
                AND o.stack_id = s.stack_id
        WHERE s.outer_stack_id IS NOT NULL
    ),

    _paths AS (
        SELECT DISTINCT
            e.capture_run AS run,
            e.capture_worker AS worker,
            e.capture_span AS span,
            e.stack_id,
            e.stack_id AS next_id,
            NULL::VARCHAR AS stack,
            FALSE AS is_done
        FROM _events AS e
        WHERE e.node IS NOT NULL
        UNION ALL
        SELECT
            p.run,
            p.worker,
            p.span,
            p.stack_id,
            s.outer_stack_id,
            concat_ws(';', translate(s.name, ';' || chr(10), ', '), p.stack),
            s.outer_stack_id IS NULL OR o.stack_id IS NOT NULL
        FROM _paths AS p
        INNER JOIN stacks AS s
            ON
                p.run = s.run AND p.worker = s.worker AND p.span = s.span
                AND p.next_id = s.stack_id
        LEFT JOIN _outside AS o
            ON
                s.run = o.run AND s.worker = o.worker AND s.span = o.span
                AND s.outer_stack_id = o.stack_id
        WHERE NOT p.is_done
    )

    SELECT
        e.run,
        e.worker,
        e.span,
        e.launch_id,
        coalesce(p.stack, translate(e.operator, ';' || chr(10), ', ')) AS stack,
        d.name,
        sum(e.duration_ns)::BIGINT AS duration_ns
    FROM _events AS e
    INNER JOIN device_events AS d
        ON e.run = d.run AND e.worker = d.worker AND e.span = d.span AND e.event_id = d.event_id
    LEFT JOIN _paths AS p
        ON
            e.node IS NOT NULL AND e.capture_run = p.run AND e.capture_worker = p.worker
            AND e.capture_span = p.span AND e.stack_id = p.stack_id AND p.is_done
    GROUP BY e.run, e.worker, e.span, e.launch_id, p.stack, e.operator, d.name;
