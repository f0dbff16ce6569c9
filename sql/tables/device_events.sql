-- table: device_events
-- since: 0.1
-- summary: What ran on the devices: kernels, copies, sets, synchronisations, and spans of annotations.
-- grain: one row per complete event on a device
CREATE TABLE device_events (
    run VARCHAR,  -- Name of the run: the folder of the trace, relative to the ingested folder.
    worker VARCHAR,  -- Who recorded the trace: the file name up to the first stamp, often host and process id.
    span VARCHAR,  -- Which recording of the worker: '1', '2', ... in order of the stamps, or 'default'.
    event_id BIGINT,  -- Position of the event in the file's traceEvents, from 0.
    category VARCHAR,  -- 'kernel', 'gpu_memcpy', 'gpu_memset', 'cuda_sync', 'gpu_user_annotation', 'cuda_profiler_range', ...: today's word.
    raw_category VARCHAR,  -- The file's own word.
    name VARCHAR,  -- Name as the profiler wrote it.
    kind VARCHAR,  -- 'compute', 'communication', 'memcpy', 'memset', 'sync' or 'annotation'.
    pid VARCHAR,  -- Process of the row: the device on most generations.
    tid VARCHAR,  -- Thread of the row: the stream on most generations.
    device_id INTEGER,  -- [device] Device the event ran on.
    context_id BIGINT,  -- [context] Context on the device.
    stream_id BIGINT,  -- [stream] Stream (queue) on the device.
    start_ns BIGINT,  -- Start, nanoseconds since the epoch.
    duration_ns BIGINT,  -- Length in nanoseconds.
    correlation_id BIGINT,  -- [correlation] Joins the event to the call that launched it.
    external_id BIGINT,  -- [External id, external id] Profiler's id of the launching operator.
    launch_id BIGINT,  -- The runtime or driver call that launched the event, in host_events.
    op_id BIGINT,  -- The operator or annotation that launched the event, in host_events.
    queued_ns BIGINT,  -- [queued] Time the event was queued; as recorded, mostly 0.
    grid INTEGER[],  -- [grid] Blocks in x, y and z.
    block INTEGER[],  -- [block] Threads per block in x, y and z.
    registers_per_thread INTEGER,  -- [registers per thread] Registers each thread uses.
    shared_memory_bytes BIGINT,  -- [shared memory] Shared memory each block uses.
    blocks_per_sm DOUBLE,  -- [blocks per SM] Blocks of the grid divided by the multiprocessors.
    warps_per_sm DOUBLE,  -- [warps per SM] Warps of the grid divided by the multiprocessors.
    est_achieved_occupancy_pct DOUBLE,  -- [est. achieved occupancy %] Occupancy that the launch allows, in percent.
    uses_tensor_cores BOOLEAN,  -- Whether it is a kernel that uses tensor cores (matrix cores), by CUPTI's counters, else by its name; NULL where that cannot tell, and on rows that are not kernels.
    bytes BIGINT,  -- [bytes] Bytes copied or set.
    bandwidth_gbps DOUBLE,  -- [memory bandwidth (GB/s)] Bytes per nanosecond of a copy or set.
    graph_id BIGINT,  -- [graph id] CUDA graph the event was replayed from.
    graph_node_id BIGINT,  -- [graph node id] Node of that graph.
    collective VARCHAR,  -- [Collective name] Collective that a communication kernel runs, e.g. 'allreduce'.
    collective_dtype VARCHAR,  -- [dtype] Element type of the collective.
    in_elements BIGINT,  -- [In msg nelems] Elements that this rank puts in.
    out_elements BIGINT,  -- [Out msg nelems] Elements that this rank gets out.
    group_name VARCHAR,  -- [Process Group Name] Process group of the collective.
    group_description VARCHAR,  -- [Process Group Description] Its description.
    group_size INTEGER,  -- [Group size] Its number of ranks.
    group_ranks INTEGER[],  -- [Process Group Ranks as text] Its ranks.
    in_split_sizes BIGINT[],  -- [In split size as text] Elements sent to each rank by an all-to-all.
    out_split_sizes BIGINT[],  -- [Out split size as text] Elements received from each rank by an all-to-all.
    args JSON,  -- Arguments that have no column, or whose value the column cannot give back exactly. A null beside a filled column says that the value stood under this older key.
    raw JSON  -- Fields of the event that no column gives back exactly, e.g. a thread id that was written as text. NULL almost always.
);
