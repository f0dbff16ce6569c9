-- derive: family
-- since: 0.1
-- summary: Parent, operator, self time and stack of host events and memory records; see ingest/link/nesting.py.
--
-- Operators and annotations are the parents of everything else on their thread, memory records included.
-- Other host events are the parents of host events only.
CREATE TABLE family (
    place BIGINT,  -- Position in raw_host or raw_memory.
    event_id BIGINT,
    is_memory BOOLEAN,
    parent_id BIGINT,
    op_id BIGINT,
    parent_op_id BIGINT,
    depth INTEGER,
    self_duration_ns BIGINT,
    stack_hash UBIGINT,  -- Hash of the events around this one from its start to its end, and itself.
    outer_hash UBIGINT,  -- The same without itself.
    innermost_ns BIGINT,  -- Time in which no event that started later was open.
    overlap_start_ns BIGINT  -- Start of the first host event that starts inside it and ends after it.
);
