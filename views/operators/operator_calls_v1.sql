-- view: operator_calls
-- version: 1
-- since: 0.1
-- summary: Each call of an operator with its time on host and device, the costliest first.
-- distributes: trace
-- order: device_total_us DESC, duration_us DESC, run, worker, span, start_ns, event_id
-- needs: no_operators
-- uses: first_id, is_wanted, operator_costs, trace_names
-- example: samples --run resnet_workers_0 --span 1 --op aten::convolution_backward --limit 6
-- reading: The shapes tell the convolutions apart. Self and total time are close: the time is in the operator itself, not in what it calls.
--
-- The single calls that operator_stats sums up, by the same rules. An operator whose only child is an
-- operator of the same name forms one call with it. Device time is a plain sum. A launch belongs to the
-- nearest operator around it. A call belongs to the step in which it starts, on any thread; steps are
-- as recorded, not extended.
--
-- A value of op with a % in it is a pattern: % matches any text and _ any character. Any other value is
-- an exact name.
--
-- params
--   name  type     unit  default  meaning
--   run, worker, span
--   op    VARCHAR  -     NULL     Name of an operator, or a pattern with %, e.g. 'aten::conv%'; NULL reports all.
-- columns
--   name             type     unit  meaning
--   run, worker, span
--   event_id         BIGINT   key   Row of the call in host_events, the outermost if it has several.
--   name             VARCHAR  -     Name of the operator.
--   input_dims       JSON     -     Shape of each input; NULL where not recorded.
--   step             BIGINT   -     Number of the step in which it starts; NULL outside of steps.
--   start_ns         BIGINT   ns    When it started, nanoseconds since the epoch.
--   duration_us      DOUBLE   us    Host time from start to end.
--   host_self_us     DOUBLE   us    Host time of the operator itself.
--   device_self_us   DOUBLE   us    Device work that it launched itself; NULL where the trace does not link device work to operators.
--   device_total_us  DOUBLE   us    The same, with the operators below it.
--   parent_name      VARCHAR  -     The operator or annotation directly around it; NULL at the top.
--   top_level_op     VARCHAR  -     The outermost operator around it, or the operator itself if there is none.
--   kernels          BIGINT   -     Number of kernels that it launched itself; NULL if device_self_us is NULL.
CREATE MACRO operator_calls_v1(
    run VARCHAR := NULL,
    worker VARCHAR := NULL,
    span VARCHAR := NULL,
    op VARCHAR := NULL
) AS TABLE
    WITH RECURSIVE
    host AS MATERIALIZED (
        SELECT
            first_id(t.names, h.run, h.worker, h.span) AS first_id,
            h.event_id,
            h.parent_op_id,
            h.category = 'cpu_op' AS is_operator,
            h.inner_self_ns IS NOT NULL AS is_call,
            h.name
        FROM host_events AS h
        CROSS JOIN trace_names(run, worker, span) AS t
        WHERE
            h.category IN ('cpu_op', 'user_annotation')
            AND is_wanted(h.run, h.worker, h.span, run, worker, span)
    ),

    nodes AS MATERIALIZED (
        SELECT
            h.first_id + h.event_id AS id,
            h.first_id + h.parent_op_id AS parent_id,
            CASE WHEN h.is_operator THEN h.name END AS operator,
            CASE WHEN h.is_call THEN h.first_id + h.event_id END AS call_id,
            h.name
        FROM host AS h
    ),

    -- Top down, so that each node is visited once.
    tree AS (
        SELECT
            n.id,
            n.name,
            NULL::VARCHAR AS parent_name,
            n.operator AS top_level_op,
            n.call_id
        FROM nodes AS n
        WHERE n.parent_id IS NULL
        UNION ALL
        SELECT
            n.id,
            n.name,
            t.name AS parent_name,
            coalesce(t.top_level_op, n.operator) AS top_level_op,
            coalesce(n.call_id, t.call_id) AS call_id
        FROM tree AS t
        INNER JOIN nodes AS n ON t.id = n.parent_id
    ),

    calls AS (
        SELECT
            c.run,
            c.worker,
            c.span,
            c.event_id,
            first_id(t.names, c.run, c.worker, c.span) AS first_id,
            c.name,
            c.input_dims,
            c.start_ns,
            c.host_total_ns,
            c.host_self_ns,
            c.device_self_ns,
            c.device_total_ns
        FROM operator_costs(run, worker, span) AS c
        CROSS JOIN trace_names(run, worker, span) AS t
        WHERE op IS NULL OR CASE WHEN contains(op, '%') THEN c.name LIKE op ELSE c.name = op END
    ),

    numbered_steps AS (
        SELECT
            first_id(t.names, s.run, s.worker, s.span) AS first_id,
            s.step,
            s.start_ns,
            s.end_ns
        FROM steps AS s
        CROSS JOIN trace_names(run, worker, span) AS t
    ),

    launched AS (
        SELECT
            t.call_id,
            count(*) AS kernels
        FROM (
            SELECT
                first_id(n.names, d.run, d.worker, d.span) + d.op_id AS op_id
            FROM device_events AS d
            CROSS JOIN trace_names(run, worker, span) AS n
            WHERE
                d.kind IN ('compute', 'communication') AND d.op_id IS NOT NULL
                AND is_wanted(d.run, d.worker, d.span, run, worker, span)
        ) AS d
        INNER JOIN tree AS t ON d.op_id = t.id
        GROUP BY t.call_id
    )

    SELECT
        c.run,
        c.worker,
        c.span,
        c.event_id,
        c.name,
        c.input_dims,
        CASE WHEN c.start_ns < s.end_ns THEN s.step END AS step,
        c.start_ns,
        c.host_total_ns / 1000.0 AS duration_us,
        c.host_self_ns / 1000.0 AS host_self_us,
        c.device_self_ns / 1000.0 AS device_self_us,
        c.device_total_ns / 1000.0 AS device_total_us,
        t.parent_name,
        t.top_level_op,
        CASE WHEN c.device_self_ns IS NOT NULL THEN coalesce(l.kernels, 0) END AS kernels
    FROM calls AS c
    INNER JOIN tree AS t ON c.first_id + c.event_id = t.id
    LEFT JOIN launched AS l ON t.id = l.call_id
    ASOF LEFT JOIN numbered_steps AS s ON c.first_id = s.first_id AND c.start_ns >= s.start_ns
    ORDER BY
        c.device_total_ns DESC NULLS LAST,
        c.host_total_ns DESC,
        c.run ASC, c.worker ASC, c.span ASC, c.start_ns ASC, c.event_id ASC;
