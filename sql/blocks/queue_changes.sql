-- block: queue_changes
-- since: 0.1
-- summary: Queue length of each stream (work that is launched and has not started) after each change.
-- grain: one row per launch of a device event, and one per start of it
-- uses: device_key, first_id, is_wanted, trace_names
--
-- A kernel, copy or memset is in the queue of its stream from the start of the call that launched it to
-- its own start. Work whose launch was not recorded is never in the queue. Nor is work that starts before
-- its launch, where the clocks of host and device differ: its two rows are at its own start.
--
-- params
--   run, worker, span
-- columns
--   run, worker, span
--   number        BIGINT   key  Number of the stream, in order of run, worker, span, device and stream.
--   device_id     INTEGER  key  Number of the device on its host.
--   stream_id     BIGINT   key  Stream on the device.
--   time_ns       BIGINT   ns   Time of the change, nanoseconds since the epoch.
--   queue_length  BIGINT   -    Number of device events in the queue from then on.
--   duration_ns   BIGINT   ns   Time until the next change; 0 for the last change of a stream.
--   change        INTEGER  -    1 for a launch, -1 for a start. At the same instant, launches come first.
--   event_id      BIGINT   key  The device event.
CREATE MACRO queue_changes(
    run VARCHAR := NULL, worker VARCHAR := NULL, span VARCHAR := NULL
) AS TABLE
    WITH
    _work AS MATERIALIZED (
        SELECT
            d.run,
            d.worker,
            d.span,
            device_key(t.names, d.run, d.worker, d.span, d.device_id) AS device_key,
            first_id(t.names, d.run, d.worker, d.span) + d.launch_id AS launch_id,
            d.event_id,
            d.device_id,
            d.stream_id,
            d.start_ns
        FROM device_events AS d
        CROSS JOIN trace_names(run, worker, span) AS t
        WHERE
            d.kind IN ('compute', 'communication', 'memcpy', 'memset')
            AND d.launch_id IS NOT NULL
            AND is_wanted(d.run, d.worker, d.span, run, worker, span)
    ),

    _calls AS (
        SELECT
            first_id(t.names, h.run, h.worker, h.span) + h.event_id AS id,
            h.start_ns
        FROM host_events AS h
        CROSS JOIN trace_names(run, worker, span) AS t
        WHERE
            (ends_with(h.category, '_runtime') OR ends_with(h.category, '_driver'))
            AND is_wanted(h.run, h.worker, h.span, run, worker, span)
    ),

    _streams AS MATERIALIZED (
        SELECT
            w.run,
            w.worker,
            w.span,
            w.device_id,
            w.device_key,
            w.stream_id,
            row_number() OVER (
                ORDER BY w.run, w.worker, w.span, w.device_id, w.stream_id
            ) AS number
        FROM _work AS w
        GROUP BY w.run, w.worker, w.span, w.device_id, w.device_key, w.stream_id
    ),

    _launched AS MATERIALIZED (
        SELECT
            s.number,
            w.event_id,
            least(c.start_ns, w.start_ns) AS launch_ns,
            w.start_ns
        FROM _work AS w
        INNER JOIN _calls AS c ON w.launch_id = c.id
        INNER JOIN _streams AS s
            ON w.device_key = s.device_key AND w.stream_id IS NOT DISTINCT FROM s.stream_id
    ),

    _changes AS (
        SELECT l.number, l.event_id, l.launch_ns AS time_ns, 1 AS change
        FROM _launched AS l
        UNION ALL
        SELECT l.number, l.event_id, l.start_ns, -1
        FROM _launched AS l
    ),

    -- Sorted before the window, not by it: then the sum needs no memory.
    _in_order AS (
        SELECT c.number, c.time_ns, c.change, c.event_id
        FROM _changes AS c
        ORDER BY c.number ASC, c.time_ns ASC, c.change DESC, c.event_id ASC
    ),

    -- The sum is back at 0 where a stream ends.
    _sums AS (
        SELECT
            o.number,
            o.time_ns,
            sum(o.change) OVER (ROWS UNBOUNDED PRECEDING) AS queue_length,  -- noqa: PRS, CP02
            CASE
                WHEN lead(o.number) OVER () = o.number THEN lead(o.time_ns) OVER () - o.time_ns
                ELSE 0
            END AS duration_ns,
            o.change,
            o.event_id
        FROM _in_order AS o
    )

    SELECT
        s.run,
        s.worker,
        s.span,
        s.number,
        s.device_id,
        s.stream_id,
        q.time_ns,
        q.queue_length::BIGINT AS queue_length,
        q.duration_ns,
        q.change,
        q.event_id
    FROM _sums AS q
    INNER JOIN _streams AS s ON q.number = s.number;
