-- table: flows
-- since: 0.1
-- summary: Flow arrows between events: from a launch call to its device event, and from a forward operator to its backward.
-- grain: one row per arrow, which is a flow start with one of its ends, and one row per flow row without a partner
--
-- Start and end rows are matched by category and id.
CREATE TABLE flows (
    run VARCHAR,  -- Name of the run: the folder of the trace, relative to the ingested folder.
    worker VARCHAR,  -- Worker that recorded the trace: the file name up to the timestamp, often host and process id, or a rank.
    span VARCHAR,  -- Recording of the worker: '1', '2', ... by time, perhaps with a stage ('1-DECODE'), or 'default'.
    kind VARCHAR,  -- 'launch', 'forward_backward', or the category of the file.
    category VARCHAR,  -- Category as written in the file.
    name VARCHAR,  -- Name of the arrow.
    flow_id BIGINT,  -- Id that joins the two rows; for a launch, the correlation id.
    source_event_id BIGINT,  -- Position of the start row in the file's traceEvents; NULL where it is missing.
    target_event_id BIGINT,  -- Position of the end row; NULL where it is missing.
    source_pid VARCHAR,  -- Process of the start.
    source_tid VARCHAR,  -- Thread of the start.
    source_ns BIGINT,  -- Time of the start, nanoseconds since the epoch.
    target_pid VARCHAR,  -- Process of the end.
    target_tid VARCHAR,  -- Thread of the end.
    target_ns BIGINT,  -- Time of the end, nanoseconds since the epoch.
    raw JSON  -- Fields of the two rows that the columns do not hold: {"source": {...}, "target": {...}}.
);
