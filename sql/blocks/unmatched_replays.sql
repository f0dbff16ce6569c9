-- block: unmatched_replays
-- since: 0.2
-- summary: Device events of graph launches that were compared with captured graphs, and have no captured call.
-- grain: one row per such event
-- uses: replay_matches, replayed_events
--
-- params
--   run, worker, span
-- columns
--   run, worker, span
--   event_id     BIGINT   key  The event in device_events.
--   launch_id    BIGINT   -    The call that launched the graph.
--   duration_ns  BIGINT   ns   Duration.
--   reason       VARCHAR  -    Why the captured call is not known.
CREATE MACRO unmatched_replays(
    run VARCHAR := NULL, worker VARCHAR := NULL, span VARCHAR := NULL
) AS TABLE
    SELECT e.run, e.worker, e.span, e.event_id, e.launch_id, e.duration_ns, e.reason
    FROM replayed_events(run, worker, span) AS e
    SEMI JOIN (SELECT m.* FROM replay_matches(run, worker, span) AS m WHERE m.is_compared) AS m
        ON
            e.run = m.run AND e.worker = m.worker AND e.span = m.span
            AND e.launch_id = m.launch_id
    WHERE e.call_id IS NULL;
