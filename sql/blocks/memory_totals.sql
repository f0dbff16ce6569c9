-- block: memory_totals
-- since: 0.2
-- summary: How much memory each device has allocated after each record, without memory that another process sent.
-- grain: one row per memory record that has the total of the allocator
-- uses: is_wanted
--
-- Workers of a data loader send batches in shared memory. The profiler records it for the host, with a total of 0
-- when it arrives and again when it is released, however much the process itself has allocated. Such records are
-- left out. A release after which the process has nothing left has a total of 0, too: it stays if its size was the
-- last total above 0.
--
-- params
--   run, worker, span
-- columns
--   run, worker, span
--   event_id         BIGINT   key    The record in memory_records.
--   device_type      VARCHAR  -      As in memory_records.
--   device           VARCHAR  -      The device, as in memory_curve.
--   time_ns          BIGINT   ns     Time of the record.
--   allocated_bytes  BIGINT   bytes  Memory in live blocks.
--   reserved_bytes   BIGINT   bytes  Memory that the allocator holds, free blocks included.
CREATE MACRO memory_totals(
    run VARCHAR := NULL, worker VARCHAR := NULL, span VARCHAR := NULL
) AS TABLE
    WITH
    _records AS (
        SELECT
            m.run,
            m.worker,
            m.span,
            m.event_id,
            m.device_type,
            concat_ws(':', m.device_type, m.device_id) AS device,
            m.time_ns,
            m.bytes,
            m.total_allocated_bytes AS allocated_bytes,
            m.total_reserved_bytes AS reserved_bytes,
            last_value(
                CASE WHEN m.total_allocated_bytes > 0 THEN m.total_allocated_bytes END IGNORE NULLS
            ) OVER (
                PARTITION BY m.run, m.worker, m.span, m.device_type, m.device_id
                ORDER BY m.time_ns, m.event_id
                ROWS UNBOUNDED PRECEDING
            ) AS last_bytes
        FROM memory_records AS m
        WHERE
            m.total_allocated_bytes IS NOT NULL
            AND is_wanted(m.run, m.worker, m.span, run, worker, span)
    )

    SELECT
        r.run,
        r.worker,
        r.span,
        r.event_id,
        r.device_type,
        r.device,
        r.time_ns,
        r.allocated_bytes,
        r.reserved_bytes
    FROM _records AS r
    WHERE
        r.device_type IS DISTINCT FROM 'cpu'
        OR r.allocated_bytes <> 0
        OR (
            coalesce(r.reserved_bytes, 0) <= 0
            AND (coalesce(r.bytes, 0) >= 0 OR coalesce(r.bytes = -r.last_bytes, FALSE))
        );
