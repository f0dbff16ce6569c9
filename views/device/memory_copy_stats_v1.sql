-- view: memory_copy_stats
-- version: 1
-- since: 0.1
-- summary: Time, size and bandwidth of copies and memsets, per operation.
-- distributes: worker
-- order: total_us DESC, run, worker, span, operation
-- carries: spark
-- needs: no_device_events
-- empty: The devices ran no copies and no memsets, only kernels.
-- uses: checked_choice, is_wanted, percentage, ratio
-- example: samples --run resnet_gpu_workers_0 --span 1
-- reading: The batches are copied from pageable memory, which is slower than from pinned memory.
--
-- The profiler's name of the operation tells the direction of a copy, and whether the host memory was pinned.
-- Memcpy HtoD (Pageable -> Device) is slower than Memcpy HtoD (Pinned -> Device), and the host waits for
-- it. Where the profiler records no sizes, as on some AMD and MTIA devices, the columns of bytes are NULL.
--
-- The bandwidth is that of all calls together: their bytes divided by their time. memory_bandwidth has the
-- profiler's own figure for each copy. The two differ for short copies in traces with times in whole
-- microseconds.
--
-- group_by 'direction' cuts the kinds of memory off the name: Memcpy HtoD is then one row. Users of Nsight
-- Systems know this table as cuda_gpu_mem_time_sum and cuda_gpu_mem_size_sum.
--
-- params
--   run, worker, span
--   per_span, combine_workers
--   name      type     unit  default      meaning
--   group_by  VARCHAR  -     'operation'  'operation', or 'direction' to combine the kinds of memory.
-- columns
--   name            type     unit   meaning
--   run, worker, span
--   operation       VARCHAR  key    Name of the copy or memset.
--   calls           BIGINT   -      Number of times it ran.
--   total_us        DOUBLE   us     Sum of the durations.
--   share_pct       DOUBLE   pct    Share of total_us in the sum of all listed rows of the same run, worker and span.
--   cumulative_pct  DOUBLE   pct    Running sum of share_pct, this row included.
--   mean_us         DOUBLE   us     Mean duration.
--   median_us       DOUBLE   us     Median duration, exact.
--   min_us          DOUBLE   us     Shortest.
--   max_us          DOUBLE   us     Longest.
--   total_bytes     BIGINT   bytes  Sum of the sizes.
--   mean_bytes      DOUBLE   bytes  Mean size.
--   bandwidth_gbps  DOUBLE   gbps   Bytes per nanosecond, over the calls with a size.
--   stddev_us       DOUBLE   us     Sample standard deviation of the durations; NULL for one call.
--   median_bytes    DOUBLE   bytes  Median size, exact.
--   min_bytes       BIGINT   bytes  Smallest.
--   max_bytes       BIGINT   bytes  Largest.
--   stddev_bytes    DOUBLE   bytes  Sample standard deviation of the sizes; NULL for one size.
CREATE MACRO memory_copy_stats_v1(
    run VARCHAR := NULL,
    worker VARCHAR := NULL,
    span VARCHAR := NULL,
    per_span BOOLEAN := FALSE,
    combine_workers BOOLEAN := FALSE,
    group_by VARCHAR := 'operation'
) AS TABLE
    WITH
    grouped AS (
        SELECT
            d.run,
            CASE WHEN NOT combine_workers OR worker IS NOT NULL THEN d.worker END AS worker,
            CASE WHEN per_span OR span IS NOT NULL THEN d.span END AS span,
            CASE
                WHEN group_by = 'direction' THEN regexp_replace(d.name, ' \(.*', '') ELSE d.name
            END AS name,
            count(*) AS calls,
            sum(d.duration_ns) AS total_ns,
            median(d.duration_ns) AS median_ns,
            min(d.duration_ns) AS min_ns,
            max(d.duration_ns) AS max_ns,
            stddev_samp(d.duration_ns) AS stddev_ns,
            sum(d.bytes)::BIGINT AS total_bytes,
            avg(d.bytes) AS mean_bytes,
            ratio(sum(d.bytes), sum(d.duration_ns) FILTER (WHERE d.bytes IS NOT NULL))
                AS bandwidth_gbps,
            median(d.bytes) AS median_bytes,
            min(d.bytes) AS min_bytes,
            max(d.bytes) AS max_bytes,
            stddev_samp(d.bytes) AS stddev_bytes
        FROM device_events AS d
        WHERE
            (
                SELECT c.is_allowed
                FROM checked_choice('group_by', group_by, ['operation', 'direction']) AS c
            )
            AND d.kind IN ('memcpy', 'memset')
            AND is_wanted(d.run, d.worker, d.span, run, worker, span)
        GROUP BY ALL
    )

    SELECT
        g.run,
        g.worker,
        g.span,
        g.name AS operation,
        g.calls,
        g.total_ns / 1000.0 AS total_us,
        percentage(g.total_ns, sum(g.total_ns) OVER of_trace) AS share_pct,
        percentage(sum(g.total_ns) OVER so_far, sum(g.total_ns) OVER of_trace) AS cumulative_pct,
        g.total_ns / 1000.0 / g.calls AS mean_us,
        g.median_ns / 1000.0 AS median_us,
        g.min_ns / 1000.0 AS min_us,
        g.max_ns / 1000.0 AS max_us,
        g.total_bytes,
        g.mean_bytes,
        g.bandwidth_gbps,
        g.stddev_ns / 1000.0 AS stddev_us,
        g.median_bytes,
        g.min_bytes,
        g.max_bytes,
        g.stddev_bytes
    FROM grouped AS g
    WINDOW
        of_trace AS (PARTITION BY g.run, g.worker, g.span),
        so_far AS (
            PARTITION BY g.run, g.worker, g.span
            ORDER BY g.total_ns DESC, g.name ASC
            ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
        )
    ORDER BY g.total_ns DESC, g.run ASC, g.worker ASC, g.span ASC, g.name ASC;
