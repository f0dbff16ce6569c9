-- function: trace_key
-- since: 0.1
-- summary: The names of a trace as one text that no other trace has.
-- returns: VARCHAR
--
-- No name holds chr(0), so names that are joined by it stay apart.
--
-- params
--   name    type     unit  default  meaning
--   run     VARCHAR  -     -        Run of the trace.
--   worker  VARCHAR  -     -        Worker that recorded it.
--   span    VARCHAR  -     -        Which recording of the worker.
CREATE MACRO trace_key(run VARCHAR, worker VARCHAR, span VARCHAR) AS (
    run || chr(0) || worker || chr(0) || span
);
