-- view: memory_bandwidth_summary
-- version: 1
-- since: 0.1
-- summary: Distribution of the bandwidth of copies and memsets, per device and copy type.
-- distributes: trace
-- order: run, worker, span, device_id, copy_type
-- carries: spark
-- needs: no_device_events
-- empty: No copy or memset with a size was recorded; on some AMD and MTIA devices the profiler records no sizes.
-- uses: bandwidth_pieces
-- example: samples --run gpt_inference
-- reading: Each of ten steps copies its input once, at 54 GB/s. The memsets write a few bytes each.
--
-- The distribution is over the rows of memory_bandwidth, however long they last, as in
-- HolisticTraceAnalysis. mean_over_time_gbps is the mean over the time in which copies of the type ran.
-- Many small copies make the mean low. If the mean over time is low too, copies are too small, or host
-- memory is not pinned; memory_copy_stats shows which.
--
-- params
--   run, worker, span
-- columns
--   run, worker, span
--   device_id            INTEGER  key   Number of the device on its host.
--   copy_type            VARCHAR  key   'Memcpy HtoD', 'Memcpy DtoH', 'Memcpy DtoD', ... or 'Memset'.
--   pieces               BIGINT   -     Number of rows of memory_bandwidth.
--   mean_gbps            DOUBLE   gbps  Mean bandwidth of the rows.
--   stddev_gbps          DOUBLE   gbps  Sample standard deviation; NULL for one piece.
--   min_gbps             DOUBLE   gbps  Lowest.
--   p25_gbps             DOUBLE   gbps  First quartile, linearly interpolated.
--   median_gbps          DOUBLE   gbps  Median.
--   p75_gbps             DOUBLE   gbps  Third quartile.
--   max_gbps             DOUBLE   gbps  Highest.
--   mean_over_time_gbps  DOUBLE   gbps  Mean bandwidth over busy_us.
--   busy_us              DOUBLE   us    Time in which copies of the type ran.
CREATE MACRO memory_bandwidth_summary_v1(
    run VARCHAR := NULL, worker VARCHAR := NULL, span VARCHAR := NULL
) AS TABLE
    SELECT
        p.run,
        p.worker,
        p.span,
        p.device_id,
        p.copy_type,
        count(*) AS pieces,
        avg(p.bandwidth_gbps) AS mean_gbps,
        stddev_samp(p.bandwidth_gbps) AS stddev_gbps,
        min(p.bandwidth_gbps) AS min_gbps,
        quantile_cont(p.bandwidth_gbps, 0.25) AS p25_gbps,
        median(p.bandwidth_gbps) AS median_gbps,
        quantile_cont(p.bandwidth_gbps, 0.75) AS p75_gbps,
        max(p.bandwidth_gbps) AS max_gbps,
        sum(p.bandwidth_gbps * p.duration_ns) / sum(p.duration_ns) AS mean_over_time_gbps,
        sum(p.duration_ns) / 1000.0 AS busy_us
    FROM bandwidth_pieces(run, worker, span) AS p
    GROUP BY p.run, p.worker, p.span, p.number, p.device_id, p.copy_type
    ORDER BY p.number;
