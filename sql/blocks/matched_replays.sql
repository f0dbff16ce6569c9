-- block: matched_replays
-- since: 0.2
-- summary: Device events of graph launches whose captured call is known.
-- grain: one row per such event
-- uses: replayed_events
--
-- Where no graph was captured it has no rows, and is not planned: see views/empty_blocks.py.
--
-- params
--   run, worker, span
-- columns
--   run, worker, span
--   event_id        BIGINT   key  The event in device_events.
--   launch_id       BIGINT   -    The call that launched the graph.
--   duration_ns     BIGINT   ns   Duration.
--   uses_tensor_cores  BOOLEAN  -  As in replay_items.
--   capture_run     VARCHAR  -    Run of the captured call.
--   capture_worker  VARCHAR  -    Worker of the captured call.
--   capture_span    VARCHAR  -    Span of the captured call.
--   capture_id      BIGINT   -    The call that begins the capture; NULL if the node is not known.
--   node            BIGINT   -    Position of the node in its graph, from 0; NULL if the node is not known.
--   call_id         BIGINT   -    Captured call with its operator, shapes and types.
--   operator        VARCHAR  -    Nearest operator around the captured call, or nearest annotation if there is no operator.
CREATE MACRO matched_replays(
    run VARCHAR := NULL, worker VARCHAR := NULL, span VARCHAR := NULL
) AS TABLE
    SELECT
        e.run,
        e.worker,
        e.span,
        e.event_id,
        e.launch_id,
        e.duration_ns,
        e.uses_tensor_cores,
        e.capture_run,
        e.capture_worker,
        e.capture_span,
        e.capture_id,
        e.node,
        e.call_id,
        e.operator
    FROM replayed_events(run, worker, span) AS e
    WHERE e.call_id IS NOT NULL;
