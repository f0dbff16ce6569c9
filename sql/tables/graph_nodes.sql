-- table: graph_nodes
-- since: 0.1
-- summary: Kernels, copies and memsets of captured graphs, and where in the program they were captured.
-- grain: one row per captured node
--
-- Ingest computes this table from the events of the trace alone; it holds the result of the block
-- captured_nodes.
CREATE TABLE graph_nodes (
    run VARCHAR,  -- Name of the run: the folder of the trace, relative to the ingested folder.
    worker VARCHAR,  -- Worker that recorded the trace: the file name up to the timestamp, often host and process id, or a rank.
    span VARCHAR,  -- Recording of the worker: '1', '2', ... by time, perhaps with a stage ('1-DECODE'), or 'default'.
    capture_id BIGINT,  -- The call in host_events that begins the capture, as event_id in graphs.
    position BIGINT,  -- Position of the node in its graph, from 0, in the order of the calls.
    event_id BIGINT,  -- The captured call in host_events.
    name VARCHAR,  -- Name of the kernel; 'gpu_memcpy' for a copy and 'gpu_memset' for a memset; NULL where not recorded.
    graph_id BIGINT,  -- Number of the graph; NULL where not recorded or 0.
    node_id BIGINT,  -- Number of the node; NULL where not recorded or 0.
    op_id BIGINT,  -- Nearest operator around the call, in host_events, or nearest annotation if there is no operator.
    operator_ids BIGINT[],  -- Operators around the call, in host_events, the innermost first.
    module_ids BIGINT[],  -- Calls of modules around the call, in host_events, the innermost first.
    stack_id BIGINT  -- Stack of the call, in stacks.
);
