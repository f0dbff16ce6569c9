-- table: other_events
-- since: 0.1
-- summary: Everything else: instants, span rows, metadata rows, phases that nobody foresaw.
-- grain: one row per event that no other table holds
CREATE TABLE other_events (
    run VARCHAR,  -- Name of the run: the folder of the trace, relative to the ingested folder.
    worker VARCHAR,  -- Who recorded the trace: the file name up to the first stamp, often host and process id.
    span VARCHAR,  -- Which recording of the worker: '1', '2', ... in order of the stamps, or 'default'.
    event_id BIGINT,  -- Position of the event in the file's traceEvents, from 0.
    phase VARCHAR,  -- Phase: 'i', 'M', 'X', 'B', ...
    category VARCHAR,  -- The file's own word.
    name VARCHAR,  -- Name of the event.
    pid VARCHAR,  -- Process.
    tid VARCHAR,  -- Thread.
    time_ns BIGINT,  -- When, or the start, nanoseconds since the epoch.
    duration_ns BIGINT,  -- Length in nanoseconds, where the event has one.
    args JSON,  -- All arguments.
    raw JSON  -- Fields of the event that no column gives back exactly, e.g. a thread id that was written as text. NULL almost always.
);
