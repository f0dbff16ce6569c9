-- function: first_id
-- since: 0.1
-- summary: What is added to the ids of a trace to make them unique among all traces.
-- returns: BIGINT
-- uses: trace_key
--
-- The ids of events and stacks are unique within a trace. A number that is unique everywhere,
--
--     first_id(t.names, h.run, h.worker, h.span) + h.event_id
--
-- makes joins three times as fast as (run, worker, span, event_id), and DuckDB works it out at once for
-- all rows of a file: joining a table of numbers would compare the three names for each.
--
-- params
--   name    type       unit  default  meaning
--   names   VARCHAR[]  -     -        The key of each trace, as trace_names lists them.
--   run     VARCHAR    -     -        Run of the trace.
--   worker  VARCHAR    -     -        Worker that recorded it.
--   span    VARCHAR    -     -        Which recording of the worker.
CREATE MACRO first_id(names VARCHAR[], run VARCHAR, worker VARCHAR, span VARCHAR) AS (
    list_position(names, trace_key(run, worker, span)) * (1::BIGINT << 40)
);
