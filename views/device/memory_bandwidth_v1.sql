-- view: memory_bandwidth
-- version: 1
-- since: 0.1
-- summary: How fast copies and fills moved memory over time, in pieces of constant value.
-- grain: one row per piece, device and copy type of a trace
-- distributes: trace
-- order: run, worker, span, device_id, copy_type, start_ns
-- carries: spark
-- needs: no_device_events
-- empty: No copy or fill with a size was recorded; on some devices of AMD and MTIA the profiler records no sizes.
-- uses: bandwidth_pieces
-- example: drawn
--
-- Copies of one type that run at the same time have the sum of their bandwidths; a piece begins and
-- ends where one starts or ends, and time in which none ran has no row. The bandwidth of a copy is the
-- profiler's own figure, which it works out from exact times; its bytes per nanosecond where there is
-- none. Copies without a size, as on some devices of AMD and MTIA, have no rows.
--
-- params
--   run, worker, span
-- columns
--   run, worker, span
--   device_id       INTEGER  key   Number of the device on its host.
--   copy_type       VARCHAR  key   'Memcpy HtoD', 'Memcpy DtoH', 'Memcpy DtoD', ... or 'Memset'.
--   start_ns        BIGINT   ns    Start of the piece, nanoseconds since the epoch.
--   duration_us     DOUBLE   us    Its length.
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
