-- block: unmatched_replays
-- since: 0.2
-- summary: Device events of graph launches that were compared with captured graphs, and have no captured call.
-- grain: one row per such event
-- uses: compared_replays
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
    FROM compared_replays(run, worker, span) AS e
    WHERE e.call_id IS NULL;
