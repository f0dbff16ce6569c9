-- view: memory_bandwidth
-- version: 1
-- since: 0.1
-- summary: Bandwidth of copies and memsets over time, in pieces of constant value.
-- grain: one row per piece, device and copy type of a trace
-- distributes: trace
-- order: run, worker, span, device_id, copy_type, start_ns
-- carries: spark
-- needs: no_device_events
-- empty: No copy or memset with a size was recorded; on some AMD and MTIA devices the profiler records no sizes.
-- uses: bandwidth_pieces
-- example: samples --run resnet_gpu_workers_0 --span 1 --limit 6
-- reading: Each batch is two copies: the images at 10 GB/s, and the labels. These are 32 bytes, so only the time counts.
--
-- The bandwidths of copies of one type that run at the same time are added up. A piece begins and ends
-- where a copy starts or ends; time without copies has no row. The bandwidth of a copy is the profiler's
-- own figure, which is computed from exact times, or bytes per nanosecond if there is none. Copies without a
-- size have no rows, as on some AMD and MTIA devices.
--
-- params
--   run, worker, span
-- columns
--   run, worker, span
--   device_id       INTEGER  key   Number of the device on its host.
--   copy_type       VARCHAR  key   'Memcpy HtoD', 'Memcpy DtoH', 'Memcpy DtoD', ... or 'Memset'.
--   start_ns        BIGINT   ns    Start of the piece, nanoseconds since the epoch.
--   duration_us     DOUBLE   us    Length of the piece.
--   bandwidth_gbps  DOUBLE   gbps  Bytes per nanosecond.
CREATE MACRO memory_bandwidth_v1(
    run VARCHAR := NULL, worker VARCHAR := NULL, span VARCHAR := NULL
) AS TABLE
    SELECT
        p.run,
        p.worker,
        p.span,
        p.device_id,
        p.copy_type,
        p.start_ns,
        p.duration_ns / 1000.0 AS duration_us,
        p.bandwidth_gbps
    FROM bandwidth_pieces(run, worker, span) AS p
    ORDER BY p.number, p.start_ns;
