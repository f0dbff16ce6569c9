-- derive: out_graphs
-- since: 0.1
-- summary: The linked rows with the names and columns that the blocks captured_nodes and recorded_graphs read.

CREATE VIEW host_events AS
SELECT
    '' AS run,
    trace_of(h.event_id)::VARCHAR AS worker,
    '' AS span,
    h.event_id,
    h.category,
    h.name,
    h.pid,
    h.tid,
    h.ts_ns + base_ns(trace_of(h.event_id)) AS start_ns,
    h.dur_ns AS duration_ns,
    h.correlation_id,
    h.python_module_id,
    h.args::JSON AS args,
    l.parent_id,
    l.op_id,
    l.parent_op_id,
    l.stack_id
FROM raw_host AS h
POSITIONAL JOIN host_links AS l;

CREATE VIEW device_events AS
SELECT
    '' AS run,
    trace_of(d.event_id)::VARCHAR AS worker,
    '' AS span,
    d.event_id,
    d.category,
    d.name,
    l.kind,
    l.launch_id,
    d.tid,
    d.stream_id,
    d.ts_ns + base_ns(trace_of(d.event_id)) AS start_ns,
    d.dur_ns AS duration_ns,
    d.graph_id,
    d.graph_node_id
FROM raw_device AS d
POSITIONAL JOIN device_links AS l;
