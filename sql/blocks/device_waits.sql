-- block: device_waits
-- since: 0.1
-- summary: Waits for device work: which call on the host, or which work behind an event, waited for what.
-- grain: one row per call or work that waited and work that it may have waited for
-- uses: is_host_wait
--
-- If the device recorded its synchronisations, they tell on which stream a call waited, or after which
-- call an event was recorded. The wait is for the work launched last on that stream, and a waiting stream
-- waits before the work launched on it next. Other calls in which the host waits (is_host_wait) wait for
-- what ended last on any stream, of their device if that is recorded. A copy waits for itself, if it
-- takes any time.
--
-- params
--   name   type     unit  default  meaning
--   traces  VARCHAR  -    -        Name of a relation with run, worker, span and trace (a number).
--   calls  VARCHAR  -     -        Name of a relation with trace, event_id, name, start_ns, end_ns and correlation_id of runtime and driver calls.
--   work   VARCHAR  -     -        Name of a relation with trace, lane, device_id, stream_id, event_id, kind, start_ns, end_ns, launch_id and launch_ns of work on devices.
-- columns
--   name      type    unit  meaning
--   trace     BIGINT  key   As given.
--   event_id  BIGINT  key   Call or work that waited.
--   done_ns   BIGINT  ns    End of what it waited for; for a call, during the call.
--   lane      BIGINT  key   Stream that it waited for.
CREATE MACRO device_waits(traces VARCHAR, calls VARCHAR, work VARCHAR) AS TABLE
    WITH
    _syncs AS MATERIALIZED (
        SELECT
            c.trace,
            d.name,
            d.device_id,
            d.stream_id,
            try_cast(d.args ->> '$.wait_on_stream' AS BIGINT) AS awaited_stream_id,
            c.event_id AS call_id,
            is_host_wait(c.name) AS blocks,
            c.start_ns,
            c.end_ns,
            r.start_ns AS record_ns
        FROM device_events AS d
        INNER JOIN query_table(traces) AS a
            ON d.run = a.run AND d.worker = a.worker AND d.span = a.span
        INNER JOIN query_table(calls) AS c ON a.trace = c.trace AND d.launch_id = c.event_id
        LEFT JOIN query_table(calls) AS r
            ON
                c.trace = r.trace AND contains(r.name, 'EventRecord')
                AND try_cast(d.args ->> '$.wait_on_cuda_event_record_corr_id' AS BIGINT)
                = r.correlation_id
        WHERE d.kind = 'sync'
    ),

    -- The work that one call launched on one stream: a graph launches many.
    _launches AS MATERIALIZED (
        SELECT
            w.trace,
            w.lane,
            w.device_id,
            w.stream_id,
            w.launch_ns,
            max(w.end_ns) AS end_ns,
            arg_min(w.event_id, (w.start_ns, w.event_id)) AS first_id
        FROM query_table(work) AS w
        WHERE w.launch_ns IS NOT NULL
        GROUP BY ALL
    ),

    _of_events AS MATERIALIZED (
        SELECT s.*, l.end_ns AS done_ns, l.lane AS done_lane
        FROM _syncs AS s
        ASOF INNER JOIN _launches AS l
            ON
                s.trace = l.trace AND s.device_id = l.device_id
                AND s.awaited_stream_id = l.stream_id AND s.record_ns >= l.launch_ns
    ),

    -- Per device, and for all devices as -1.
    _ends AS (
        SELECT w.trace, d.device_id, w.end_ns, max(w.lane) AS lane
        FROM query_table(work) AS w, unnest([w.device_id, -1]) AS d (device_id)
        GROUP BY w.trace, d.device_id, w.end_ns
    ),

    _of_calls AS (
        SELECT
            e.trace, e.call_id AS event_id, e.start_ns, e.end_ns, e.done_ns, e.done_lane AS lane
        FROM _of_events AS e
        WHERE e.blocks
        UNION ALL
        SELECT s.trace, s.call_id, s.start_ns, s.end_ns, w.end_ns AS done_ns, w.lane
        FROM _syncs AS s
        ASOF INNER JOIN query_table(work) AS w
            ON
                s.trace = w.trace AND s.device_id = w.device_id AND s.stream_id = w.stream_id
                AND s.end_ns >= w.end_ns
        WHERE s.name = 'Stream Sync'
        UNION ALL
        SELECT c.trace, c.event_id, c.start_ns, c.end_ns, e.end_ns AS done_ns, e.lane
        FROM (
            SELECT
                c.trace, c.event_id, c.start_ns, c.end_ns, coalesce(s.device_id, -1) AS device_id
            FROM query_table(calls) AS c
            LEFT JOIN _syncs AS s ON c.trace = s.trace AND c.event_id = s.call_id
            WHERE
                is_host_wait(c.name)
                AND NOT coalesce(s.record_ns IS NOT NULL OR s.name = 'Stream Sync', FALSE)
        ) AS c
        ASOF INNER JOIN _ends AS e
            ON c.trace = e.trace AND c.device_id = e.device_id AND c.end_ns >= e.end_ns
        UNION ALL
        SELECT c.trace, c.event_id, c.start_ns, c.end_ns, w.end_ns AS done_ns, w.lane
        FROM query_table(work) AS w
        INNER JOIN query_table(calls) AS c ON w.trace = c.trace AND w.launch_id = c.event_id
        WHERE w.kind = 'memcpy' AND w.end_ns > w.start_ns
    )

    SELECT
        c.trace,
        c.event_id,
        max((c.done_ns, c.lane))[1] AS done_ns,
        max((c.done_ns, c.lane))[2] AS lane
    FROM _of_calls AS c
    WHERE c.done_ns > c.start_ns AND c.done_ns <= c.end_ns
    GROUP BY c.trace, c.event_id
    UNION ALL
    SELECT e.trace, l.first_id, max((e.done_ns, e.done_lane))[1], max((e.done_ns, e.done_lane))[2]
    FROM _of_events AS e
    ASOF INNER JOIN _launches AS l
        ON
            e.trace = l.trace AND e.device_id = l.device_id AND e.stream_id = l.stream_id
            AND e.start_ns <= l.launch_ns
    WHERE e.name = 'Stream Wait Event'
    GROUP BY e.trace, l.first_id;
