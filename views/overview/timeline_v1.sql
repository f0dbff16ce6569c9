-- view: timeline
-- version: 1
-- since: 0.1
-- summary: What a timeline draws: events, and blocks of the events that are too short to be seen.
-- grain: one row per event at least a pixel long, and one per block of shorter events
-- distributes: trace
-- order: run, worker, span, lane, depth, start_ns, event_id, end_ns
-- carries: spark
-- empty: The trace has no events between from_ns and to_ns.
-- uses: percentage, timeline_events, timeline_windows
-- example: samples --run ddp_gloo --worker rank0 --pixels 20 --limit 10
--
-- The window from from_ns to to_ns is divided into pixels of equal length. An event that lasts a pixel or
-- more is a row of its own. The shorter events of a lane that have the same depth and start in the same pixel
-- are one block. It lasts from the first start to the last end of these events, and has the name of the
-- longest. So the number of rows depends on the pixels, and hardly on the number of events.
--
-- Events that begin before the window or end after it keep their start and end.
--
-- params
--   run, worker, span
--   name       type     unit  default  meaning
--   from_ns    BIGINT   ns    NULL     Start of the window, nanoseconds since the epoch; NULL takes the start of each trace.
--   to_ns      BIGINT   ns    NULL     End of the window; NULL takes the end of each trace.
--   pixels     INTEGER  -     1000     Number of pixels in the window, 1 to 100000.
--   most_rows  INTEGER  -     50000    Largest number of rows per trace; the outermost depths are kept.
--   depths     INTEGER  -     NULL     Number of depths of host events, from the outermost; NULL takes all.
-- columns
--   run, worker, span
--   lane      VARCHAR  key  Lane of the timeline, as in timeline_lanes.
--   depth     INTEGER  -    Number of events around it on its thread; 0 on a device.
--   start_ns  BIGINT   ns   Start of the event, or of the first event in the block.
--   end_ns    BIGINT   ns   End of the event, or of the last event in the block.
--   events    BIGINT   -    Number of events in the block; 1 for an event.
--   busy_pct  DOUBLE   pct  Share of the block that its events cover; 100 for an event.
--   event_id  BIGINT   key  The event, or the longest event in the block: in device_events for a stream, and in host_events otherwise.
--   category  VARCHAR  -    'step', the category of a host event, or the kind of a device event.
--   name      VARCHAR  -    Name of the event, or of the longest event in the block.
CREATE MACRO timeline_v1(
    run VARCHAR := NULL,
    worker VARCHAR := NULL,
    span VARCHAR := NULL,
    from_ns BIGINT := NULL,
    to_ns BIGINT := NULL,
    pixels INTEGER := 1000,
    most_rows INTEGER := 50000,
    depths INTEGER := NULL
) AS TABLE
    WITH
    drawn AS (
        SELECT
            e.run,
            e.worker,
            e.span,
            e.lane,
            e.depth,
            e.start_ns,
            e.end_ns,
            e.event_id,
            e.category,
            e.name,
            -- The pixel of a block; NULL for an event that is long enough.
            CASE
                WHEN e.end_ns - e.start_ns < w.pixel_ns
                    THEN (greatest(e.start_ns, w.from_ns) - w.from_ns) // w.pixel_ns
            END AS pixel
        FROM timeline_events(run, worker, span) AS e
        INNER JOIN timeline_windows(run, worker, span, from_ns, to_ns, pixels) AS w
            ON e.run = w.run AND e.worker = w.worker AND e.span = w.span
        WHERE
            (from_ns IS NULL OR e.end_ns > from_ns OR e.start_ns >= from_ns)
            AND (to_ns IS NULL OR e.start_ns < to_ns)
            AND (depths IS NULL OR e.depth < depths)
    ),

    rectangles AS (
        SELECT
            d.run,
            d.worker,
            d.span,
            d.lane,
            d.depth,
            min(d.start_ns) AS start_ns,
            max(d.end_ns) AS end_ns,
            count(*) AS events,
            sum(d.end_ns - d.start_ns) AS busy_ns,
            arg_max(
                {
                    'event_id': d.event_id,
                    'category': d.category,
                    'name': d.name
                },
                (d.end_ns - d.start_ns, -d.event_id)
            ) AS longest
        FROM drawn AS d
        GROUP BY
            d.run,
            d.worker,
            d.span,
            d.lane,
            d.depth,
            d.pixel,
            CASE WHEN d.pixel IS NULL THEN d.event_id END
    )

    SELECT
        r.run,
        r.worker,
        r.span,
        r.lane,
        r.depth,
        r.start_ns,
        r.end_ns,
        r.events,
        least(100.0, coalesce(percentage(r.busy_ns, r.end_ns - r.start_ns), 100.0)) AS busy_pct,
        r.longest.event_id,
        r.longest.category,
        r.longest.name
    FROM (
        SELECT
            n.*,
            row_number() OVER (
                PARTITION BY n.run, n.worker, n.span
                ORDER BY n.depth, n.lane, n.start_ns, n.longest.event_id, n.end_ns
            ) AS position
        FROM rectangles AS n
    ) AS r
    WHERE r.position <= most_rows
    ORDER BY
        r.run ASC, r.worker ASC, r.span ASC, r.lane ASC,
        r.depth ASC, r.start_ns ASC, r.longest.event_id ASC, r.end_ns ASC;
