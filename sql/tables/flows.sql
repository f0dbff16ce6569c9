-- table: flows
-- since: 0.1
-- summary: Arrows between events: from a launch call to its device event, from a forward operator to its backward.
-- grain: one row per arrow: a flow start with each of its ends, and one per row that has no partner
--
-- Start and end rows are joined by category and id.
CREATE TABLE flows (
    run VARCHAR,  -- Name of the run: the folder of the trace, relative to the ingested folder.
    worker VARCHAR,  -- Who recorded the trace: the file name up to the first stamp, often host and process id.
    span VARCHAR,  -- Which recording of the worker: '1', '2', ... in order of the stamps, or 'default'.
    kind VARCHAR,  -- 'launch', 'forward_backward', or the file's own word.
    category VARCHAR,  -- The file's own word.
    name VARCHAR,  -- Name of the arrow.
    flow_id BIGINT,  -- Id that joins the rows; of a launch the correlation.
    source_event_id BIGINT,  -- Position of the start row in the file's traceEvents; NULL where it is missing.
    target_event_id BIGINT,  -- Position of the end row; NULL where it is missing.
    source_pid VARCHAR,  -- Process of the start.
    source_tid VARCHAR,  -- Thread of the start.
    source_ns BIGINT,  -- Time of the start, nanoseconds since the epoch.
    target_pid VARCHAR,  -- Process of the end.
    target_tid VARCHAR,  -- Thread of the end.
    target_ns BIGINT,  -- Time of the end, nanoseconds since the epoch.
    raw JSON  -- What the columns do not say of the two rows: {"source": {...}, "target": {...}}.
);
