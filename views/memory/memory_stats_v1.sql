-- view: memory_stats
-- version: 1
-- since: 0.1
-- summary: Memory that each operator allocated and released on each device, by itself and with what it calls.
-- distributes: trace
-- order: self_size_increase_bytes DESC, size_increase_bytes DESC, run, worker, span, device, operator
-- needs: no_memory
-- uses: first_id, is_wanted, trace_names
-- example: samples --run resnet_workers_0 --span 1 --limit 6
-- reading: Most memory is allocated in aten::empty. Its callers have these bytes in their totals only, and are listed further down.
--
-- A memory record belongs to the nearest operator around it on its thread, even if an annotation or a
-- Python frame is in between. It counts in the totals of every call around that operator. The increase is
-- the allocated bytes minus the released bytes. Most blocks are released outside of operators, when Python
-- drops the last reference. All records outside of operators are one row with a NULL name, so the self
-- figures add up to everything that was recorded. An operator that neither allocated nor released has no
-- row.
--
-- An operator whose only child is an operator of the same name forms one call with it. calls counts all
-- calls of the operator, or those that overlap the range, also calls that did not touch the device.
--
-- params
--   name     type     unit  default  meaning
--   run, worker, span
--   device   VARCHAR  -     NULL     Device as in the column, e.g. 'cpu' or 'cuda:0'; NULL reports all.
--   from_ns  BIGINT   ns    NULL     Start of the range of records, nanoseconds since the epoch; NULL is the start of the trace.
--   to_ns    BIGINT   ns    NULL     End of the range, included; NULL is the end of the trace.
-- columns
--   name                      type     unit   meaning
--   run, worker, span
--   device                    VARCHAR  key    Type of the device, with its number if it has one: 'cpu', 'cuda:0', 'hip:1'.
--   operator                  VARCHAR  key    Name of the operator; NULL for records outside of operators.
--   calls                     BIGINT   -      Number of calls; NULL for records outside of operators.
--   size_increase_bytes       BIGINT   bytes  Allocated minus released bytes, by the operator and everything it calls.
--   self_size_increase_bytes  BIGINT   bytes  Allocated minus released bytes, by the operator itself.
--   allocations               BIGINT   -      Number of blocks allocated, by the operator and everything it calls.
--   self_allocations          BIGINT   -      Number of blocks allocated, by the operator itself.
--   allocated_bytes           BIGINT   bytes  Total size of the blocks allocated, by the operator and everything it calls.
--   self_allocated_bytes      BIGINT   bytes  Total size of the blocks allocated, by the operator itself.
CREATE MACRO memory_stats_v1(
    run VARCHAR := NULL,
    worker VARCHAR := NULL,
    span VARCHAR := NULL,
    device VARCHAR := NULL,
    from_ns BIGINT := NULL,
    to_ns BIGINT := NULL
) AS TABLE
    WITH RECURSIVE
    records AS MATERIALIZED (
        SELECT
            m.run,
            m.worker,
            m.span,
            concat_ws(':', m.device_type, m.device_id) AS device,
            first_id(t.names, m.run, m.worker, m.span) + m.op_id AS id,
            sum(m.bytes) AS size_increase_bytes,
            count(*) FILTER (WHERE m.bytes > 0) AS allocations,
            sum(greatest(m.bytes, 0)) AS allocated_bytes
        FROM memory_records AS m
        CROSS JOIN trace_names(run, worker, span) AS t
        WHERE
            m.bytes <> 0
            AND is_wanted(m.run, m.worker, m.span, run, worker, span)
            AND (device IS NULL OR concat_ws(':', m.device_type, m.device_id) = device)
            AND (from_ns IS NULL OR m.time_ns >= from_ns)
            AND (to_ns IS NULL OR m.time_ns <= to_ns)
        GROUP BY ALL
    ),

    nodes AS MATERIALIZED (
        SELECT
            r.run,
            r.worker,
            r.span,
            r.first_id + r.event_id AS id,
            r.first_id + r.parent_op_id AS parent_id,
            r.name,
            r.start_ns,
            r.start_ns + r.duration_ns AS end_ns,
            r.is_operator,
            r.is_call
        FROM (
            SELECT
                h.run,
                h.worker,
                h.span,
                first_id(t.names, h.run, h.worker, h.span) AS first_id,
                h.event_id,
                h.parent_op_id,
                h.name,
                h.start_ns,
                h.duration_ns,
                h.category = 'cpu_op' AS is_operator,
                h.inner_self_ns IS NOT NULL AS is_call
            FROM host_events AS h
            CROSS JOIN trace_names(run, worker, span) AS t
            WHERE
                h.category IN ('cpu_op', 'user_annotation')
                AND is_wanted(h.run, h.worker, h.span, run, worker, span)
        ) AS r
    ),

    -- Each record at every event around it. It counts as own record of each event up to the first
    -- operator.
    around AS (
        SELECT
            r.*,
            TRUE AS is_own
        FROM records AS r
        UNION ALL
        SELECT
            a.run,
            a.worker,
            a.span,
            a.device,
            n.parent_id,
            a.size_increase_bytes,
            a.allocations,
            a.allocated_bytes,
            a.is_own AND NOT n.is_operator
        FROM around AS a
        INNER JOIN nodes AS n ON a.id = n.id
        WHERE n.parent_id IS NOT NULL OR (a.is_own AND NOT n.is_operator)
    ),

    sums AS (
        SELECT
            a.run,
            a.worker,
            a.span,
            a.device,
            n.name AS operator,
            sum(a.size_increase_bytes) FILTER (WHERE n.is_call OR a.id IS NULL)
                AS size_increase_bytes,
            coalesce(sum(a.size_increase_bytes) FILTER (WHERE a.is_own), 0)
                AS self_size_increase_bytes,
            sum(a.allocations) FILTER (WHERE n.is_call OR a.id IS NULL) AS allocations,
            coalesce(sum(a.allocations) FILTER (WHERE a.is_own), 0) AS self_allocations,
            sum(a.allocated_bytes) FILTER (WHERE n.is_call OR a.id IS NULL) AS allocated_bytes,
            coalesce(sum(a.allocated_bytes) FILTER (WHERE a.is_own), 0) AS self_allocated_bytes
        FROM around AS a
        LEFT JOIN nodes AS n ON a.id = n.id
        WHERE n.is_operator OR a.id IS NULL
        GROUP BY a.run, a.worker, a.span, a.device, n.name
    ),

    counted AS (
        SELECT n.run, n.worker, n.span, n.name, count(*) AS calls
        FROM nodes AS n
        WHERE
            n.is_call
            AND (from_ns IS NULL OR n.end_ns >= from_ns)
            AND (to_ns IS NULL OR n.start_ns <= to_ns)
        GROUP BY n.run, n.worker, n.span, n.name
    )

    SELECT
        s.run,
        s.worker,
        s.span,
        s.device,
        s.operator,
        c.calls,
        s.size_increase_bytes::BIGINT AS size_increase_bytes,
        s.self_size_increase_bytes::BIGINT AS self_size_increase_bytes,
        s.allocations::BIGINT AS allocations,
        s.self_allocations::BIGINT AS self_allocations,
        s.allocated_bytes::BIGINT AS allocated_bytes,
        s.self_allocated_bytes::BIGINT AS self_allocated_bytes
    FROM sums AS s
    LEFT JOIN counted AS c
        ON s.run = c.run AND s.worker = c.worker AND s.span = c.span AND s.operator = c.name
    ORDER BY
        s.self_size_increase_bytes DESC,
        s.size_increase_bytes DESC,
        s.run ASC, s.worker ASC, s.span ASC, s.device ASC, s.operator ASC;
