-- view: memory_events
-- version: 1
-- since: 0.1
-- summary: Each block of memory: the operator that allocated it, its size, and when it was allocated and released.
-- distributes: trace
-- order: size_bytes DESC, run, worker, span, device, coalesce(allocated_ns, released_ns), address
-- needs: no_memory
-- empty: The memory records have no addresses; torch records them since 1.10. memory_stats needs none.
-- uses: first_id, is_wanted, operator_names, trace_names
-- example: samples --run resnet_workers_0 --span 1 --limit 6
-- reading: The largest blocks are outputs of layers. The third, of a relu, lives until the backward pass has used it.
--
-- On each device, the records of one address are paired in order of time. An allocation (bytes above 0)
-- is paired with the next record if that is a release (bytes of 0 or less). If the next record is another
-- allocation of the same address, the row has no release. Traces recorded before torch 1.10 have no
-- addresses; nothing can be paired, so there are no rows.
--
-- With from_ns or to_ns, a block is listed if its allocation or its release lies inside the range, both
-- ends included; the one outside is NULL. The operator comes from the allocation, wherever that lies: it
-- is the nearest operator around it, or the nearest annotation if there is no operator.
--
-- params
--   name     type     unit  default  meaning
--   run, worker, span
--   device   VARCHAR  -     NULL     Device as in the column, e.g. 'cpu' or 'cuda:0'; NULL reports all.
--   from_ns  BIGINT   ns    NULL     Start of the range, nanoseconds since the epoch; NULL is the start of the trace.
--   to_ns    BIGINT   ns    NULL     End of the range; NULL is the end of the trace.
-- columns
--   name             type     unit   meaning
--   run, worker, span
--   device           VARCHAR  key    Type of the device, with its number if it has one: 'cpu', 'cuda:0', 'hip:1'.
--   operator         VARCHAR  -      Operator or annotation that allocated the block; 'parent (operator)' for aten::empty*. NULL where unknown.
--   parent_operator  VARCHAR  -      The operator or annotation around that one.
--   address          BIGINT   key    Address of the block.
--   size_bytes       BIGINT   bytes  Size of the block.
--   allocated_ns     BIGINT   ns     Time of the allocation; NULL before the trace or outside the range.
--   released_ns      BIGINT   ns     Time of the release; NULL after the trace or outside the range.
--   lifetime_us      DOUBLE   us     Time between the two; NULL if one of them is NULL.
CREATE MACRO memory_events_v1(
    run VARCHAR := NULL,
    worker VARCHAR := NULL,
    span VARCHAR := NULL,
    device VARCHAR := NULL,
    from_ns BIGINT := NULL,
    to_ns BIGINT := NULL
) AS TABLE
    WITH
    names AS MATERIALIZED (
        SELECT o.id, o.operator, o.parent_id
        FROM operator_names(run, worker, span) AS o
    ),

    records AS (
        SELECT
            m.run,
            m.worker,
            m.span,
            concat_ws(':', m.device_type, m.device_id) AS device,
            m.address,
            m.bytes,
            m.time_ns,
            m.operator_id,
            lag(m.bytes) OVER of_address AS previous_bytes,
            lead(m.bytes) OVER of_address AS next_bytes,
            lead(m.time_ns) OVER of_address AS next_ns
        FROM (
            SELECT m.*, first_id(t.names, m.run, m.worker, m.span) + m.op_id AS operator_id
            FROM memory_records AS m
            CROSS JOIN trace_names(run, worker, span) AS t
            WHERE
                m.address IS NOT NULL AND m.bytes IS NOT NULL
                AND is_wanted(m.run, m.worker, m.span, run, worker, span)
                AND (device IS NULL OR concat_ws(':', m.device_type, m.device_id) = device)
        ) AS m
        WINDOW of_address AS (
            PARTITION BY m.run, m.worker, m.span, m.device_type, m.device_id, m.address
            ORDER BY m.time_ns, m.event_id
        )
    ),

    -- A release that follows an allocation is in the row of the allocation.
    blocks AS (
        SELECT
            r.run,
            r.worker,
            r.span,
            r.device,
            r.address,
            abs(r.bytes) AS size_bytes,
            CASE WHEN r.bytes > 0 THEN r.operator_id END AS operator_id,
            CASE WHEN r.bytes > 0 THEN r.time_ns END AS allocated_ns,
            CASE
                WHEN r.bytes <= 0 THEN r.time_ns
                WHEN r.next_bytes <= 0 THEN r.next_ns
            END AS released_ns
        FROM records AS r
        WHERE r.bytes > 0 OR coalesce(r.previous_bytes <= 0, TRUE)
    ),

    ranged AS (
        SELECT
            b.run,
            b.worker,
            b.span,
            b.device,
            b.address,
            b.size_bytes,
            b.operator_id,
            CASE
                WHEN
                    (from_ns IS NULL OR b.allocated_ns >= from_ns)
                    AND (to_ns IS NULL OR b.allocated_ns <= to_ns)
                    THEN b.allocated_ns
            END AS allocated_ns,
            CASE
                WHEN
                    (from_ns IS NULL OR b.released_ns >= from_ns)
                    AND (to_ns IS NULL OR b.released_ns <= to_ns)
                    THEN b.released_ns
            END AS released_ns
        FROM blocks AS b
    )

    SELECT
        r.run,
        r.worker,
        r.span,
        r.device,
        CASE
            WHEN starts_with(o.operator, 'aten::empty') AND p.operator IS NOT NULL
                THEN format('{} ({})', p.operator, o.operator)
            ELSE o.operator
        END AS operator,
        p.operator AS parent_operator,
        r.address,
        r.size_bytes,
        r.allocated_ns,
        r.released_ns,
        (r.released_ns - r.allocated_ns) / 1000.0 AS lifetime_us
    FROM ranged AS r
    LEFT JOIN names AS o ON r.operator_id = o.id
    LEFT JOIN names AS p ON o.parent_id = p.id
    WHERE r.allocated_ns IS NOT NULL OR r.released_ns IS NOT NULL
    ORDER BY
        r.size_bytes DESC,
        r.run ASC, r.worker ASC, r.span ASC, r.device ASC,
        coalesce(r.allocated_ns, r.released_ns),
        r.address ASC;
