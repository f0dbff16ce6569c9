-- view: memory_curve
-- version: 1
-- since: 0.1
-- summary: Allocated and reserved memory of each device over time, one row per allocation or release.
-- distributes: trace
-- order: run, worker, span, device, time_ns
-- carries: spark
-- needs: no_memory
-- empty: The memory records have no totals; the PyTorch profiler records them since torch 1.10.
-- uses: is_wanted
-- example: samples --run resnet_workers_0 --span 1 --limit 8
-- reading: The first point is the first image: 3 x 128 x 128 numbers of 4 bytes.
--
-- All points that the profiler recorded are listed. For memory that another process sent, as data loader
-- workers do, the profiler records 0 allocated bytes and the size as reserved, and 0 for both when it is released.
-- The block memory_totals leaves these points out, and so does the chart of the report. Traces recorded before torch
-- 1.10 have no totals, and so no rows.
--
-- params
--   name    type     unit  default  meaning
--   run, worker, span
--   device  VARCHAR  -     NULL     Device as in the column, e.g. 'cpu' or 'cuda:0'; NULL reports all.
-- columns
--   name             type     unit   meaning
--   run, worker, span
--   device           VARCHAR  key    Type of the device, with its number if it has one: 'cpu', 'cuda:0', 'hip:1'.
--   time_ns          BIGINT   ns     Time of the record, nanoseconds since the epoch.
--   allocated_bytes  BIGINT   bytes  Memory in live blocks.
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
