-- block: replay_work
-- since: 0.1
-- summary: Kernels, copies and memsets with the calls that launched them, as a replay of their traces needs them.
-- grain: one row per kernel, copy or memset of a trace with host events
-- uses: first_id, is_wanted, trace_names
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
    )

    SELECT
        w.first_id >> 40 AS trace,
        w.first_id + w.event_id AS id,
        -dense_rank() OVER (ORDER BY w.first_id, w.device_id, w.stream_id) AS lane,
        w.kind,
        w.start_ns,
        w.end_ns,
        c.id AS call_id,
        c.lane AS call_lane,
        c.start_ns AS call_ns,
        c.end_ns AS call_end_ns
    FROM _work AS w
    LEFT JOIN query_table(events) AS c ON w.first_id + w.launch_id = c.id AND c.is_call
    WHERE w.first_id IS NOT NULL;
