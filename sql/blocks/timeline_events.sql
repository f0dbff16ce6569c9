-- block: timeline_events
-- since: 0.1
-- summary: All events that a timeline draws, each with the lane in which it is drawn.
-- grain: one row per event of a lane; the annotation of a step is also in the lane of its thread
-- uses: is_wanted
--
-- The lanes are those of a trace viewer: one for the steps, one for each host thread, and for each stream of
-- a device one for its work, one for annotations and one for synchronisations, both of which overlap the work.
-- Where a device event has no stream, the process and thread that the profiler gave it take the place of
-- device and stream. In the name of a lane, '-' stands for a number that the profiler did not write.
--
-- params
--   run, worker, span
-- columns
--   run, worker, span
--   lane               VARCHAR  key  Kind of the lane, then process and thread, or device and stream.
--   kind               VARCHAR  -    'steps', 'thread', 'stream', 'annotations' or 'syncs'.
--   pid                VARCHAR  key  Process of a thread, or device of a stream.
--   tid                VARCHAR  key  Thread, or stream.
--   event_id           BIGINT   key  The event, in host_events or device_events.
--   depth              INTEGER  -    Number of events around it on its thread; 0 on a device.
--   start_ns           BIGINT   ns   Start, nanoseconds since the epoch.
--   end_ns             BIGINT   ns   End.
--   category           VARCHAR  -    'step', the category of a host event, or the kind of a device event.
--   name               VARCHAR  -    Name as the profiler wrote it.
--   forward_thread_id  BIGINT   -    On a backward operator, the thread of its forward operator.
CREATE MACRO timeline_events(
    run VARCHAR := NULL, worker VARCHAR := NULL, span VARCHAR := NULL
) AS TABLE
    SELECT
        s.run,
        s.worker,
        s.span,
        'steps' AS lane,
        'steps' AS kind,
        NULL AS pid,
        NULL AS tid,
        s.event_id,
        0 AS depth,
        s.start_ns,
        s.end_ns,
        'step' AS category,
        s.name,
        NULL AS forward_thread_id
    FROM steps AS s
    WHERE s.step IS NOT NULL AND is_wanted(s.run, s.worker, s.span, run, worker, span)
    UNION ALL
    SELECT
        h.run,
        h.worker,
        h.span,
        'thread ' || coalesce(h.pid, '-') || ' ' || coalesce(h.tid, '-'),
        'thread',
        h.pid,
        h.tid,
        h.event_id,
        h.depth,
        h.start_ns,
        h.start_ns + h.duration_ns,
        h.category,
        h.name,
        h.forward_thread_id
    FROM host_events AS h
    WHERE is_wanted(h.run, h.worker, h.span, run, worker, span)
    UNION ALL
    SELECT
        d.run,
        d.worker,
        d.span,
        d.lane_kind || ' ' || coalesce(d.pid, '-') || ' ' || coalesce(d.tid, '-'),
        d.lane_kind,
        d.pid,
        d.tid,
        d.event_id,
        0,
        d.start_ns,
        d.end_ns,
        d.kind,
        d.name,
        NULL
    FROM (
        SELECT
            e.run,
            e.worker,
            e.span,
            CASE e.kind
                WHEN 'annotation' THEN 'annotations'
                WHEN 'sync' THEN 'syncs'
                ELSE 'stream'
            END AS lane_kind,
            coalesce(e.device_id::VARCHAR, e.pid) AS pid,
            coalesce(e.stream_id::VARCHAR, e.tid) AS tid,
            e.event_id,
            e.start_ns,
            e.start_ns + e.duration_ns AS end_ns,
            e.kind,
            e.name
        FROM device_events AS e
        -- Kernels that only have counters have no times.
        WHERE is_wanted(e.run, e.worker, e.span, run, worker, span) AND e.start_ns IS NOT NULL
    ) AS d;
