-- derive: out_step_activity
-- since: 0.1
-- summary: The linked rows with the names and columns that the blocks of sql/blocks read.
--
-- The key of a trace is its number, as a worker.
--
-- An operator or annotation that lies in another one adds no time to its role, which is that of the outer one, unless
-- either has another role than an operator: event_roles. Most events are of this kind, and they need not be sorted.

CREATE TABLE named_roles AS
SELECT h.event_id
FROM raw_host AS h
WHERE
    is_op_category(h.category)
    AND (
        is_label(h.category, h.name)
        OR starts_with(h.name, 'ProfilerStep#')
        OR starts_with(h.name, 'enumerate(Data')
        OR regexp_matches(h.name, '^((nccl|gloo|mpi|c10d):|record_param_comms$)')
    );

-- A table, because event_roles reads it several times.
CREATE TABLE host_events AS
SELECT
    '' AS run,
    trace_of(h.event_id)::VARCHAR AS worker,
    '' AS span,
    h.event_id,
    l.parent_id,
    h.category,
    h.name,
    h.ts_ns AS start_ns,
    h.dur_ns AS duration_ns
FROM raw_host AS h
POSITIONAL JOIN host_links AS l
WHERE
    is_launch_category(h.category)
    OR (
        is_op_category(h.category)
        AND (
            l.parent_op_id IS NULL
            OR h.event_id IN (FROM named_roles)
            OR l.parent_op_id IN (FROM named_roles)
        )
    );

CREATE VIEW device_events AS
SELECT
    '' AS run,
    trace_of(d.event_id)::VARCHAR AS worker,
    '' AS span,
    l.kind,
    l.op_id,
    d.ts_ns AS start_ns,
    d.dur_ns AS duration_ns
FROM raw_device AS d
INNER JOIN device_links AS l ON d.event_id = l.event_id;

CREATE VIEW steps AS
SELECT
    '' AS run,
    s.trace::VARCHAR AS worker,
    '' AS span,
    s.event_id,
    s.extended_start_ns,
    s.extended_end_ns
FROM linked_steps AS s;
