-- derive: family
-- since: 0.1
-- summary: Parent, operator and self time of host events and memory records; see ingest/nesting.py.
--
-- Operators and annotations enclose everything else on their thread, memory records included; other
-- host events enclose host events.
CREATE TABLE family (
    place BIGINT,  -- Where raw_host or raw_memory has it.
    event_id BIGINT,
    is_memory BOOLEAN,
    parent_id BIGINT,
    op_id BIGINT,
    parent_op_id BIGINT,
    depth INTEGER,
    self_duration_ns BIGINT
);
