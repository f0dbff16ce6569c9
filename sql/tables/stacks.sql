-- table: stacks
-- since: 0.1
-- summary: Every stack of host events that occurs: what is around an event, and the event itself.
-- grain: one row per stack of a trace
--
-- Settled by ingest: there are few stacks and many events. A stack has all events that are around
-- each other on a thread: annotations, Python frames, operators, calls. Operators with different texts in
-- call_stack are on different ones. It is the same one whenever and
-- on whichever thread it occurs, the steps of the profiler being one. An event that lasts longer than
-- the one in which it starts is not inside that one, but beside it in what is around both. Each instant
-- of a thread belongs to the stack of the event that started last and is still open.
CREATE TABLE stacks (
    run VARCHAR,  -- Name of the run: the folder of the trace, relative to the ingested folder.
    worker VARCHAR,  -- Who recorded the trace: the file name up to the first stamp, often host and process id.
    span VARCHAR,  -- Which recording of the worker: '1', '2', ... in order of the stamps, or 'default'.
    stack_id BIGINT,  -- Number of the stack in its trace, from 1, in the order in which they first occur in the file.
    outer_stack_id BIGINT,  -- The stack without its innermost event; NULL at the top.
    category VARCHAR,  -- 'cpu_op', 'user_annotation', 'python_function', 'cuda_runtime', ...: what the innermost event is.
    name VARCHAR,  -- Name of the innermost event; 'ProfilerStep*' for every step.
    source_file VARCHAR,  -- Source file of a Python frame, or of the innermost line in the call stack of an operator.
    source_line INTEGER,  -- Its line.
    source_function VARCHAR,  -- Its function.
    calls BIGINT,  -- Events with this stack.
    self_duration_ns BIGINT  -- How long it was what the thread had open, on all threads together.
);
