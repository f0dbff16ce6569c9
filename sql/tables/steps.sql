-- table: steps
-- since: 0.1
-- summary: Steps, as recorded and as extended to the device work that they launched.
-- grain: one row per step of a trace; one row with a NULL step for a trace without steps
--
-- A step is a ProfilerStep# annotation. In a trace without these it is a step of a serving framework; the
-- block serving_marks says which annotations that are. In a Chrome trace of JAX or TensorFlow, a step is an event
-- with the argument step_num: those of jax.profiler.StepTraceAnnotation. If several steps of a trace have one number,
-- as where each epoch counts from 0, or training and validation do, its steps are numbered by start, from 0.
--
-- The device events of a step are those whose launch call lies inside it. The extended times are computed
-- in order of start, with a variable prev. It begins as the start of the first step, or as the latest end of
-- a device event that was launched outside of all steps and ends before the first step's first device
-- event, if that is later. For each step: extended start = max(prev, start), extended end = max(end, last end
-- of the step's device events), and then prev = extended end.
--
-- A tail step is one that the end of the recording cut short: each step after the last one with device events, and
-- that one, too, if it has fewer than 80 % of the device events of the step before it. In a trace without device
-- events it is the last step, if it has fewer than 80 % of the operators and annotations of each other step, or the
-- only step, if it has none and takes less than 10 ms. Steps of serving frameworks do different work: of these, only
-- those after the last one with device events are tail steps.
CREATE TABLE steps (
    run VARCHAR,  -- Name of the run: the folder of the trace, relative to the ingested folder.
    worker VARCHAR,  -- Worker that recorded the trace: the file name up to the timestamp, often host and process id, or a rank.
    span VARCHAR,  -- Recording of the worker: '1', '2', ... by time, perhaps with a stage ('1-DECODE'), or 'default'.
    step BIGINT,  -- Number after 'ProfilerStep#', or step_num, or the number by start, from 0, if such a number repeats; of steps of a serving framework the number by start, from 1; NULL for the single step of a trace without steps.
    name VARCHAR,  -- Name of the annotation.
    event_id BIGINT,  -- Row of the annotation in host_events.
    start_ns BIGINT,  -- Start as recorded.
    end_ns BIGINT,  -- End as recorded.
    extended_start_ns BIGINT,  -- Start, moved past the device work of the previous step.
    extended_end_ns BIGINT,  -- End, moved to the end of the step's own device work.
    device_events BIGINT,  -- Device events launched inside the step.
    is_tail BOOLEAN  -- Whether it is a tail step, which averages leave out.
);
