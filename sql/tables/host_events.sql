-- table: host_events
-- since: 0.1
-- summary: Complete events on host threads: operators, annotations, Python frames, runtime and driver calls.
-- grain: one row per complete event on a host thread
--
-- Nesting is computed per thread (pid, tid). Events are half-open intervals, ordered by start; of equal
-- starts the longer event comes first, then file order decides. The ancestors of an event are the events that
-- are open when it starts. An event that has ended is no longer an ancestor, even if an event that started
-- inside it is still open. So an event that ends after the event in which it started is a sibling of that
-- event, under the parent of both. The part that overlaps is still subtracted from the self time.
--
-- The rule is applied among operators and annotations, among modules (see the block module_events), and
-- for stacks among all events. So a Python frame that is never closed takes no work from the operator
-- and the module in which it starts. The profiler may lose the end of a Python frame: one that ends
-- after the function that called it ends with that function here, and raw has its duration in the file.
-- Events that cannot contain any of these, such as a call that launches a kernel, belong to the
-- innermost operator and module that are open when they start, however long they last. An asynchronous
-- annotation is never an ancestor on other threads. On its own thread it is the ancestor of events that
-- start while it is open.
--
-- An event that a Chrome trace writes as two rows of a thread, its begin and its end, is one row here. The row of
-- the end is in other_events, with its arguments.
--
-- An operator whose only child is an operator of the same name forms one call with it, and the outermost
-- row of such a chain represents the call. Ingest computes the costs of each call, so that queries need not
-- climb the tree again. It stores them in parts that do not overlap, which takes the least space. The
-- block operator_costs adds the parts up.
CREATE TABLE host_events (
    run VARCHAR,  -- Name of the run: the folder of the trace, relative to the ingested folder.
    worker VARCHAR,  -- Worker that recorded the trace: the file name up to the timestamp, often host and process id, or a rank.
    span VARCHAR,  -- Recording of the worker: '1', '2', ... by time, perhaps with a stage ('1-DECODE'), or 'default'.
    event_id BIGINT,  -- Position of the event in the file's traceEvents, from 0.
    category VARCHAR,  -- 'cpu_op', 'user_annotation', 'python_function', 'cuda_runtime', 'cuda_driver', ... Named as in current traces, whatever the generation of the file.
    raw_category VARCHAR,  -- Category as written in the file.
    name VARCHAR,  -- Name as the profiler wrote it.
    pid VARCHAR,  -- Process.
    tid VARCHAR,  -- Thread.
    thread_id BIGINT,  -- Thread as a number, if it is one.
    start_ns BIGINT,  -- Start, nanoseconds since the epoch.
    duration_ns BIGINT,  -- Duration in nanoseconds.
    parent_id BIGINT,  -- Innermost host event of the same thread that is open from its start to its end; NULL at the top.
    op_id BIGINT,  -- Nearest operator or annotation around it, the event itself included.
    parent_op_id BIGINT,  -- Nearest operator or annotation around it, the event itself excluded.
    depth INTEGER,  -- Number of ancestors: 0 at the top, otherwise the parent's depth plus 1.
    self_duration_ns BIGINT,  -- Time in which no event that started later was open; for an operator or annotation, Python frames do not count as such events.
    overlap_start_ns BIGINT,  -- Start of the first host event of the same thread that starts inside this event and ends after it; NULL if there is none, as for nearly all events.
    stack_id BIGINT,  -- Row in stacks: the events around this one from its start to its end, and the event itself.
    inner_self_ns BIGINT,  -- Self time of inner operators that form one call with this one; mostly 0. This and the next seven columns are NULL on rows that do not represent a call.
    plain_self_ns BIGINT,  -- Time of copies, memsets and kernels without tensor cores that the call launched itself. This and the next five columns are NULL if the trace does not link device work to operators.
    plain_below_ns BIGINT,  -- The same for work launched by the operators below it.
    tensor_core_self_ns BIGINT,  -- Time of kernels with tensor cores that the call launched itself.
    tensor_core_below_ns BIGINT,  -- The same for work launched by the operators below it.
    unknown_self_ns BIGINT,  -- Time of kernels that the call launched itself and whose names do not tell whether they use tensor cores.
    unknown_below_ns BIGINT,  -- The same for work launched by the operators below it.
    tensor_core_eligible BOOLEAN,  -- Whether the call or an operator below it can use tensor cores.
    external_id BIGINT,  -- [External id, external id] Profiler's id of the operator; on a runtime call, of the operator that made the call.
    correlation_id BIGINT,  -- [correlation] Joins a runtime or driver call to the device events it launched.
    sequence_number BIGINT,  -- [Sequence number] Autograd sequence number, shared by a forward operator and its backward.
    forward_thread_id BIGINT,  -- [Fwd thread id] On a backward operator, the thread of its forward operator, counted from 1. 0 or NULL on all others.
    input_dims JSON,  -- [Input Dims, Input dims] Shape of each input; a list of shapes for an input that is a list of tensors.
    input_types VARCHAR[],  -- [Input type] Type of each input.
    input_strides JSON,  -- [Input Strides] Strides of each input.
    concrete_inputs VARCHAR[],  -- [Concrete Inputs] Value of each scalar input as text, '' for tensors.
    call_stack VARCHAR,  -- [Call stack] Python frames, innermost first, separated by ';'.
    module_hierarchy VARCHAR,  -- [Module Hierarchy] Names of the enclosing modules.
    python_id BIGINT,  -- [Python id] Number of a Python frame.
    python_parent_id BIGINT,  -- [Python parent id] Number of the calling Python frame.
    python_module_id BIGINT,  -- [Python module id] Number of the nn.Module instance that the frame calls.
    source_file VARCHAR,  -- Source file of a Python frame, from its name.
    source_line INTEGER,  -- Line of a Python frame, from its name.
    source_function VARCHAR,  -- Function of a Python frame, from its name.
    finished BOOLEAN,  -- [finished] FALSE if the event had not ended when the recording stopped.
    event_index BIGINT,  -- [Ev Idx, Profiler Event Index] Number that the profiler gave the event.
    record_function_id BIGINT,  -- [Record function id] Number of the RecordFunction observer call, shared with execution traces.
    callback_id BIGINT,  -- [cbid] CUPTI's number of the runtime or driver function.
    args JSON,  -- Arguments without a column, or whose value the column cannot reproduce exactly. A null for an argument whose column has a value means that the file has the value under this older key.
    raw JSON  -- Fields of the event that no column reproduces exactly, e.g. a thread id written as text. NULL for almost all events.
);
