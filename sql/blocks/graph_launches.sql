-- block: graph_launches
-- since: 0.2
-- summary: Calls that launched a graph which was captured before.
-- grain: one row per call
-- uses: is_wanted
--
-- Where no graph was launched it has no rows, and is not planned: see views/empty_blocks.py.
--
-- params
--   run, worker, span
-- columns
--   run, worker, span
--   event_id      BIGINT   key  The call in host_events.
--   has_operator  BOOLEAN  -    Whether an operator is around the call.
--   duration_ns   BIGINT   ns   Sum of the durations of the device events that it caused.
CREATE MACRO graph_launches(
    run VARCHAR := NULL, worker VARCHAR := NULL, span VARCHAR := NULL
) AS TABLE
    SELECT
        g.run,
        g.worker,
        g.span,
        g.event_id,
        len(g.operator_ids) > 0 AS has_operator,
        g.duration_ns
    FROM graphs AS g
    WHERE g.role = 'launch' AND is_wanted(g.run, g.worker, g.span, run, worker, span);
