-- table: other_events
-- since: 0.1
-- summary: Events that no other table holds: instants, ends of events, span rows, metadata rows, and unknown phases.
-- grain: one row per event that no other table holds
CREATE TABLE other_events (
    run VARCHAR,  -- Name of the run: the folder of the trace, relative to the ingested folder.
    worker VARCHAR,  -- Worker that recorded the trace: the file name up to the timestamp, often host and process id, or a rank.
    span VARCHAR,  -- Recording of the worker: '1', '2', ... by time, perhaps with a stage ('1-DECODE'), or 'default'.
    event_id BIGINT,  -- Position of the event in the file's traceEvents, from 0.
    phase VARCHAR,  -- Phase: 'i', 'M', 'X', 'E', ...; 'B' is the begin of an event without an end.
    category VARCHAR,  -- Category as written in the file.
    name VARCHAR,  -- Name of the event.
    pid VARCHAR,  -- Process.
    tid VARCHAR,  -- Thread.
    time_ns BIGINT,  -- Time or start, nanoseconds since the epoch.
    duration_ns BIGINT,  -- Duration in nanoseconds, if the event has one.
    args JSON,  -- All arguments.
    raw JSON  -- Fields of the event that no column reproduces exactly, e.g. a thread id written as text. NULL for almost all events.
);
