-- derive: out_host_events
-- since: 0.1
-- summary: Content of the Parquet file of host events, with epoch times.

-- There are few names of Python frames, and many frames.
CREATE TABLE frames AS
SELECT DISTINCT s.name, s.source_file, s.source_line, s.source_function
FROM out_stacks AS s
WHERE s.category = 'python_function';

CREATE VIEW linked_host AS
SELECT
    h.*,
    CASE
        WHEN h.event_id = l.event_id THEN l.parent_id ELSE error('host_links is out of order')
    END AS parent_id,
    l.op_id,
    l.parent_op_id,
    l.depth,
    l.self_duration_ns,
    l.overlap_start_ns + base_ns(trace_of(h.event_id)) AS overlap_start_ns,
    l.stack_id
FROM raw_host AS h
POSITIONAL JOIN host_links AS l;

CREATE VIEW out_host_events AS
SELECT
    h.*,
    CASE
        WHEN try_cast(h.tid AS BIGINT)::VARCHAR = h.tid THEN try_cast(h.tid AS BIGINT)
    END AS thread_id,
    h.ts_ns + base_ns(trace_of(h.event_id)) AS start_ns,
    h.dur_ns AS duration_ns,
    f.source_file,
    f.source_line,
    f.source_function
FROM with_costs('linked_host') AS h
LEFT JOIN frames AS f ON h.name = f.name AND h.category = 'python_function';

-- The optimizer cannot tell how many rows two tables have that are read side by side, and would build the
-- hash table of a join from the long one. The setting applies to all connections; the statements that run at
-- the same time or later do not join two long tables.
SET disabled_optimizers = 'build_side_probe_side,join_order';
