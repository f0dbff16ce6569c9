-- view: timeline_series
-- version: 1
-- since: 0.1
-- summary: What a timeline draws below its lanes: busy devices, SM efficiency, launch queues and memory over time.
-- grain: one row per series, device and pixel whose value is not 0; for memory also those whose value is 0
-- distributes: trace
-- order: run, worker, span, series, device, start_ns
-- empty: The trace has neither device work nor memory records between from_ns and to_ns.
-- uses: is_wanted, memory_totals, merged_intervals, queue_changes, sm_efficiency_series_v1, timeline_windows
-- example: samples --run gpt_eager --pixels 3
-- reading: The queue is nearly always empty: the device waits for the host.
--
-- The window from from_ns to to_ns is divided into pixels as in timeline. The series are:
--
-- - gpu_busy: share of the pixel in which a kernel ran on the device, in percent. Collectives are kernels;
--   copies and memsets are not.
-- - sm_efficiency: mean share of the multiprocessors that the running kernels could use, in percent.
-- - queue_length: mean number of device events that were launched and had not started, of all streams.
-- - memory: most bytes allocated at a time, without memory that another process sent; see the block memory_totals.
--
-- params
--   run, worker, span
--   name     type     unit  default  meaning
--   from_ns  BIGINT   ns    NULL     Start of the window, nanoseconds since the epoch; NULL takes the start of each trace.
--   to_ns    BIGINT   ns    NULL     End of the window; NULL takes the end of each trace.
--   pixels   INTEGER  -     200      Number of pixels in the window, 1 to 100000.
--   series   VARCHAR  -     NULL     Name of one series; NULL takes all.
-- columns
--   run, worker, span
--   series    VARCHAR  key  'gpu_busy', 'sm_efficiency', 'queue_length' or 'memory'.
--   device    VARCHAR  key  Number of the device; for memory its type and number, such as 'cuda:0'.
--   start_ns  BIGINT   ns   Start of the pixel, nanoseconds since the epoch.
--   end_ns    BIGINT   ns   End of the pixel.
--   value     DOUBLE   -    Value in the pixel, in the unit of the series.
CREATE MACRO timeline_series_v1(
    run VARCHAR := NULL,
    worker VARCHAR := NULL,
    span VARCHAR := NULL,
    from_ns BIGINT := NULL,
    to_ns BIGINT := NULL,
    pixels INTEGER := 200,
    series VARCHAR := NULL
) AS TABLE
    WITH
    windows AS MATERIALIZED (
        FROM timeline_windows(run, worker, span, from_ns, to_ns, pixels)
    ),

    kernel_runs AS (
        SELECT d.run, d.worker, d.span, d.device_id, d.start_ns, d.duration_ns
        FROM device_events AS d
        WHERE
            d.kind IN ('compute', 'communication')
            AND (series IS NULL OR series = 'gpu_busy')
            AND (to_ns IS NULL OR d.start_ns < to_ns)
            AND (from_ns IS NULL OR d.start_ns + d.duration_ns > from_ns)
            AND is_wanted(d.run, d.worker, d.span, run, worker, span)
    ),

    used_devices AS MATERIALIZED (
        SELECT k.run, k.worker, k.span, k.device_id, row_number() OVER () AS number
        FROM kernel_runs AS k
        GROUP BY k.run, k.worker, k.span, k.device_id
    ),

    numbered_runs AS (
        SELECT u.number AS key, k.start_ns, k.duration_ns
        FROM kernel_runs AS k
        INNER JOIN used_devices AS u
            ON
                k.run = u.run AND k.worker = u.worker AND k.span = u.span
                AND k.device_id IS NOT DISTINCT FROM u.device_id
    ),

    pieces AS (
        SELECT
            u.run,
            u.worker,
            u.span,
            'gpu_busy' AS series,
            u.device_id::VARCHAR AS device,
            m.start_ns,
            m.start_ns + m.duration_ns AS end_ns,
            100.0 AS value
        FROM merged_intervals('numbered_runs') AS m
        INNER JOIN used_devices AS u ON m.key = u.number
        UNION ALL
        SELECT
            e.run,
            e.worker,
            e.span,
            'sm_efficiency',
            e.device_id::VARCHAR,
            e.start_ns,
            e.start_ns + (1000 * e.duration_us)::BIGINT,
            e.value_pct
        FROM sm_efficiency_series_v1(run, worker, span) AS e
        WHERE series IS NULL OR series = 'sm_efficiency'
        UNION ALL
        SELECT
            q.run,
            q.worker,
            q.span,
            'queue_length',
            q.device_id::VARCHAR,
            q.time_ns,
            q.time_ns + q.duration_ns,
            q.queue_length
        FROM queue_changes(run, worker, span) AS q
        WHERE q.queue_length > 0 AND (series IS NULL OR series = 'queue_length')
        UNION ALL
        SELECT
            m.run,
            m.worker,
            m.span,
            'memory',
            m.device,
            m.time_ns,
            lead(m.time_ns) OVER (
                PARTITION BY m.run, m.worker, m.span, m.device ORDER BY m.time_ns, m.event_id
            ),
            m.allocated_bytes
        FROM memory_totals(run, worker, span) AS m
        WHERE series IS NULL OR series = 'memory'
    ),

    inside AS (
        SELECT
            p.run,
            p.worker,
            p.span,
            p.series,
            p.device,
            p.value,
            greatest(p.start_ns, w.from_ns) AS start_ns,
            least(coalesce(p.end_ns, w.to_ns), w.to_ns) AS end_ns,
            w.from_ns,
            w.to_ns,
            w.pixel_ns
        FROM pieces AS p
        INNER JOIN windows AS w ON p.run = w.run AND p.worker = w.worker AND p.span = w.span
        WHERE p.start_ns < w.to_ns AND coalesce(p.end_ns, w.to_ns) > w.from_ns
    ),

    in_pixels AS (
        SELECT
            i.*,
            i.from_ns + i.pixel_ns * unnest(range(
                (i.start_ns - i.from_ns) // i.pixel_ns, (i.end_ns - i.from_ns - 1) // i.pixel_ns + 1
            )) AS pixel_start_ns
        FROM inside AS i
    ),

    cut_pieces AS (
        SELECT
            c.run,
            c.worker,
            c.span,
            c.series,
            c.device,
            c.value,
            c.pixel_start_ns,
            least(c.pixel_start_ns + c.pixel_ns, c.to_ns) AS pixel_end_ns,
            least(c.end_ns, c.pixel_start_ns + c.pixel_ns)
            - greatest(c.start_ns, c.pixel_start_ns) AS duration_ns
        FROM in_pixels AS c
    )

    SELECT
        c.run,
        c.worker,
        c.span,
        c.series,
        c.device,
        c.pixel_start_ns AS start_ns,
        c.pixel_end_ns AS end_ns,
        CASE
            WHEN c.series = 'memory' THEN max(c.value)
            ELSE sum(c.value * c.duration_ns) / (c.pixel_end_ns - c.pixel_start_ns)
        END AS value
    FROM cut_pieces AS c
    GROUP BY c.run, c.worker, c.span, c.series, c.device, c.pixel_start_ns, c.pixel_end_ns
    ORDER BY c.run, c.worker, c.span, c.series, c.device, c.pixel_start_ns;
