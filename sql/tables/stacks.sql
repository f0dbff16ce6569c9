-- table: stacks
-- since: 0.1
-- summary: Stacks of host events: the events around an event, and the event itself.
-- grain: one row per stack of a trace
--
-- Ingest computes the stacks, because there are few stacks and many events. A stack lists nested events of a
-- thread: annotations, Python frames, operators, calls. Operators with different texts in call_stack are on
-- different stacks. A stack is the same at any time and on any thread, and all profiler steps count as one.
-- An event that ends after the event in which it started is a sibling of that event, under the parent of
-- both. Each instant of a thread belongs to the stack of the open event that started last.
CREATE TABLE stacks (
    run VARCHAR,  -- Name of the run: the folder of the trace, relative to the ingested folder.
    worker VARCHAR,  -- Worker that recorded the trace: the file name up to the timestamp, often host and process id, or a rank.
    span VARCHAR,  -- Recording of the worker: '1', '2', ... by time, perhaps with a stage ('1-DECODE'), or 'default'.
    stack_id BIGINT,  -- Number of the stack in its trace, from 1, in the order of first occurrence in the file.
    outer_stack_id BIGINT,  -- The stack without its innermost event; NULL at the top.
    category VARCHAR,  -- 'cpu_op', 'user_annotation', 'python_function', 'cuda_runtime', ...: category of the innermost event.
    name VARCHAR,  -- Name of the innermost event; 'ProfilerStep*' for every step.
    source_file VARCHAR,  -- Source file of a Python frame, or of the innermost line in the call stack of an operator.
    source_line INTEGER,  -- Line in the source file.
    source_function VARCHAR,  -- Function of that line.
    calls BIGINT,  -- Number of events with this stack.
    self_duration_ns BIGINT  -- Time in which this was the open stack of a thread, summed over all threads.
);
