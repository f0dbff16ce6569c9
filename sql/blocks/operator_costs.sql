-- block: operator_costs
-- since: 0.1
-- summary: What each call of an operator cost on the host and on the device.
-- grain: one row per cpu_op call, a chain of only-children of the same name being one call
-- uses: tensor_core_operators trace_names
--
-- An operator whose only child is an operator of the same name is one call with it: the outer
-- row stands for both, with the outer's length and with what either of them did.
--
-- Host self time is the length of the call without the operators, annotations, runtime and driver
-- calls inside it. Device time is the plain sum of the kernels, copies and sets that were
-- launched, without regard to overlap; synchronisations are not work and are left out. A launch
-- belongs to the nearest operator around it: an annotation in between does not take it, as the
-- profiler's own links do not.
--
-- params
--   run, worker, span
-- columns
--   run, worker, span
--   name                   type     unit  meaning
--   event_id               BIGINT   key   The (outermost) row of the call in host_events.
--   name                   VARCHAR  -     Name of the operator.
--   input_dims             JSON     -     Shape of each input of the outermost row.
--   call_stack             VARCHAR  -     Python frames of the outermost row, innermost first.
--   start_ns               BIGINT   ns    Start of the call.
--   host_self_ns           BIGINT   ns    Length without anything named that ran inside it.
--   host_total_ns          BIGINT   ns    Length of the call.
--   device_self_ns         BIGINT   ns    Device work that it launched itself; NULL where the trace links none.
--   device_total_ns        BIGINT   ns    The same, with everything below it.
--   tensor_core_self_ns    BIGINT   ns    The part of device_self_ns in kernels that use tensor cores.
--   tensor_core_total_ns   BIGINT   ns    The part of device_total_ns in such kernels.
--   tensor_core_eligible   BOOLEAN  -     Whether it or an operator below it can use tensor cores.
CREATE MACRO operator_costs(
    run VARCHAR := NULL, worker VARCHAR := NULL, span VARCHAR := NULL
) AS TABLE
    WITH RECURSIVE
    _traces AS MATERIALIZED (
        SELECT n.names
        FROM trace_names(run, worker, span) AS n
    ),

    _nodes AS MATERIALIZED (
        SELECT
            r.first_id + r.event_id AS id,
            r.first_id + r.parent_op_id AS parent_id,
            r.is_operator,
            r.name,
            r.self_duration_ns
        FROM (
            SELECT
                list_position(t.names, h.run || chr(0) || h.worker || chr(0) || h.span)
                * (1::BIGINT << 40) AS first_id,
                h.event_id,
                h.parent_op_id,
                h.category = 'cpu_op' AS is_operator,
                h.name,
                h.self_duration_ns
            FROM host_events AS h
            CROSS JOIN _traces AS t
            WHERE
                h.category IN ('cpu_op', 'user_annotation')
                AND (run IS NULL OR h.run = run)
                AND (worker IS NULL OR h.worker = worker)
                AND (span IS NULL OR h.span = span)
        ) AS r
    ),

    _namesakes AS (
        SELECT c.id, c.parent_id, c.self_duration_ns
        FROM _nodes AS c
        INNER JOIN _nodes AS p ON c.parent_id = p.id AND c.name = p.name
        WHERE c.is_operator AND p.is_operator
    ),

    _only_children AS (
        SELECT c.parent_id
        FROM _nodes AS c
        SEMI JOIN _namesakes AS n ON c.parent_id = n.parent_id
        GROUP BY c.parent_id
        HAVING count(*) = 1
    ),

    -- The inner rows of chains.
    _merged AS MATERIALIZED (
        SELECT n.parent_id, n.id, n.self_duration_ns
        FROM _namesakes AS n
        SEMI JOIN _only_children AS o ON n.parent_id = o.parent_id
    ),

    _launched AS MATERIALIZED (
        SELECT
            l.id,
            sum(l.duration_ns)::BIGINT AS device_ns,
            coalesce(sum(l.duration_ns) FILTER (WHERE l.uses_tensor_cores), 0)::BIGINT
                AS tensor_core_ns
        FROM (
            SELECT
                list_position(t.names, d.run || chr(0) || d.worker || chr(0) || d.span)
                * (1::BIGINT << 40) + d.op_id AS id,
                d.duration_ns,
                d.uses_tensor_cores
            FROM device_events AS d
            CROSS JOIN _traces AS t
            WHERE
                d.op_id IS NOT NULL
                AND d.kind IN ('compute', 'communication', 'memcpy', 'memset')
                AND (run IS NULL OR d.run = run)
                AND (worker IS NULL OR d.worker = worker)
                AND (span IS NULL OR d.span = span)
        ) AS l
        GROUP BY l.id
    ),

    -- Every cost walks up to the root, merged with its siblings on the way. It stays the own
    -- cost of what it meets until it leaves an operator for good.
    _walk AS (
        SELECT
            l.id,
            TRUE AS is_own,
            0::BIGINT AS host_ns,
            l.device_ns,
            l.tensor_core_ns,
            l.tensor_core_ns > 0 AS is_eligible
        FROM _launched AS l
        UNION ALL
        SELECT m.parent_id, TRUE, m.self_duration_ns, 0::BIGINT, 0::BIGINT, FALSE
        FROM _merged AS m
        UNION ALL
        SELECT n.id, TRUE, 0::BIGINT, 0::BIGINT, 0::BIGINT, TRUE
        FROM _nodes AS n
        WHERE n.is_operator AND n.name IN (SELECT o.name FROM tensor_core_operators() AS o)
        UNION ALL
        SELECT
            n.parent_id,
            w.is_own AND (NOT n.is_operator OR m.id IS NOT NULL),
            sum(w.host_ns)::BIGINT,
            sum(w.device_ns)::BIGINT,
            sum(w.tensor_core_ns)::BIGINT,
            bool_or(w.is_eligible)
        FROM _walk AS w
        INNER JOIN _nodes AS n ON w.id = n.id
        LEFT JOIN _merged AS m ON n.id = m.id
        WHERE n.parent_id IS NOT NULL
        GROUP BY ALL
    ),

    _sums AS (
        SELECT
            w.id,
            coalesce(sum(w.host_ns) FILTER (WHERE w.is_own), 0)::BIGINT AS host_ns,
            coalesce(sum(w.device_ns) FILTER (WHERE w.is_own), 0)::BIGINT AS device_self_ns,
            sum(w.device_ns)::BIGINT AS device_total_ns,
            coalesce(sum(w.tensor_core_ns) FILTER (WHERE w.is_own), 0)::BIGINT
                AS tensor_core_self_ns,
            sum(w.tensor_core_ns)::BIGINT AS tensor_core_total_ns,
            bool_or(w.is_eligible) AS is_eligible
        FROM _walk AS w
        GROUP BY w.id
    ),

    _calls AS (
        SELECT
            list_position(t.names, h.run || chr(0) || h.worker || chr(0) || h.span)
            * (1::BIGINT << 40) + h.event_id AS id,
            h.run,
            h.worker,
            h.span,
            h.event_id,
            h.name,
            h.input_dims,
            h.call_stack,
            h.start_ns,
            h.duration_ns,
            h.self_duration_ns
        FROM host_events AS h
        CROSS JOIN _traces AS t
        WHERE
            h.category = 'cpu_op'
            AND (run IS NULL OR h.run = run)
            AND (worker IS NULL OR h.worker = worker)
            AND (span IS NULL OR h.span = span)
    ),

    -- Traces that link no device work to operators cannot say what an operator cost there.
    _linked AS (
        SELECT DISTINCT l.id >> 40 AS trace
        FROM _launched AS l
    )

    SELECT
        c.run,
        c.worker,
        c.span,
        c.event_id,
        c.name,
        c.input_dims,
        c.call_stack,
        c.start_ns,
        c.self_duration_ns + coalesce(s.host_ns, 0) AS host_self_ns,
        c.duration_ns AS host_total_ns,
        CASE WHEN k.trace IS NOT NULL THEN coalesce(s.device_self_ns, 0) END AS device_self_ns,
        CASE WHEN k.trace IS NOT NULL THEN coalesce(s.device_total_ns, 0) END AS device_total_ns,
        CASE WHEN k.trace IS NOT NULL THEN coalesce(s.tensor_core_self_ns, 0) END
            AS tensor_core_self_ns,
        CASE WHEN k.trace IS NOT NULL THEN coalesce(s.tensor_core_total_ns, 0) END
            AS tensor_core_total_ns,
        coalesce(s.is_eligible, FALSE) AS tensor_core_eligible
    FROM _calls AS c
    ANTI JOIN _merged AS m ON c.id = m.id
    LEFT JOIN _linked AS k ON c.id >> 40 = k.trace
    LEFT JOIN _sums AS s ON c.id = s.id;
