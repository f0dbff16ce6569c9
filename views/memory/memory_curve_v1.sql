-- view: memory_curve
-- version: 1
-- since: 0.1
-- summary: Memory allocated and reserved on each device, after every allocation and release.
-- distributes: trace
-- order: run, worker, span, device, time_ns
-- carries: spark
-- needs: no_memory
-- empty: The records of memory have no totals, which torch records since 1.10.
-- uses: is_wanted
-- example: samples --run resnet_workers_0 --span 1 --limit 8
-- reading: The first point is the first picture: 3 x 384 x 384 numbers of 4 bytes.
--
-- Every point that the profiler recorded, none left out. For memory that another process sent, as the
-- workers of a data loader do, it records 0 allocated and the size as reserved. Traces recorded before
-- torch 1.10 do not hold the totals and give no rows.
--
-- params
--   name    type     unit  default  meaning
--   run, worker, span
--   device  VARCHAR  -     NULL     Device as in the column, e.g. 'cpu' or 'cuda:0'; NULL takes all.
-- columns
--   name             type     unit   meaning
--   run, worker, span
--   device           VARCHAR  key    Type of the device, and its number where it has one: 'cpu', 'cuda:0', 'hip:1'.
--   time_ns          BIGINT   ns     When, nanoseconds since the epoch.
--   allocated_bytes  BIGINT   bytes  Memory that live blocks take.
--   reserved_bytes   BIGINT   bytes  Memory that the allocator holds, free blocks included.
CREATE MACRO memory_curve_v1(
    run VARCHAR := NULL,
    worker VARCHAR := NULL,
    span VARCHAR := NULL,
    device VARCHAR := NULL
) AS TABLE
    SELECT
        m.run,
        m.worker,
        m.span,
        concat_ws(':', m.device_type, m.device_id) AS device,
        m.time_ns,
        m.total_allocated_bytes AS allocated_bytes,
        m.total_reserved_bytes AS reserved_bytes
    FROM memory_records AS m
    WHERE
        (m.total_allocated_bytes IS NOT NULL OR m.total_reserved_bytes IS NOT NULL)
        AND is_wanted(m.run, m.worker, m.span, run, worker, span)
        AND (device IS NULL OR concat_ws(':', m.device_type, m.device_id) = device)
    ORDER BY m.run, m.worker, m.span, m.device_type, m.device_id, m.time_ns, m.event_id;
