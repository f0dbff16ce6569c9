-- block: replayed_costs
-- since: 0.1
-- summary: Device time of each captured operator call in each replay of its graph.
-- grain: one row per launch of a graph and captured call; one per launch inside an operator
-- uses: is_wanted, matched_replays
--
-- Name and shapes come from the capture, time from the replay. A replay is no call: it has no host time, and its start is
-- that of the launch. Work whose node is not known belongs to the operator alone, not to those around it.
--
-- The operator around the launch has all of the launch's device time as its own (see operator_costs). Its
-- row with replays 0 takes the attributed part away again, and leaves its total as it is. All operators around
-- the launch have its time in their totals already, so a captured call of the same name adds nothing to the total.
--
-- params
--   run, worker, span
-- columns
--   run, worker, span
--   launch_id             BIGINT     key  The call that launched the graph.
--   name                  VARCHAR    -    Name of the operator.
--   input_dims            JSON       -    As in operator_costs, like the next four.
--   call_stack            VARCHAR    -    As there.
--   input_types           VARCHAR[]  -    As there.
--   input_strides         JSON       -    As there.
--   concrete_inputs       VARCHAR[]  -    As there.
--   start_ns              BIGINT     ns   Start of the launch; for a row with replays 0, of the operator around it.
--   replays               BIGINT     -    1 for a captured call, 0 for the operator around the launch.
--   capture_run           VARCHAR    key  Run of the captured call; NULL for the operator around the launch.
--   capture_worker        VARCHAR    key  Worker of the captured call.
--   capture_span          VARCHAR    key  Span of the captured call.
--   operator_id           BIGINT     key  The operator in host_events, of the capture or of the replay.
--   pid                   VARCHAR    -    Process that called it.
--   tid                   VARCHAR    -    Thread that called it.
--   depth                 INTEGER    -    Number of events around it on its thread.
--   call_start_ns         BIGINT     ns   Start of the call when it was captured.
--   call_end_ns           BIGINT     ns   End of the call when it was captured.
--   device_self_ns        BIGINT     ns   Replayed work that it launched itself when it was captured.
--   device_total_ns       BIGINT     ns   The same, with the operators below it.
--   tensor_core_self_ns   BIGINT     ns   Part of device_self_ns in kernels that use tensor cores.
--   tensor_core_total_ns  BIGINT     ns   Part of device_total_ns in such kernels.
--   unknown_self_ns       BIGINT     ns   Part of device_self_ns in kernels whose names do not tell whether they use tensor cores.
--   unknown_total_ns      BIGINT     ns   Part of device_total_ns in such kernels.
--   tensor_core_eligible  BOOLEAN    -    Whether it or an operator below it can use tensor cores.
CREATE MACRO replayed_costs(
    run VARCHAR := NULL, worker VARCHAR := NULL, span VARCHAR := NULL
) AS TABLE
    WITH
    _summed AS MATERIALIZED (
        SELECT
            e.run,
            e.worker,
            e.span,
            e.launch_id,
            e.capture_run,
            e.capture_worker,
            e.capture_span,
            e.call_id,
            e.node IS NOT NULL AS is_node,
            sum(e.duration_ns) AS ns,
            sum(CASE WHEN e.uses_tensor_cores THEN e.duration_ns ELSE 0 END) AS tensor_core_ns,
            sum(CASE WHEN e.uses_tensor_cores IS NULL THEN e.duration_ns ELSE 0 END)
                AS unknown_ns
        FROM matched_replays(run, worker, span) AS e
        GROUP BY
            e.run, e.worker, e.span, e.launch_id, e.capture_run, e.capture_worker,
            e.capture_span, e.call_id, e.node IS NOT NULL
    ),

    _calls AS (
        SELECT DISTINCT
            s.capture_run AS run,
            s.capture_worker AS worker,
            s.capture_span AS span,
            s.call_id
        FROM _summed AS s
    ),

    _around AS (
        SELECT
            n.run,
            n.worker,
            n.span,
            n.event_id AS call_id,
            unnest(n.operator_ids) AS operator_id
        FROM graph_nodes AS n
        INNER JOIN _calls AS c
            ON
                n.run = c.run AND n.worker = c.worker AND n.span = c.span
                AND n.event_id = c.call_id
    ),

    -- An operator whose only child has the same name is one call with it: its row is the outer one.
    _operators AS MATERIALIZED (
        SELECT
            a.run,
            a.worker,
            a.span,
            a.call_id,
            a.operator_id,
            h.name,
            h.input_dims,
            h.call_stack,
            h.input_types,
            h.input_strides,
            h.concrete_inputs,
            h.pid,
            h.tid,
            h.depth,
            h.start_ns,
            h.start_ns + h.duration_ns AS end_ns,
            h.tensor_core_eligible,
            h.depth = max(h.depth) OVER (PARTITION BY a.run, a.worker, a.span, a.call_id)
                AS is_nearest
        FROM _around AS a
        INNER JOIN host_events AS h
            ON
                a.run = h.run AND a.worker = h.worker AND a.span = h.span
                AND a.operator_id = h.event_id
        WHERE h.inner_self_ns IS NOT NULL
    ),

    _launches AS (
        SELECT g.run, g.worker, g.span, g.event_id, g.start_ns, g.operator_ids
        FROM graphs AS g
        WHERE g.role = 'launch' AND is_wanted(g.run, g.worker, g.span, run, worker, span)
    ),

    _outer AS (
        SELECT
            l.run,
            l.worker,
            l.span,
            l.event_id AS launch_id,
            unnest(l.operator_ids) AS operator_id
        FROM _launches AS l
    ),

    _outer_calls AS (
        SELECT
            o.run,
            o.worker,
            o.span,
            o.launch_id,
            h.event_id,
            h.name,
            h.input_dims,
            h.call_stack,
            h.input_types,
            h.input_strides,
            h.concrete_inputs,
            h.pid,
            h.tid,
            h.depth,
            h.start_ns,
            h.start_ns + h.duration_ns AS end_ns,
            h.tensor_core_eligible,
            h.depth = max(h.depth) OVER (PARTITION BY o.run, o.worker, o.span, o.launch_id)
                AS is_nearest
        FROM _outer AS o
        INNER JOIN host_events AS h
            ON
                o.run = h.run AND o.worker = h.worker AND o.span = h.span
                AND o.operator_id = h.event_id
        WHERE h.inner_self_ns IS NOT NULL
    )

    SELECT
        s.run,
        s.worker,
        s.span,
        s.launch_id,
        o.name,
        o.input_dims,
        CASE WHEN s.is_node THEN o.call_stack END AS call_stack,
        o.input_types,
        CASE WHEN s.is_node THEN o.input_strides END AS input_strides,
        CASE WHEN s.is_node THEN o.concrete_inputs END AS concrete_inputs,
        l.start_ns,
        1::BIGINT AS replays,
        s.capture_run,
        s.capture_worker,
        s.capture_span,
        o.operator_id,
        o.pid,
        o.tid,
        o.depth,
        o.start_ns AS call_start_ns,
        o.end_ns AS call_end_ns,
        sum(CASE WHEN o.is_nearest THEN s.ns ELSE 0 END)::BIGINT AS device_self_ns,
        sum(CASE WHEN n.name IS NULL THEN s.ns ELSE 0 END)::BIGINT AS device_total_ns,
        sum(CASE WHEN o.is_nearest THEN s.tensor_core_ns ELSE 0 END)::BIGINT
            AS tensor_core_self_ns,
        sum(CASE WHEN n.name IS NULL THEN s.tensor_core_ns ELSE 0 END)::BIGINT
            AS tensor_core_total_ns,
        sum(CASE WHEN o.is_nearest THEN s.unknown_ns ELSE 0 END)::BIGINT AS unknown_self_ns,
        sum(CASE WHEN n.name IS NULL THEN s.unknown_ns ELSE 0 END)::BIGINT AS unknown_total_ns,
        o.tensor_core_eligible OR sum(s.tensor_core_ns) > 0 AS tensor_core_eligible
    FROM _summed AS s
    INNER JOIN _operators AS o
        ON
            s.capture_run = o.run AND s.capture_worker = o.worker AND s.capture_span = o.span
            AND s.call_id = o.call_id
    INNER JOIN _launches AS l
        ON
            s.run = l.run AND s.worker = l.worker AND s.span = l.span
            AND s.launch_id = l.event_id
    LEFT JOIN (
        SELECT DISTINCT c.run, c.worker, c.span, c.launch_id, c.name FROM _outer_calls AS c
    ) AS n
        ON
            s.run = n.run AND s.worker = n.worker AND s.span = n.span
            AND s.launch_id = n.launch_id AND o.name = n.name
    WHERE s.is_node OR o.is_nearest
    GROUP BY
        s.run, s.worker, s.span, s.launch_id, s.is_node, s.capture_run, s.capture_worker,
        s.capture_span, l.start_ns, o.operator_id, o.pid, o.tid, o.depth, o.start_ns, o.end_ns,
        o.name, o.input_dims, o.call_stack,
        o.input_types, o.input_strides, o.concrete_inputs, o.tensor_core_eligible
    UNION ALL
    SELECT
        c.run,
        c.worker,
        c.span,
        c.launch_id,
        c.name,
        c.input_dims,
        c.call_stack,
        c.input_types,
        c.input_strides,
        c.concrete_inputs,
        c.start_ns,
        0 AS replays,
        NULL AS capture_run,
        NULL AS capture_worker,
        NULL AS capture_span,
        c.event_id AS operator_id,
        c.pid,
        c.tid,
        c.depth,
        c.start_ns AS call_start_ns,
        c.end_ns AS call_end_ns,
        -s.ns,
        0,
        -s.tensor_core_ns,
        0,
        -s.unknown_ns,
        0,
        c.tensor_core_eligible
    FROM _outer_calls AS c
    INNER JOIN (
        SELECT
            t.run,
            t.worker,
            t.span,
            t.launch_id,
            sum(t.ns)::BIGINT AS ns,
            sum(t.tensor_core_ns)::BIGINT AS tensor_core_ns,
            sum(t.unknown_ns)::BIGINT AS unknown_ns
        FROM _summed AS t
        GROUP BY t.run, t.worker, t.span, t.launch_id
    ) AS s
        ON
            c.run = s.run AND c.worker = s.worker AND c.span = s.span
            AND c.launch_id = s.launch_id
    WHERE c.is_nearest;
