-- derive: family
-- since: 0.1
-- summary: What encloses each host event and memory record; see ingest/nesting.py.
--
-- Operators and annotations enclose everything else on their thread, memory records included;
-- other host events enclose host events.
CREATE TABLE family (
    place BIGINT,  -- Where raw_host has it.
    row_id BIGINT,
    is_op BOOLEAN,
    is_frame BOOLEAN,
    is_memory BOOLEAN,
    length_ns BIGINT,
    depth INTEGER,
    parent_id BIGINT,
    is_in_op BOOLEAN,  -- Whether the parent is an operator or annotation.
    is_in_call BOOLEAN,  -- Whether it is neither that nor a frame.
    in_parent_ns BIGINT,  -- The part of it that lies inside its parent.
    parent_op_id BIGINT,
    in_op_ns BIGINT
);
