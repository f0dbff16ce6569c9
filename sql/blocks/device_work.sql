-- block: device_work
-- since: 0.1
-- summary: Kernels, copies and memsets, with the end of earlier work on the stream and the call that launched them.
-- grain: one row per kernel, copy or memset
--
-- params
--   name    type     unit  default  meaning
--   traces  VARCHAR  -     -        Name of a relation with run, worker, span, trace (a number), from_ns and to_ns: work that starts at to_ns or later is left out.
--   calls   VARCHAR  -     -        Name of a relation with trace, event_id, lane (a number of the thread), start_ns and end_ns: runtime and driver calls.
-- columns
--   name         type     unit  meaning
--   trace        BIGINT   key   Number of the trace.
--   lane         BIGINT   key   Number of the stream, below 0.
--   from_ns      BIGINT   ns    As given for the trace.
--   device_id    INTEGER  key   The device.
--   stream_id    BIGINT   key   The stream.
--   event_id     BIGINT   key   The kernel, copy or memset.
--   kind         VARCHAR  -     'compute', 'communication', 'memcpy' or 'memset'.
--   start_ns     BIGINT   ns    Start of the work.
--   end_ns       BIGINT   ns    End of the work.
--   before_ns    BIGINT   ns    Latest end of earlier work on the stream; NULL for the first.
--   launch_id    BIGINT   key   Call that launched it; this and the next columns are NULL where unknown.
--   launch_ns    BIGINT   ns    Start of the call.
--   launch_lane  BIGINT   key   Thread of the call.
--   launched_ns  BIGINT   ns    End of the call, or the start of the work if that is earlier.
--   is_early     BOOLEAN  -     Whether the work started before the call ended.
CREATE MACRO device_work(traces VARCHAR, calls VARCHAR) AS TABLE
    WITH
    _work AS MATERIALIZED (
        SELECT
            a.trace,
            a.from_ns,
            d.device_id,
            d.stream_id,
            d.event_id,
            d.kind,
            d.start_ns,
            d.start_ns + d.duration_ns AS end_ns,
            d.launch_id
        FROM device_events AS d
        INNER JOIN query_table(traces) AS a
            ON d.run = a.run AND d.worker = a.worker AND d.span = a.span
        WHERE
            d.kind IN ('compute', 'communication', 'memcpy', 'memset')
            AND d.start_ns < a.to_ns
    ),

    _streams AS (
        SELECT
            u.trace,
            u.device_id,
            u.stream_id,
            row_number() OVER (ORDER BY u.trace, u.device_id, u.stream_id) AS number
        FROM (SELECT DISTINCT w.trace, w.device_id, w.stream_id FROM _work AS w) AS u
    ),

    -- Sorted before the windows, not by them: then the windows need no memory.
    _in_order AS (
        SELECT w.*, s.number
        FROM _work AS w
        INNER JOIN _streams AS s
            ON
                w.trace = s.trace
                AND w.device_id IS NOT DISTINCT FROM s.device_id
                AND w.stream_id IS NOT DISTINCT FROM s.stream_id
        ORDER BY s.number, w.start_ns, w.event_id
    ),

    -- Stream and end are one number, because the largest end so far must not come from another stream.
    _reached AS (
        SELECT
            o.*,
            max((o.number::HUGEINT << 64) + o.end_ns)
                OVER (ROWS UNBOUNDED PRECEDING) AS reached  -- noqa: PRS, CP02
        FROM _in_order AS o
    ),

    _followed AS (
        SELECT
            r.*,
            r.number::HUGEINT << 64 AS place,
            lag(r.reached) OVER () AS reached_before
        FROM _reached AS r
    )

    SELECT
        f.trace,
        -f.number::INTEGER AS lane,
        f.from_ns,
        f.device_id,
        f.stream_id,
        f.event_id,
        f.kind,
        f.start_ns,
        f.end_ns,
        CASE WHEN f.reached_before >= f.place THEN (f.reached_before - f.place)::BIGINT END
            AS before_ns,
        f.launch_id,
        c.start_ns AS launch_ns,
        c.lane AS launch_lane,
        -- A kernel may start before its call returns, and clocks may differ.
        CASE
            WHEN c.end_ns < f.start_ns THEN c.end_ns WHEN c.end_ns >= f.start_ns THEN f.start_ns
        END
            AS launched_ns,
        f.start_ns < c.end_ns AS is_early
    FROM _followed AS f
    LEFT JOIN query_table(calls) AS c ON f.trace = c.trace AND f.launch_id = c.event_id;
