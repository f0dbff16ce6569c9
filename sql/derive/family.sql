-- derive: family
-- since: 0.1
-- summary: Parent, operator, self time and stack of host events and memory records; see ingest/link/nesting.py.
--
-- Operators and annotations are around everything else on their thread, memory records included; other
-- host events are around host events.
CREATE TABLE family (
    place BIGINT,  -- Where raw_host or raw_memory has it.
    event_id BIGINT,
    is_memory BOOLEAN,
    parent_id BIGINT,
    op_id BIGINT,
    parent_op_id BIGINT,
    depth INTEGER,
    self_duration_ns BIGINT,
    stack_hash UBIGINT,  -- Of what is open around the event from its start to its end, and itself.
    outer_hash UBIGINT,  -- The same without itself.
    innermost_ns BIGINT,  -- How long nothing that started later was open.
    overlap_start_ns BIGINT  -- Start of the first host event that begins in it and lasts longer.
);
