-- block: replay_work
-- since: 0.1
-- summary: Kernels, copies and memsets with the calls that launched them, as a replay of their traces needs them.
-- grain: one row per kernel, copy or memset of a trace with host events
-- uses: first_id, is_wanted, latest_before, trace_names
--
-- If the device recorded its synchronisations, they tell after which call an event was recorded on another stream, and
-- that a stream waited for it. Then the work launched on the stream next waits for what was launched last on the
-- other one before that call.
--
-- params
--   name    type     unit  default  meaning
--   events  VARCHAR  -     -        Name of a relation with trace, id, lane, is_call, start_ns and end_ns, as replay_events(run, worker, span) gives them.
--   run, worker, span
-- columns
--   name         type     unit  meaning
--   trace        BIGINT   key   Number of the trace, as in trace_names.
--   id           BIGINT   key   Number of the work, as in trace_names.
--   lane         BIGINT   -     Number of the stream, below 0.
--   kind         VARCHAR  -     'compute', 'communication', 'memcpy' or 'memset'.
--   start_ns     BIGINT   ns    Start of the work.
--   end_ns       BIGINT   ns    End of the work.
--   call_id      BIGINT   -     Call that launched it; this and the next columns are NULL where unknown.
--   call_lane    BIGINT   -     Thread of the call.
--   call_ns      BIGINT   ns    Start of the call.
--   call_end_ns  BIGINT   ns    End of the call.
--   sources      BIGINT[]  -    Work on other streams that its stream waited for, as recorded; NULL where nothing is known.
CREATE MACRO replay_work(
    events VARCHAR, run VARCHAR := NULL, worker VARCHAR := NULL, span VARCHAR := NULL
) AS TABLE
    WITH
    _work AS (
        SELECT
            first_id(t.names, d.run, d.worker, d.span) AS first_id,
            d.event_id,
            d.device_id,
            d.stream_id,
            d.kind,
            d.start_ns,
            d.start_ns + d.duration_ns AS end_ns,
            d.launch_id
        FROM device_events AS d
        CROSS JOIN trace_names(run, worker, span) AS t
        WHERE
            d.kind IN ('compute', 'communication', 'memcpy', 'memset')
            AND is_wanted(d.run, d.worker, d.span, run, worker, span)
    ),

    _launched AS MATERIALIZED (
        SELECT
            w.*,
            -dense_rank() OVER (ORDER BY w.first_id, w.device_id, w.stream_id) AS lane,
            c.id AS call_id,
            c.lane AS call_lane,
            c.start_ns AS call_ns,
            c.end_ns AS call_end_ns
        FROM _work AS w
        LEFT JOIN query_table(events) AS c ON w.first_id + w.launch_id = c.id AND c.is_call
        WHERE w.first_id IS NOT NULL
    ),

    _waits AS (
        SELECT
            first_id(t.names, d.run, d.worker, d.span) AS first_id,
            d.device_id,
            d.stream_id,
            d.launch_id,
            try_cast(d.args ->> '$.wait_on_stream' AS BIGINT) AS awaited_stream_id,
            try_cast(d.args ->> '$.wait_on_cuda_event_record_corr_id' AS BIGINT) AS record_id
        FROM device_events AS d
        CROSS JOIN trace_names(run, worker, span) AS t
        WHERE
            d.kind = 'sync'
            AND d.name = 'Stream Wait Event'
            AND is_wanted(d.run, d.worker, d.span, run, worker, span)
    ),

    _records AS (
        SELECT
            first_id(t.names, h.run, h.worker, h.span) AS first_id,
            h.correlation_id,
            h.start_ns
        FROM host_events AS h
        CROSS JOIN trace_names(run, worker, span) AS t
        WHERE
            contains(h.name, 'EventRecord')
            AND is_wanted(h.run, h.worker, h.span, run, worker, span)
    ),

    _streams AS MATERIALIZED (
        SELECT DISTINCT w.first_id, w.device_id, w.stream_id, w.lane FROM _launched AS w
    ),

    _known AS MATERIALIZED (
        SELECT
            row_number() OVER () AS id,
            s.lane,
            c.start_ns AS wait_ns,
            a.lane AS awaited_lane,
            r.start_ns AS record_ns
        FROM _waits AS w
        INNER JOIN _records AS r ON w.first_id = r.first_id AND w.record_id = r.correlation_id
        INNER JOIN query_table(events) AS c ON w.first_id + w.launch_id = c.id
        INNER JOIN _streams AS s
            ON w.first_id = s.first_id AND w.device_id = s.device_id AND w.stream_id = s.stream_id
        INNER JOIN _streams AS a
            ON
                w.first_id = a.first_id AND w.device_id = a.device_id
                AND w.awaited_stream_id = a.stream_id AND s.lane <> a.lane
    ),

    -- The first and the last work of each call on each stream.
    _calls AS MATERIALIZED (
        SELECT
            w.lane,
            w.call_ns,
            min((w.start_ns, w.event_id))[2] AS first_event,
            max((w.start_ns, w.event_id))[2] AS last_event
        FROM _launched AS w
        SEMI JOIN (
            SELECT k.lane
            FROM _known AS k
            UNION
            SELECT k.awaited_lane
            FROM _known AS k
        ) AS s
            ON w.lane = s.lane
        WHERE w.call_ns IS NOT NULL
        GROUP BY w.lane, w.call_ns
    ),

    _lasts AS (
        SELECT c.lane, c.call_ns AS at_ns, c.last_event AS id
        FROM _calls AS c
    ),

    _asked_records AS (
        SELECT k.awaited_lane AS lane, k.record_ns AS at_ns, k.id
        FROM _known AS k
    ),

    -- With all times negated, the latest before a wait is the next after it.
    _firsts AS (
        SELECT c.lane, -c.call_ns AS at_ns, c.first_event AS id
        FROM _calls AS c
    ),

    _asked_waits AS (
        SELECT k.lane, -k.wait_ns AS at_ns, k.id
        FROM _known AS k
    ),

    _sources AS (
        SELECT
            t.lane,
            t.latest_id AS event_id,
            list(DISTINCT s.latest_id ORDER BY s.latest_id) AS events
        FROM latest_before('_lasts', '_asked_records') AS s
        INNER JOIN latest_before('_firsts', '_asked_waits') AS t ON s.id = t.id
        GROUP BY t.lane, t.latest_id
    )

    SELECT
        w.first_id >> 40 AS trace,
        w.first_id + w.event_id AS id,
        w.lane,
        w.kind,
        w.start_ns,
        w.end_ns,
        w.call_id,
        w.call_lane,
        w.call_ns,
        w.call_end_ns,
        list_transform(s.events, LAMBDA e: w.first_id + e) AS sources
    FROM _launched AS w
    LEFT JOIN _sources AS s ON w.lane = s.lane AND w.event_id = s.event_id;
