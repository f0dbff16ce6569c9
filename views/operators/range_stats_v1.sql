-- view: range_stats
-- version: 1
-- since: 0.1
-- summary: Host time in each range: annotations, operators, NVTX ranges, and events of other programs.
-- distributes: worker
-- order: total_us DESC, run, worker, span, name, category
-- carries: spark
-- empty: No range was recorded. For operators, {record operators}. For other ranges: {record ranges}.
-- uses: checked_choice, is_known_category, is_wanted, percentage
-- example: samples --run resnet_workers_0 --span 1 --category user_annotation --limit 6
--
-- A range is an operator, an annotation (record_function), or a range of NVTX. In a Chrome trace of another
-- program, such as JAX or tlparse, each event on a thread is one.
-- It counts from its start to its end on its own thread, with the ranges inside it. Ranges nest, so the
-- time of one is in that of another, too: the sum behind share_pct is that of all listed rows, not the
-- time that passed. self_us does not count any time twice. operator_stats has the time on the device.
--
-- Users of Nsight Systems know this table as nvtx_sum, nvtx_pushpop_sum and nvtx_startend_sum.
--
-- params
--   run, worker, span
--   per_span, combine_workers
--   name      type     unit  default  meaning
--   category  VARCHAR  -     'all'    'cpu_op' for operators, 'user_annotation' for annotations and NVTX ranges, 'other' for events of other programs, or 'all'.
-- columns
--   run, worker, span
--   name            type     unit  meaning
--   name            VARCHAR  key   Name of the range.
--   category        VARCHAR  key   'cpu_op', 'user_annotation' or 'other'.
--   calls           BIGINT   -     Number of ranges.
--   total_us        DOUBLE   us    Sum of the durations.
--   share_pct       DOUBLE   pct   Share of total_us in the sum of all listed rows of the same run, worker and span.
--   cumulative_pct  DOUBLE   pct   Running sum of share_pct, this row included.
--   self_us         DOUBLE   us    Part of total_us outside of the events inside each range: self_duration_ns of host_events.
--   mean_us         DOUBLE   us    Mean duration.
--   median_us       DOUBLE   us    Median duration, exact.
--   min_us          DOUBLE   us    Shortest.
--   max_us          DOUBLE   us    Longest.
--   stddev_us       DOUBLE   us    Sample standard deviation; NULL for one range.
CREATE MACRO range_stats_v1(
    run VARCHAR := NULL,
    worker VARCHAR := NULL,
    span VARCHAR := NULL,
    per_span BOOLEAN := FALSE,
    combine_workers BOOLEAN := FALSE,
    category VARCHAR := 'all'
) AS TABLE
    WITH
    grouped AS (
        SELECT
            h.run,
            CASE WHEN NOT combine_workers OR worker IS NOT NULL THEN h.worker END AS worker,
            CASE WHEN per_span OR span IS NOT NULL THEN h.span END AS span,
            h.name,
            CASE WHEN is_known_category(h.category) THEN h.category ELSE 'other' END AS category,
            count(*) AS calls,
            sum(h.duration_ns) AS total_ns,
            sum(h.self_duration_ns) AS self_ns,
            median(h.duration_ns) AS median_ns,
            min(h.duration_ns) AS min_ns,
            max(h.duration_ns) AS max_ns,
            stddev_samp(h.duration_ns) AS stddev_ns
        FROM host_events AS h
        WHERE
            (
                SELECT c.is_allowed
                FROM
                    checked_choice(
                        'category', category, ['all', 'cpu_op', 'user_annotation', 'other']
                    ) AS c
            )
            AND (
                (h.category IN ('cpu_op', 'user_annotation') AND category IN ('all', h.category))
                OR (NOT is_known_category(h.category) AND category IN ('all', 'other'))
            )
            AND is_wanted(h.run, h.worker, h.span, run, worker, span)
        GROUP BY ALL
    )

    SELECT
        g.run,
        g.worker,
        g.span,
        g.name,
        g.category,
        g.calls,
        g.total_ns / 1000.0 AS total_us,
        percentage(g.total_ns, sum(g.total_ns) OVER of_trace) AS share_pct,
        percentage(sum(g.total_ns) OVER so_far, sum(g.total_ns) OVER of_trace) AS cumulative_pct,
        g.self_ns / 1000.0 AS self_us,
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
            ORDER BY g.total_ns DESC, g.name ASC, g.category ASC
            ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
        )
    ORDER BY
        g.total_ns DESC, g.run ASC, g.worker ASC, g.span ASC, g.name ASC, g.category ASC;
