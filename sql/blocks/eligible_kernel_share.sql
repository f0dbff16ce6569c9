-- block: eligible_kernel_share
-- since: 0.1
-- summary: Share of the operators' kernel time that operators launched which can use tensor cores.
-- grain: one row per trace whose operators launched kernels
-- uses: is_wanted, percentage
--
-- Only the innermost of such operators count, without what they call: of aten::linear, aten::addmm and
-- the operators below, aten::addmm. A kernel belongs to the nearest operator around its launch.
--
-- params
--   run, worker, span
-- columns
--   run, worker, span
--   share_pct          DOUBLE   pct  Kernel time that they launched, as a share of that of all operators.
--   uses_tensor_cores  BOOLEAN  -    Whether a kernel of the trace used tensor cores; NULL if none is known to and the name of at least one does not tell.
CREATE MACRO eligible_kernel_share(
    run VARCHAR := NULL, worker VARCHAR := NULL, span VARCHAR := NULL
) AS TABLE
    WITH RECURSIVE
    _kernels AS MATERIALIZED (
        SELECT
            d.run,
            d.worker,
            d.span,
            d.op_id,
            sum(d.duration_ns) AS kernel_ns,
            bool_or(d.uses_tensor_cores) AS uses_tensor_cores,
            bool_or(d.uses_tensor_cores IS NULL AND d.category = 'kernel') AS is_unknown
        FROM device_events AS d
        WHERE
            d.kind IN ('compute', 'communication')
            AND is_wanted(d.run, d.worker, d.span, run, worker, span)
        GROUP BY d.run, d.worker, d.span, d.op_id
    ),

    _traces AS MATERIALIZED (
        SELECT
            k.run,
            k.worker,
            k.span,
            CASE
                WHEN bool_or(k.uses_tensor_cores) THEN TRUE
                WHEN NOT bool_or(k.is_unknown) THEN FALSE
            END AS uses_tensor_cores,
            row_number() OVER () << 40 AS first_id
        FROM _kernels AS k
        GROUP BY k.run, k.worker, k.span
    ),

    _nodes AS MATERIALIZED (
        SELECT
            t.first_id + h.event_id AS id,
            t.first_id + h.parent_op_id AS parent_id,
            h.inner_self_ns IS NOT NULL AS is_call,
            h.tensor_core_eligible AS is_eligible
        FROM host_events AS h
        INNER JOIN _traces AS t ON h.run = t.run AND h.worker = t.worker AND h.span = t.span
        WHERE
            h.category IN ('cpu_op', 'user_annotation')
            AND is_wanted(h.run, h.worker, h.span, run, worker, span)
    ),

    -- Kernel time, and the name of an eligible operator inside (if any), on the way up to a call.
    _climbing AS (
        SELECT t.first_id, t.first_id + k.op_id AS id, k.kernel_ns
        FROM _kernels AS k
        INNER JOIN _traces AS t ON k.run = t.run AND k.worker = t.worker AND k.span = t.span
        WHERE k.op_id IS NOT NULL
        UNION ALL
        SELECT n.id >> 40 << 40, n.parent_id, NULL
        FROM _nodes AS n
        WHERE n.is_eligible AND n.parent_id IS NOT NULL
        UNION ALL
        SELECT c.first_id, n.parent_id, c.kernel_ns
        FROM _climbing AS c
        INNER JOIN _nodes AS n ON c.id = n.id
        WHERE NOT n.is_call AND n.parent_id IS NOT NULL
    ),

    _calls AS (
        SELECT
            c.first_id,
            sum(c.kernel_ns) AS kernel_ns,
            n.is_eligible AND bool_and(c.kernel_ns IS NOT NULL) AS is_innermost
        FROM _climbing AS c
        INNER JOIN _nodes AS n ON c.id = n.id
        WHERE n.is_call
        GROUP BY c.first_id, c.id, n.is_eligible
    )

    SELECT
        t.run,
        t.worker,
        t.span,
        percentage(coalesce(sum(c.kernel_ns) FILTER (WHERE c.is_innermost), 0), sum(c.kernel_ns))
            AS share_pct,
        t.uses_tensor_cores
    FROM _calls AS c
    INNER JOIN _traces AS t ON c.first_id = t.first_id
    GROUP BY t.run, t.worker, t.span, t.uses_tensor_cores;
