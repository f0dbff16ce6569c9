-- block: compared_replays
-- since: 0.2
-- summary: Device events of graph launches that are compared with captured graphs.
-- grain: one row per such event
-- uses: replay_matches, replayed_events
--
-- Where no graph was captured it has no rows, and is not planned: see views/empty_blocks.py.
--
-- params
--   run, worker, span
-- columns
--   run, worker, span
--   event_id     BIGINT   key  The event in device_events.
--   launch_id    BIGINT   -    The call that launched the graph.
--   duration_ns  BIGINT   ns   Duration.
--   basis        VARCHAR  -    As in replayed_events.
--   node         BIGINT   -    Position of the node in its graph, from 0; NULL if the node is not known.
--   call_id      BIGINT   -    Captured call with its operator, shapes and types; NULL if they are not known.
--   reason       VARCHAR  -    Why the captured call is not known.
CREATE MACRO compared_replays(
    run VARCHAR := NULL, worker VARCHAR := NULL, span VARCHAR := NULL
) AS TABLE
    SELECT
        e.run,
        e.worker,
        e.span,
        e.event_id,
        e.launch_id,
        e.duration_ns,
        e.basis,
        e.node,
        e.call_id,
        e.reason
    FROM replayed_events(run, worker, span) AS e
    SEMI JOIN (SELECT m.* FROM replay_matches(run, worker, span) AS m WHERE m.is_compared) AS m
        ON
            e.run = m.run AND e.worker = m.worker AND e.span = m.span
            AND e.launch_id = m.launch_id;
