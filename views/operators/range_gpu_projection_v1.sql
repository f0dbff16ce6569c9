-- view: range_gpu_projection
-- version: 1
-- since: 0.1
-- summary: Ranges projected onto the devices: from the first to the last work that was launched inside each.
-- grain: one row per name and category of ranges that launched work, or per range
-- distributes: worker
-- order: gpu_us DESC, run, worker, span, name, category, event_id
-- needs: no_device_events
-- empty: No device work is linked to a call inside an operator or annotation: {record launches}.
-- uses: checked_choice, first_id, is_wanted, projected_ranges, trace_names
-- example: samples --run gpt_eager --limit 5
-- reading: What `forward` launches takes 3.9 ms on the device, from its first kernel to its last: as long as `forward` itself on the host.
--
-- A range is an operator, an annotation (record_function) or an NVTX range. Its projection runs from the start of
-- the first kernel, copy or memset that it launched to the end of the last, on any stream of any device. Work
-- belongs to a range if the call that launched it lies inside the range, on the same thread. So
-- projections of ranges that nest contain each other, work of other ranges may run in between, and the
-- projections of a thread may overlap: they do not add up to a total.
--
-- operator_stats has the sum of the device's work instead, and annotation_breakdown what the profiler itself
-- projected, per stream.
--
-- Users of Nsight Systems know this table as nvtx_gpu_proj_sum, and with group_by 'range' as
-- nvtx_gpu_proj_trace.
--
-- params
--   run, worker, span
--   per_span, combine_workers
--   name      type     unit  default  meaning
--   group_by  VARCHAR  -     'name'   'name' or 'range'. By 'range' nothing is combined.
--   category  VARCHAR  -     'all'    'cpu_op' for operators, 'user_annotation' for annotations and NVTX ranges, or 'all'.
-- columns
--   run, worker, span
--   name           type     unit  meaning
--   name           VARCHAR  key   Name of the range.
--   category       VARCHAR  key   'cpu_op' or 'user_annotation'.
--   ranges         BIGINT   -     Number of ranges that launched work.
--   gpu_us         DOUBLE   us    Sum of the lengths of the projections.
--   host_us        DOUBLE   us    Sum of the durations of these ranges on the host.
--   mean_us        DOUBLE   us    Mean length of a projection.
--   median_us      DOUBLE   us    Median length, exact.
--   min_us         DOUBLE   us    Shortest.
--   max_us         DOUBLE   us    Longest.
--   stddev_us      DOUBLE   us    Sample standard deviation; NULL for one range.
--   gpu_ops        BIGINT   -     Number of calls inside the ranges that launched work.
--   mean_gpu_ops   DOUBLE   -     Mean number per range.
--   mean_level     DOUBLE   -     Mean number of ranges around it.
--   mean_children  DOUBLE   -     Mean number of ranges directly inside it that launched work.
--   start_ns       BIGINT   ns    Start of the first projection, nanoseconds since the epoch.
--   event_id       BIGINT   key   The range in host_events; NULL unless grouped by 'range'.
CREATE MACRO range_gpu_projection_v1(
    run VARCHAR := NULL,
    worker VARCHAR := NULL,
    span VARCHAR := NULL,
    per_span BOOLEAN := FALSE,
    combine_workers BOOLEAN := FALSE,
    group_by VARCHAR := 'name',
    category VARCHAR := 'all'
) AS TABLE
    WITH
    host AS (
        SELECT
            h.run,
            h.worker,
            h.span,
            first_id(t.names, h.run, h.worker, h.span) + h.event_id AS id,
            h.event_id,
            h.name,
            h.category,
            h.duration_ns
        FROM host_events AS h
        CROSS JOIN trace_names(run, worker, span) AS t
        WHERE
            (
                SELECT c.is_allowed
                FROM checked_choice('group_by', group_by, ['name', 'range']) AS c
            )
            AND (
                SELECT c.is_allowed
                FROM checked_choice('category', category, ['all', 'cpu_op', 'user_annotation']) AS c
            )
            AND h.category IN ('cpu_op', 'user_annotation')
            AND (category = 'all' OR h.category = category)
            AND is_wanted(h.run, h.worker, h.span, run, worker, span)
    ),

    grouped AS (
        SELECT
            h.run,
            CASE
                WHEN group_by = 'range' OR NOT combine_workers OR worker IS NOT NULL THEN h.worker
            END AS worker,
            CASE
                WHEN group_by = 'range' OR per_span OR span IS NOT NULL THEN h.span
            END AS span,
            h.name,
            h.category,
            CASE WHEN group_by = 'range' THEN h.event_id END AS event_id,
            count(*) AS ranges,
            sum(p.last_ns - p.first_ns) AS gpu_ns,
            sum(h.duration_ns) AS host_ns,
            median(p.last_ns - p.first_ns) AS median_ns,
            min(p.last_ns - p.first_ns) AS min_ns,
            max(p.last_ns - p.first_ns) AS max_ns,
            stddev_samp(p.last_ns - p.first_ns) AS stddev_ns,
            sum(p.calls)::BIGINT AS gpu_ops,
            avg(p.level) AS mean_level,
            avg(p.children) AS mean_children,
            min(p.first_ns) AS start_ns
        FROM projected_ranges(run, worker, span) AS p
        INNER JOIN host AS h ON p.id = h.id
        GROUP BY ALL
    )

    SELECT
        g.run,
        g.worker,
        g.span,
        g.name,
        g.category,
        g.ranges,
        g.gpu_ns / 1000.0 AS gpu_us,
        g.host_ns / 1000.0 AS host_us,
        g.gpu_ns / 1000.0 / g.ranges AS mean_us,
        g.median_ns / 1000.0 AS median_us,
        g.min_ns / 1000.0 AS min_us,
        g.max_ns / 1000.0 AS max_us,
        g.stddev_ns / 1000.0 AS stddev_us,
        g.gpu_ops,
        g.gpu_ops / g.ranges AS mean_gpu_ops,
        g.mean_level,
        g.mean_children,
        g.start_ns,
        g.event_id
    FROM grouped AS g
    ORDER BY
        g.gpu_ns DESC,
        g.run ASC, g.worker ASC, g.span ASC, g.name ASC, g.category ASC, g.event_id ASC;
