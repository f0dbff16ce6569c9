-- table: host_events
-- since: 0.1
-- summary: Complete events on host threads: operators, annotations, Python frames, runtime and driver calls.
-- grain: one row per complete event on a host thread
--
-- Nesting is per (pid, tid) over half-open intervals ordered by start, longer first, file order on
-- ties. The ancestors of an event are those that are still open when it begins; what has ended is nobody's
-- ancestor any more, even where something that began inside it is still open. So an event that lasts longer
-- than the one in which it starts is not inside that one but beside it, in what contains both. The part
-- that overlaps still counts against self time.
--
-- The rule holds among operators and annotations, among modules (the block module_events), and in stacks
-- among all events. A Python frame that is never closed thus takes no work from the operator and the module
-- in which it starts. What can contain none of them, a call that launches a kernel above all, belongs to
-- the innermost operator, and the innermost module, that is open when it begins, as long as it may last. An
-- asynchronous annotation is an ancestor of nothing on other threads, and on its own of what begins while it
-- is open.
--
-- An operator whose only child is an operator of the same name is one call with it, and the outermost
-- row of such a chain stands for all of them. What a call cost is settled by ingest, so that no question
-- has to go up the tree again, in parts that do not overlap: that takes the least room. The block
-- operator_costs adds them up.
CREATE TABLE host_events (
    run VARCHAR,  -- Name of the run: the folder of the trace, relative to the ingested folder.
    worker VARCHAR,  -- Who recorded the trace: the file name up to the first stamp, often host and process id.
    span VARCHAR,  -- Which recording of the worker: '1', '2', ... in order of the stamps, or 'default'.
    event_id BIGINT,  -- Position of the event in the file's traceEvents, from 0.
    category VARCHAR,  -- 'cpu_op', 'user_annotation', 'python_function', 'cuda_runtime', 'cuda_driver', ...: today's word, whatever the generation.
    raw_category VARCHAR,  -- The file's own word.
    name VARCHAR,  -- Name as the profiler wrote it.
    pid VARCHAR,  -- Process.
    tid VARCHAR,  -- Thread.
    thread_id BIGINT,  -- The thread as a number, where it is one.
    start_ns BIGINT,  -- Start, nanoseconds since the epoch.
    duration_ns BIGINT,  -- Length in nanoseconds.
    parent_id BIGINT,  -- Innermost host event of the same thread that is open from its start to its end; NULL at the top.
    op_id BIGINT,  -- Nearest operator or annotation around it, the event itself included.
    parent_op_id BIGINT,  -- Nearest operator or annotation around it, the event itself excluded.
    depth INTEGER,  -- Number of its ancestors: 0 at the top, else one more than that of its parent.
    self_duration_ns BIGINT,  -- Time in which nothing that started later was open; in an operator or annotation Python frames do not count.
    overlap_start_ns BIGINT,  -- Start of the first host event of the same thread that begins in it and ends after it; NULL where there is none, as nearly always.
    stack_id BIGINT,  -- What is open around it from its start to its end, and itself, in stacks.
    inner_self_ns BIGINT,  -- Self time of the operators inside that are one call with this one, mostly 0. NULL, as the next seven, on rows that do not stand for a call.
    plain_self_ns BIGINT,  -- Copies, sets and kernels that use no tensor cores, which the call launched itself; NULL, as the next five, where the trace links no device work to operators.
    plain_below_ns BIGINT,  -- The same, launched by the operators below it.
    tensor_core_self_ns BIGINT,  -- Kernels that use tensor cores, which the call launched itself.
    tensor_core_below_ns BIGINT,  -- The same, launched by the operators below it.
    unknown_self_ns BIGINT,  -- Kernels whose name cannot tell whether they use tensor cores, which the call launched itself.
    unknown_below_ns BIGINT,  -- The same, launched by the operators below it.
    tensor_core_eligible BOOLEAN,  -- Whether the call or an operator below it can use tensor cores.
    external_id BIGINT,  -- [External id, external id] Profiler's id of the operator; on a runtime call the operator that made it.
    correlation_id BIGINT,  -- [correlation] Joins a runtime or driver call to the device events it launched.
    sequence_number BIGINT,  -- [Sequence number] Autograd sequence number, shared by a forward operator and its backward.
    forward_thread_id BIGINT,  -- [Fwd thread id] Thread of the forward operator, on a backward one.
    input_dims JSON,  -- [Input Dims, Input dims] Shape of each input; a list of shapes for an input that is a list of tensors.
    input_types VARCHAR[],  -- [Input type] Type of each input.
    input_strides JSON,  -- [Input Strides] Strides of each input.
    concrete_inputs VARCHAR[],  -- [Concrete Inputs] Value of each scalar input as text, '' for tensors.
    call_stack VARCHAR,  -- [Call stack] Python frames, innermost first, separated by ';'.
    module_hierarchy VARCHAR,  -- [Module Hierarchy] Names of the enclosing modules.
    python_id BIGINT,  -- [Python id] Number of a Python frame.
    python_parent_id BIGINT,  -- [Python parent id] Number of the calling Python frame.
    python_module_id BIGINT,  -- [Python module id] Number of the nn.Module instance whose call the frame is.
    source_file VARCHAR,  -- Source file of a Python frame, from its name.
    source_line INTEGER,  -- Line of a Python frame, from its name.
    source_function VARCHAR,  -- Function of a Python frame, from its name.
    finished BOOLEAN,  -- [finished] False where the event had not ended when recording stopped.
    event_index BIGINT,  -- [Ev Idx, Profiler Event Index] Number that the profiler gave the event.
    record_function_id BIGINT,  -- [Record function id] Number of the RecordFunction observer call, shared with execution traces.
    callback_id BIGINT,  -- [cbid] CUPTI's number of the runtime or driver function.
    args JSON,  -- Arguments that have no column, or whose value the column cannot give back exactly. A null beside a filled column says that the value stood under this older key.
    raw JSON  -- Fields of the event that no column gives back exactly, e.g. a thread id that was written as text. NULL almost always.
);
