-- table: device_events
-- since: 0.1
-- summary: Events on devices: kernels, copies, memsets, synchronisations, and spans of annotations.
-- grain: one row per complete event on a device
CREATE TABLE device_events (
    run VARCHAR,  -- Name of the run: the folder of the trace, relative to the ingested folder.
    worker VARCHAR,  -- Worker that recorded the trace: the file name up to the timestamp, often host and process id, or a rank.
    span VARCHAR,  -- Recording of the worker: '1', '2', ... by time, perhaps with a stage ('1-DECODE'), or 'default'.
    event_id BIGINT,  -- Position of the event in the file's traceEvents, from 0.
    category VARCHAR,  -- 'kernel', 'gpu_memcpy', 'gpu_memset', 'cuda_sync', 'gpu_user_annotation', 'cuda_profiler_range', ... Named as in current traces.
    raw_category VARCHAR,  -- Category as written in the file.
    name VARCHAR,  -- Name as the profiler wrote it. Copies of torch's CUPTI monitor have the names that Kineto gives them.
    kind VARCHAR,  -- 'compute', 'communication', 'memcpy', 'memset', 'sync' or 'annotation'.
    pid VARCHAR,  -- Process of the row: the device in most generations.
    tid VARCHAR,  -- Thread of the row: the stream in most generations.
    device_id INTEGER,  -- [device] Device the event ran on.
    context_id BIGINT,  -- [context] Context on the device.
    stream_id BIGINT,  -- [stream, sycl queue] Stream (queue) on the device.
    start_ns BIGINT,  -- Start, nanoseconds since the epoch.
    duration_ns BIGINT,  -- Duration in nanoseconds.
    correlation_id BIGINT,  -- [correlation] Joins the event to the call that launched it.
    external_id BIGINT,  -- [External id, external id] Profiler's id of the launching operator.
    launch_id BIGINT,  -- The runtime or driver call that launched the event, in host_events.
    op_id BIGINT,  -- The operator or annotation that launched the event, in host_events.
    queued_ns BIGINT,  -- [queued] Time the event was queued; as recorded, mostly 0.
    grid INTEGER[],  -- [grid] Blocks in x, y and z.
    block INTEGER[],  -- [block] Threads per block in x, y and z.
    registers_per_thread INTEGER,  -- [registers per thread] Registers per thread.
    shared_memory_bytes BIGINT,  -- [shared memory] Shared memory per block.
    blocks_per_sm DOUBLE,  -- [blocks per SM] Blocks of the grid divided by the number of multiprocessors.
    warps_per_sm DOUBLE,  -- [warps per SM] Warps of the grid divided by the number of multiprocessors.
    est_achieved_occupancy_pct DOUBLE,  -- [est. achieved occupancy %] Occupancy that the launch allows, in percent.
    uses_tensor_cores BOOLEAN,  -- Whether it is a kernel that uses tensor cores (matrix cores), by CUPTI counters or else by its name; NULL where neither tells, and on rows that are not kernels.
    bytes BIGINT,  -- [bytes] Bytes copied or set.
    bandwidth_gbps DOUBLE,  -- [memory bandwidth (GB/s)] Bytes per nanosecond of a copy or memset.
    graph_id BIGINT,  -- [graph id] CUDA graph the event was replayed from.
    graph_node_id BIGINT,  -- [graph node id] Node of that graph.
    collective VARCHAR,  -- [Collective name] Collective that a communication kernel runs, e.g. 'allreduce'.
    collective_dtype VARCHAR,  -- [dtype] Element type of the collective.
    in_elements BIGINT,  -- [In msg nelems] Number of elements in this rank's input.
    out_elements BIGINT,  -- [Out msg nelems] Number of elements in this rank's output.
    group_name VARCHAR,  -- [Process Group Name] Process group of the collective.
    group_description VARCHAR,  -- [Process Group Description] Description of the process group.
    group_size INTEGER,  -- [Group size] Number of ranks in the process group.
    group_ranks INTEGER[],  -- [Process Group Ranks as text] Ranks in the process group.
    in_split_sizes BIGINT[],  -- [In split size as text] Elements sent to each rank by an all-to-all.
    out_split_sizes BIGINT[],  -- [Out split size as text] Elements received from each rank by an all-to-all.
    args JSON,  -- Arguments without a column, or whose value the column cannot reproduce exactly. A null for an argument whose column has a value means that the file has the value under this older key.
    raw JSON  -- Fields of the event that no column reproduces exactly, e.g. a thread id written as text. NULL for almost all events.
);
