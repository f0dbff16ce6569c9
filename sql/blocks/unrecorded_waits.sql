-- block: unrecorded_waits
-- since: 0.1
-- summary: Time in which launched work waited and its device shows no work: it waited for work that is not in the trace.
-- grain: one row per wait
-- uses: device_key, device_trace_names, first_id, is_wanted
--
-- A kernel starts within microseconds after its launch if nothing else runs on the device. If it starts
-- more than 1 ms after the call ended and the device shows no work, the device did something that is not
-- in the trace: the recording began or ended in the middle of it, was split into files, or another process
-- used the device.
--
-- params
--   run, worker, span
-- columns
--   run, worker, span
--   device_id   INTEGER  key  Number of the device on its host.
--   device_key  BIGINT   key  Number that no other device has, as device_key gives it.
--   event_id    BIGINT   key  Work that waited, in device_events.
--   is_first    BOOLEAN  -    Whether it is the first work of the device.
--   start_ns    BIGINT   ns   Start of the wait: the end of the launch call, or of the work before it.
--   end_ns      BIGINT   ns   End of the wait: the start of the work.
CREATE MACRO unrecorded_waits(
    run VARCHAR := NULL, worker VARCHAR := NULL, span VARCHAR := NULL
) AS TABLE
    WITH
    _names AS MATERIALIZED (FROM device_trace_names(run, worker, span)),

    _work AS (
        SELECT
            device_key(t.names, d.run, d.worker, d.span, d.device_id) AS device_key,
            first_id(t.names, d.run, d.worker, d.span) + d.launch_id AS launch_id,
            d.device_id,
            d.event_id,
            d.start_ns,
            d.start_ns + d.duration_ns AS end_ns
        FROM device_events AS d
        CROSS JOIN _names AS t
        WHERE
            d.kind IN ('compute', 'communication', 'memcpy', 'memset')
            AND is_wanted(d.run, d.worker, d.span, run, worker, span)
    ),

    -- Sorted before the windows, not by them: then the windows need no memory.
    _in_order AS (
        SELECT w.device_key, w.launch_id, w.device_id, w.event_id, w.start_ns, w.end_ns
        FROM _work AS w
        ORDER BY w.device_key, w.start_ns, w.event_id
    ),

    -- Device and end are one number, because the largest end so far must not come from another device.
    _reached AS (
        SELECT
            o.device_key,
            o.launch_id,
            o.device_id,
            o.event_id,
            o.start_ns,
            max((o.device_key::HUGEINT << 64) + o.end_ns)
                OVER (ROWS UNBOUNDED PRECEDING) AS reached  -- noqa: PRS, CP02
        FROM _in_order AS o
    ),

    _followed AS (
        SELECT
            r.device_key,
            r.launch_id,
            r.device_id,
            r.event_id,
            r.start_ns,
            r.device_key::HUGEINT << 64 AS device_place,
            lag(r.reached) OVER () AS reached_before
        FROM _reached AS r
    ),

    _gaps AS (
        SELECT
            f.device_key,
            f.launch_id,
            f.device_id,
            f.event_id,
            f.start_ns,
            CASE
                WHEN f.reached_before >= f.device_place
                    THEN (f.reached_before - f.device_place)::BIGINT
            END AS before_ns
        FROM _followed AS f
    ),

    -- Of all gaps only those of more than 1 ms can hold such a wait, and the time before the first work.
    _long AS (
        SELECT g.device_key, g.launch_id, g.device_id, g.event_id, g.start_ns, g.before_ns
        FROM _gaps AS g
        WHERE g.before_ns IS NULL OR g.start_ns - g.before_ns > 1000000
    ),

    _calls AS (
        SELECT
            h.run,
            h.worker,
            h.span,
            first_id(t.names, h.run, h.worker, h.span) + h.event_id AS id,
            h.start_ns + h.duration_ns AS end_ns
        FROM host_events AS h
        CROSS JOIN _names AS t
        WHERE is_wanted(h.run, h.worker, h.span, run, worker, span)
    )

    SELECT
        c.run,
        c.worker,
        c.span,
        w.device_id,
        w.device_key,
        w.event_id,
        w.before_ns IS NULL AS is_first,
        greatest(w.before_ns, c.end_ns) AS start_ns,
        w.start_ns AS end_ns
    FROM _long AS w
    INNER JOIN _calls AS c ON w.launch_id = c.id
    WHERE w.start_ns - greatest(w.before_ns, c.end_ns) > 1000000;
