-- view: annotation_breakdown
-- version: 1
-- since: 0.1
-- summary: Time in each user annotation on the host, and in its spans on the devices.
-- grain: one row per annotation name and place with spans of it: the host, or a device
-- distributes: worker
-- order: coalesce(host_us, device_us) DESC, run, worker, span, name, device_us IS NOT NULL, device_id
-- carries: spark
-- empty: No annotation was recorded: {record ranges}.
-- uses: is_wanted
-- example: samples --run resnet_workers_0 --span 1 --limit 6
--
-- Annotations are the ranges of record_function. The user opens them, and so do optimizers, the data
-- loader, DistributedDataParallel and the profiler itself (ProfilerStep#). A span on a device runs from
-- the start of the first to the end of the last work that was launched inside the annotation, per stream,
-- as the profiler recorded it. So a device may have more spans than the host, and work of other annotations
-- may run within a span. An annotation that launched nothing has no span on a device. Annotations nest, so
-- they do not add up to a total, and there is no share.
--
-- params
--   run, worker, span
--   per_span
-- columns
--   run, worker, span
--   name       VARCHAR  key  Name of the annotation.
--   device_id  INTEGER  key  Device that the spans are on; NULL on the row of the host.
--   calls      BIGINT   -    Number of spans.
--   host_us    DOUBLE   us   Sum of the spans on the host; NULL on the row of a device.
--   device_us  DOUBLE   us   Sum of the spans on the device; NULL on the row of the host.
--   mean_us    DOUBLE   us   Mean length of a span.
--   min_us     DOUBLE   us   Shortest span.
--   max_us     DOUBLE   us   Longest span.
--   stddev_us  DOUBLE   us   Sample standard deviation; NULL for one span.
CREATE MACRO annotation_breakdown_v1(
    run VARCHAR := NULL,
    worker VARCHAR := NULL,
    span VARCHAR := NULL,
    per_span BOOLEAN := FALSE
) AS TABLE
    WITH
    spans AS (
        SELECT
            h.run,
            h.worker,
            h.span,
            h.name,
            FALSE AS on_device,
            NULL::INTEGER AS device_id,
            h.duration_ns
        FROM host_events AS h
        WHERE
            h.category = 'user_annotation'
            AND is_wanted(h.run, h.worker, h.span, run, worker, span)
        UNION ALL
        SELECT d.run, d.worker, d.span, d.name, TRUE, d.device_id, d.duration_ns
        FROM device_events AS d
        WHERE
            d.category = 'gpu_user_annotation'
            AND is_wanted(d.run, d.worker, d.span, run, worker, span)
    ),

    totals AS (
        SELECT
            s.run,
            s.worker,
            CASE WHEN per_span OR span IS NOT NULL THEN s.span END AS span,
            s.name,
            s.on_device,
            s.device_id,
            count(*) AS calls,
            sum(s.duration_ns) AS total_ns,
            min(s.duration_ns) AS min_ns,
            max(s.duration_ns) AS max_ns,
            stddev_samp(s.duration_ns) AS stddev_ns
        FROM spans AS s
        GROUP BY ALL
    )

    SELECT
        t.run,
        t.worker,
        t.span,
        t.name,
        t.device_id,
        t.calls,
        CASE WHEN NOT t.on_device THEN t.total_ns / 1000.0 END AS host_us,
        CASE WHEN t.on_device THEN t.total_ns / 1000.0 END AS device_us,
        t.total_ns / 1000.0 / t.calls AS mean_us,
        t.min_ns / 1000.0 AS min_us,
        t.max_ns / 1000.0 AS max_us,
        t.stddev_ns / 1000.0 AS stddev_us
    FROM totals AS t
    ORDER BY
        t.total_ns DESC,
        t.run ASC, t.worker ASC, t.span ASC, t.name ASC, t.on_device ASC, t.device_id ASC;
