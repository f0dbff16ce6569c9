-- block: unrecorded_waits
-- since: 0.1
-- summary: Time in which launched work waited and its device shows no work: it waited for work that is not in the trace.
-- grain: one row per wait
-- uses: is_wanted
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
--   device_id  INTEGER  key  Number of the device on its host.
--   event_id   BIGINT   key  Work that waited, in device_events.
--   is_first   BOOLEAN  -    Whether it is the first work of the device.
--   start_ns   BIGINT   ns   Start of the wait: the end of the launch call, or of the work before it.
--   end_ns     BIGINT   ns   End of the wait: the start of the work.
CREATE MACRO unrecorded_waits(
    run VARCHAR := NULL, worker VARCHAR := NULL, span VARCHAR := NULL
) AS TABLE
    WITH
    _work AS (
        SELECT
            d.run,
            d.worker,
            d.span,
            d.device_id,
            d.event_id,
            d.launch_id,
            d.start_ns,
            max(d.start_ns + d.duration_ns) OVER (
                PARTITION BY d.run, d.worker, d.span, d.device_id
                ORDER BY d.start_ns, d.event_id
                ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
            ) AS before_ns
        FROM device_events AS d
        WHERE
            d.kind IN ('compute', 'communication', 'memcpy', 'memset')
            AND is_wanted(d.run, d.worker, d.span, run, worker, span)
    ),

    -- Of all gaps only those of more than 1 ms can hold such a wait, and the time before the first work.
    _long AS (
        SELECT w.*
        FROM _work AS w
        WHERE w.before_ns IS NULL OR w.start_ns - w.before_ns > 1000000
    )

    SELECT
        w.run,
        w.worker,
        w.span,
        w.device_id,
        w.event_id,
        w.before_ns IS NULL AS is_first,
        greatest(w.before_ns, h.start_ns + h.duration_ns) AS start_ns,
        w.start_ns AS end_ns
    FROM _long AS w
    INNER JOIN host_events AS h
        ON
            w.run = h.run AND w.worker = h.worker AND w.span = h.span
            AND w.launch_id = h.event_id
            AND is_wanted(h.run, h.worker, h.span, run, worker, span)
    WHERE w.start_ns - greatest(w.before_ns, h.start_ns + h.duration_ns) > 1000000;
