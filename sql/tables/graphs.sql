-- table: graphs
-- since: 0.1
-- summary: Launches of CUDA or HIP graphs, and graphs that were captured.
-- grain: one row per call that launches a graph, and per capture of one
--
-- Ingest computes this table from the events of the trace alone; it holds the result of the block
-- recorded_graphs. Which captured graph a launch replays depends on other traces, so the block
-- replay_matches answers it when a query runs.
CREATE TABLE graphs (
    run VARCHAR,  -- Name of the run: the folder of the trace, relative to the ingested folder.
    worker VARCHAR,  -- Worker that recorded the trace: the file name up to the timestamp, often host and process id, or a rank.
    span VARCHAR,  -- Recording of the worker: '1', '2', ... by time, perhaps with a stage ('1-DECODE'), or 'default'.
    event_id BIGINT,  -- The call in host_events that launches the graph, or that begins its capture.
    role VARCHAR,  -- 'launch' or 'capture'.
    pid VARCHAR,  -- Process of the call.
    tid VARCHAR,  -- Thread of the call.
    start_ns BIGINT,  -- Start of the call, nanoseconds since the epoch.
    operator_ids BIGINT[],  -- Operators around the call, in host_events, the innermost first.
    module_ids BIGINT[],  -- Calls of modules around the call, in host_events, the innermost first.
    annotation_ids BIGINT[],  -- Annotations around the call, in host_events, the outermost first.
    graph_id BIGINT,  -- Number of the graph, where all events or nodes have the same one; NULL where not recorded or 0.
    items BIGINT,  -- Number of device events that the launch caused, or of captured nodes.
    duration_ns BIGINT,  -- Sum of the durations of these device events; 0 for a capture.
    streams INTEGER,  -- Number of streams that these device events ran on; NULL for a capture.
    has_nodes BOOLEAN,  -- Whether each of these events, or each node, has a number of its node that no other has.
    is_named BOOLEAN,  -- Whether the names of all items are known.
    sequence VARCHAR,  -- Hash of the names in order; NULL where the order is not known: on several streams, unless the events have numbers of their nodes.
    names VARCHAR  -- Hash of the names without regard to order.
);
