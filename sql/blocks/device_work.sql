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
    SELECT
        a.trace,
        -dense_rank() OVER (ORDER BY a.trace, d.device_id, d.stream_id) AS lane,
        a.from_ns,
        d.device_id,
        d.stream_id,
        d.event_id,
        d.kind,
        d.start_ns,
        d.start_ns + d.duration_ns AS end_ns,
        max(d.start_ns + d.duration_ns) OVER (
            PARTITION BY a.trace, d.device_id, d.stream_id ORDER BY d.start_ns, d.event_id
            ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
        ) AS before_ns,
        d.launch_id,
        c.start_ns AS launch_ns,
        c.lane AS launch_lane,
        -- A kernel may start before its call returns, and clocks may differ.
        CASE
            WHEN c.end_ns < d.start_ns THEN c.end_ns WHEN c.end_ns >= d.start_ns THEN d.start_ns
        END
            AS launched_ns,
        d.start_ns < c.end_ns AS is_early
    FROM device_events AS d
    INNER JOIN query_table(traces) AS a
        ON d.run = a.run AND d.worker = a.worker AND d.span = a.span
    LEFT JOIN query_table(calls) AS c ON a.trace = c.trace AND d.launch_id = c.event_id
    WHERE
        d.kind IN ('compute', 'communication', 'memcpy', 'memset')
        AND d.start_ns < a.to_ns;
