-- block: operator_costs
-- since: 0.1
-- summary: What each call of an operator cost on the host and on the device.
-- grain: one row per cpu_op call, a chain of only-children of the same name being one call
-- uses: tensor_core_operators
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
    -- Event ids are unique within a trace. One number that is unique everywhere makes every join
    -- below three times as fast as one over (run, worker, span, event_id).
    _traces AS MATERIALIZED (
        SELECT d.run, d.worker, d.span, row_number() OVER () << 40 AS first_id
        FROM (
            SELECT DISTINCT h.run, h.worker, h.span
            FROM host_events AS h
            WHERE
                (run IS NULL OR h.run = run)
                AND (worker IS NULL OR h.worker = worker)
                AND (span IS NULL OR h.span = span)
        ) AS d
    ),

    _nodes AS MATERIALIZED (
        SELECT
            t.first_id + h.event_id AS id,
            t.first_id + h.parent_op_id AS parent_id,
            h.category = 'cpu_op' AS is_operator,
            h.name,
            h.self_duration_ns
        FROM host_events AS h
        INNER JOIN _traces AS t ON h.run = t.run AND h.worker = t.worker AND h.span = t.span
        WHERE h.category IN ('cpu_op', 'user_annotation')
    ),

    _namesakes AS (
        SELECT c.id, c.parent_id, c.self_duration_ns
        FROM _nodes AS c
        INNER JOIN _nodes AS p ON c.parent_id = p.id AND c.name = p.name
        WHERE c.is_operator AND p.is_operator
    ),

    -- The inner rows of chains.
    _merged AS MATERIALIZED (
        SELECT
            n.parent_id,
            min(n.id) AS id,
            min(n.self_duration_ns) AS self_duration_ns
        FROM _namesakes AS n
        INNER JOIN _nodes AS sibling ON n.parent_id = sibling.parent_id
        GROUP BY n.parent_id
        HAVING count(*) = 1
    ),

    _launched AS MATERIALIZED (
        SELECT
            t.first_id + d.op_id AS id,
            sum(d.duration_ns)::BIGINT AS device_ns,
            coalesce(sum(d.duration_ns) FILTER (WHERE d.uses_tensor_cores), 0)::BIGINT
                AS tensor_core_ns
        FROM device_events AS d
        INNER JOIN _traces AS t ON d.run = t.run AND d.worker = t.worker AND d.span = t.span
        WHERE
            d.op_id IS NOT NULL
            AND d.kind IN ('compute', 'communication', 'memcpy', 'memset')
        GROUP BY t.first_id + d.op_id
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

    -- Traces that link no device work to operators cannot say what an operator cost there.
    _linked AS (
        SELECT DISTINCT l.id >> 40 << 40 AS first_id
        FROM _launched AS l
    )

    SELECT
        h.run,
        h.worker,
        h.span,
        h.event_id,
        h.name,
        h.input_dims,
        h.call_stack,
        h.start_ns,
        h.self_duration_ns + coalesce(s.host_ns, 0) AS host_self_ns,
        h.duration_ns AS host_total_ns,
        CASE WHEN k.first_id IS NOT NULL THEN coalesce(s.device_self_ns, 0) END AS device_self_ns,
        CASE WHEN k.first_id IS NOT NULL THEN coalesce(s.device_total_ns, 0) END AS device_total_ns,
        CASE WHEN k.first_id IS NOT NULL THEN coalesce(s.tensor_core_self_ns, 0) END
            AS tensor_core_self_ns,
        CASE WHEN k.first_id IS NOT NULL THEN coalesce(s.tensor_core_total_ns, 0) END
            AS tensor_core_total_ns,
        coalesce(s.is_eligible, FALSE) AS tensor_core_eligible
    FROM host_events AS h
    INNER JOIN _traces AS t ON h.run = t.run AND h.worker = t.worker AND h.span = t.span
    LEFT JOIN _linked AS k ON t.first_id = k.first_id
    LEFT JOIN _sums AS s ON t.first_id + h.event_id = s.id
    WHERE
        h.category = 'cpu_op'
        AND NOT EXISTS (FROM _merged AS m WHERE m.id = t.first_id + h.event_id);
