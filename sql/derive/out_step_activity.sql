-- derive: out_step_activity
-- since: 0.1
-- summary: The linked rows with the names and columns that the blocks of sql/blocks read.

CREATE VIEW host_events AS
SELECT
    '' AS run,
    '' AS worker,
    '' AS span,
    h.event_id,
    l.parent_id,
    h.category,
    h.name,
    h.ts_ns AS start_ns,
    h.dur_ns AS duration_ns
FROM raw_host AS h
POSITIONAL JOIN host_links AS l;

CREATE VIEW device_events AS
SELECT
    '' AS run,
    '' AS worker,
    '' AS span,
    l.kind,
    l.op_id,
    d.ts_ns AS start_ns,
    d.dur_ns AS duration_ns
FROM raw_device AS d
INNER JOIN device_links AS l ON d.event_id = l.event_id;

CREATE VIEW steps AS
SELECT '' AS run, '' AS worker, '' AS span, s.event_id, s.extended_start_ns, s.extended_end_ns
FROM linked_steps AS s;
