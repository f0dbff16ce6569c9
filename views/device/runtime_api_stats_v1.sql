-- view: runtime_api_stats
-- version: 1
-- since: 0.1
-- summary: Time that the host spent in each call of the device's runtime and driver, or of the operating system.
-- distributes: worker
-- order: total_us DESC, run, worker, span, name
-- carries: spark
-- empty: No call of the runtime, the driver or the operating system was recorded: {record calls}. Only Nsight Systems records those of the operating system, with --trace=osrt.
-- uses: checked_choice, is_wanted, percentage
-- example: samples --run gpt_eager --limit 6
-- reading: Launches of kernels take 86 % of the time in these calls, 9 us each.
--
-- Calls of every runtime and driver are listed (CUDA, HIP or others), whether they launch work, wait for it,
-- or allocate memory. Time in which several threads are in calls counts once per thread. Users of Nsight
-- Systems know this table as cuda_api_sum.
--
-- With api 'os', the calls are those of the operating system's runtime: poll, read, pthread_mutex_lock and
-- others, as osrt_sum of Nsight Systems lists them.
--
-- params
--   run, worker, span
--   per_span, combine_workers
--   name  type     unit  default   meaning
--   api   VARCHAR  -     'device'  'device' for calls of the device's runtime and driver, or 'os' for the operating system's.
-- columns
--   name            type     unit  meaning
--   run, worker, span
--   name            VARCHAR  key   Name of the call.
--   share_pct       DOUBLE   pct   Share of total_us in the sum of all listed rows of the same run, worker and span.
--   cumulative_pct  DOUBLE   pct   Running sum of share_pct, this row included.
--   total_us        DOUBLE   us    Sum of the durations.
--   calls           BIGINT   -     Number of calls.
--   mean_us         DOUBLE   us    Mean duration.
--   median_us       DOUBLE   us    Median duration, exact.
--   min_us          DOUBLE   us    Shortest.
--   max_us          DOUBLE   us    Longest.
--   stddev_us       DOUBLE   us    Sample standard deviation; NULL for one call.
CREATE MACRO runtime_api_stats_v1(
    run VARCHAR := NULL,
    worker VARCHAR := NULL,
    span VARCHAR := NULL,
    per_span BOOLEAN := FALSE,
    combine_workers BOOLEAN := FALSE,
    api VARCHAR := 'device'
) AS TABLE
    WITH
    grouped AS (
        SELECT
            h.run,
            CASE WHEN NOT combine_workers OR worker IS NOT NULL THEN h.worker END AS worker,
            CASE WHEN per_span OR span IS NOT NULL THEN h.span END AS span,
            h.name,
            count(*) AS calls,
            sum(h.duration_ns) AS total_ns,
            median(h.duration_ns) AS median_ns,
            min(h.duration_ns) AS min_ns,
            max(h.duration_ns) AS max_ns,
            stddev_samp(h.duration_ns) AS stddev_ns
        FROM host_events AS h
        WHERE
            (SELECT c.is_allowed FROM checked_choice('api', api, ['device', 'os']) AS c)
            AND CASE
                WHEN api = 'os' THEN h.category = 'osrt'
                ELSE ends_with(h.category, '_runtime') OR ends_with(h.category, '_driver')
            END
            AND is_wanted(h.run, h.worker, h.span, run, worker, span)
        GROUP BY ALL
    )

    SELECT
        g.run,
        g.worker,
        g.span,
        g.name,
        percentage(g.total_ns, sum(g.total_ns) OVER of_trace) AS share_pct,
        percentage(sum(g.total_ns) OVER so_far, sum(g.total_ns) OVER of_trace) AS cumulative_pct,
        g.total_ns / 1000.0 AS total_us,
        g.calls,
        g.total_ns / 1000.0 / g.calls AS mean_us,
        g.median_ns / 1000.0 AS median_us,
        g.min_ns / 1000.0 AS min_us,
        g.max_ns / 1000.0 AS max_us,
        g.stddev_ns / 1000.0 AS stddev_us
    FROM grouped AS g
    WINDOW
        of_trace AS (PARTITION BY g.run, g.worker, g.span),
        so_far AS (
            PARTITION BY g.run, g.worker, g.span
            ORDER BY g.total_ns DESC, g.name ASC
            ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
        )
    ORDER BY g.total_ns DESC, g.run ASC, g.worker ASC, g.span ASC, g.name ASC;
