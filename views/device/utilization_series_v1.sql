-- view: utilization_series
-- version: 1
-- since: 0.1
-- summary: Utilization of each device over time, in intervals of equal length.
-- grain: one row per interval and device of a trace that ran a kernel
-- distributes: trace
-- order: run, worker, span, device_id, start_ns
-- carries: spark
-- needs: no_device_events
-- empty: The devices ran no kernels, only copies and memsets.
-- uses: device_key, device_trace_names, interval_totals, is_wanted, percentage
-- example: samples --run gpt_eager --limit 6
-- reading: One row per millisecond: in the first one no kernel runs, and in the sixth kernels run for 64 % of the time.
--
-- The recording is cut into intervals of one length: the smallest power of ten of microseconds that gives
-- at most `buckets` intervals. The last interval also covers the remainder. The recording lasts as long as
-- the profiler says, or else from the first event to the last, and in any case until the last kernel ends.
-- All devices of a trace have the same intervals. Collectives count as kernels; copies and memsets do not.
--
-- The definition is that of the TensorBoard profiler plugin.
--
-- params
--   name     type     unit  default  meaning
--   run, worker, span
--   buckets  INTEGER  -     100      Largest number of intervals, 1 to 1000000.
-- columns
--   run, worker, span
--   device_id    INTEGER  key  Number of the device on its host.
--   start_ns     BIGINT   ns   Start of the interval, nanoseconds since the epoch.
--   duration_us  DOUBLE   us   Length of the interval.
--   value_pct    DOUBLE   pct  Share of the interval in which a kernel ran.
CREATE MACRO utilization_series_v1(
    run VARCHAR := NULL, worker VARCHAR := NULL, span VARCHAR := NULL, buckets INTEGER := 100
) AS TABLE
    WITH
    checked AS (
        SELECT
            CASE
                WHEN buckets BETWEEN 1 AND 1000000 THEN TRUE
                ELSE error(format(
                    'buckets must be 1 to 1000000, not {}', coalesce(buckets::VARCHAR, 'NULL')
                ))
            END AS is_allowed
    ),

    kernel_runs AS MATERIALIZED (
        SELECT
            d.run,
            d.worker,
            d.span,
            d.device_id,
            device_key(t.names, d.run, d.worker, d.span, d.device_id) AS device_key,
            d.start_ns,
            d.duration_ns
        FROM device_events AS d
        CROSS JOIN device_trace_names(run, worker, span) AS t
        WHERE
            d.kind IN ('compute', 'communication')
            AND is_wanted(d.run, d.worker, d.span, run, worker, span)
            AND (SELECT c.is_allowed FROM checked AS c)
    ),

    used_devices AS MATERIALIZED (
        SELECT
            k.run,
            k.worker,
            k.span,
            k.device_id,
            k.device_key,
            min(k.start_ns) AS start_ns,
            max(k.start_ns + k.duration_ns) AS end_ns
        FROM kernel_runs AS k
        GROUP BY k.run, k.worker, k.span, k.device_id, k.device_key
    ),

    said AS (
        SELECT
            o.run,
            o.worker,
            o.span,
            min(o.time_ns) AS start_ns,
            max(o.time_ns + o.duration_ns) AS end_ns
        FROM other_events AS o
        WHERE
            o.category = 'Trace' AND o.name = 'PyTorch Profiler (0)'
            AND is_wanted(o.run, o.worker, o.span, run, worker, span)
        GROUP BY o.run, o.worker, o.span
    ),

    recordings AS (
        SELECT
            u.run,
            u.worker,
            u.span,
            least(min(coalesce(s.start_ns, t.start_ns)), min(u.start_ns)) AS start_ns,
            greatest(max(coalesce(s.end_ns, t.end_ns)), max(u.end_ns)) AS end_ns
        FROM used_devices AS u
        LEFT JOIN traces AS t ON u.run = t.run AND u.worker = t.worker AND u.span = t.span
        LEFT JOIN said AS s ON u.run = s.run AND u.worker = s.worker AND u.span = s.span
        GROUP BY u.run, u.worker, u.span
    ),

    cuts AS (
        SELECT
            r.run,
            r.worker,
            r.span,
            r.start_ns,
            r.end_ns,
            min(p.ns) AS bucket_ns
        FROM recordings AS r
        INNER JOIN (
            SELECT power(10, e.exponent)::BIGINT AS ns
            FROM range(3, 19) AS e (exponent)
        ) AS p
            ON ceil((r.end_ns - r.start_ns) / buckets) <= p.ns
        GROUP BY r.run, r.worker, r.span, r.start_ns, r.end_ns
    ),

    places AS (
        SELECT
            c.*,
            unnest(range(greatest((c.end_ns - c.start_ns) // c.bucket_ns, 1))) AS place
        FROM cuts AS c
    ),

    stretches AS MATERIALIZED (
        SELECT
            u.run,
            u.worker,
            u.span,
            u.device_id,
            u.device_key,
            1 + p.place AS slot,
            p.start_ns + p.place * p.bucket_ns AS start_ns,
            -- The last one is longer.
            CASE
                WHEN p.start_ns + (p.place + 2) * p.bucket_ns > p.end_ns
                    THEN p.end_ns - p.start_ns - p.place * p.bucket_ns
                ELSE p.bucket_ns
            END AS duration_ns
        FROM places AS p
        INNER JOIN used_devices AS u ON p.run = u.run AND p.worker = u.worker AND p.span = u.span
    ),

    intervals AS (
        SELECT
            k.device_key AS key,
            0 AS slot,
            1::HUGEINT AS weight,
            k.start_ns,
            k.duration_ns
        FROM kernel_runs AS k
        UNION ALL
        SELECT s.device_key, s.slot, 0, s.start_ns, s.duration_ns
        FROM stretches AS s
    ),

    busy AS (
        SELECT t.key AS device_key, t.slot, sum(t.duration_ns) AS busy_ns
        FROM interval_totals('intervals', least_slot := 1) AS t
        WHERE t.weight > 0
        GROUP BY t.key, t.slot
    )

    SELECT
        s.run,
        s.worker,
        s.span,
        s.device_id,
        s.start_ns,
        s.duration_ns / 1000.0 AS duration_us,
        percentage(coalesce(b.busy_ns, 0), s.duration_ns) AS value_pct
    FROM stretches AS s
    LEFT JOIN busy AS b ON s.device_key = b.device_key AND s.slot = b.slot
    ORDER BY s.run, s.worker, s.span, s.device_id, s.start_ns;
