-- table: memory_records
-- since: 0.1
-- summary: Every allocation and release that the profiler saw.
-- grain: one row per [memory] instant
CREATE TABLE memory_records (
    run VARCHAR,  -- Name of the run: the folder of the trace, relative to the ingested folder.
    worker VARCHAR,  -- Who recorded the trace: the file name up to the first stamp, often host and process id.
    span VARCHAR,  -- Which recording of the worker: '1', '2', ... in order of the stamps, or 'default'.
    event_id BIGINT,  -- Position of the event in the file's traceEvents, from 0.
    raw_category VARCHAR,  -- The file's own category; NULL in 2021 files.
    time_ns BIGINT,  -- When, nanoseconds since the epoch.
    pid VARCHAR,  -- Process.
    tid VARCHAR,  -- Thread.
    device_type VARCHAR,  -- 'cpu', 'cuda', 'hip', 'xpu', ...: c10::DeviceType in lower case.
    device_id INTEGER,  -- [Device Id] Number of the device; NULL for the CPU.
    address BIGINT,  -- [Addr] Address of the block.
    bytes BIGINT,  -- [Bytes] Bytes allocated; negative when released.
    total_allocated_bytes BIGINT,  -- [Total Allocated] Allocated on the device after the record.
    total_reserved_bytes BIGINT,  -- [Total Reserved] Reserved by the allocator after the record.
    op_id BIGINT,  -- Deepest operator or annotation on the thread that contains the instant, in host_events.
    event_index BIGINT,  -- [Ev Idx] Number that the profiler gave the event.
    args JSON,  -- Arguments that have no column, or whose value the column cannot give back exactly. A null beside a filled column says that the value stood under this older key.
    raw JSON  -- Fields of the event that no column gives back exactly: the scope of the instant, as a rule.
);
