-- table: steps
-- since: 0.1
-- summary: Profiler steps, as recorded and extended to the device work they launched.
-- grain: one row per ProfilerStep annotation of a trace; one row with a NULL step for a trace without any
--
-- A step's device events are those whose launch call lies inside it. Steps are walked in start
-- order with prev = the first step's start, raised to the end of any device event that was
-- launched outside all steps and ends before the first step's first device event: extended start =
-- max(prev, start), extended end = max(end, last end of the step's device events), prev = extended
-- end.
CREATE TABLE steps (
    run VARCHAR,  -- Name of the run: the folder of the trace, relative to the ingested folder.
    worker VARCHAR,  -- Who recorded the trace: the file name up to the first stamp, often host and process id.
    span VARCHAR,  -- Which recording of the worker: '1', '2', ... in order of the stamps, or 'default'.
    step BIGINT,  -- The number after 'ProfilerStep#'; NULL for the one step of a trace that has none.
    name VARCHAR,  -- Name of the annotation.
    event_id BIGINT,  -- The annotation in host_events.
    start_ns BIGINT,  -- Start as recorded.
    end_ns BIGINT,  -- End as recorded.
    extended_start_ns BIGINT,  -- Start, moved past the device work of the step before.
    extended_end_ns BIGINT,  -- End, moved to the end of the step's own device work.
    device_events BIGINT,  -- Device events launched inside the step.
    is_tail BOOLEAN  -- Not a whole step: after the last step with device events, or that one itself when it has fewer than 80 % of the device events of the step before it.
);
