-- table: memory_records
-- since: 0.1
-- summary: Allocations and releases of memory that the profiler recorded.
-- grain: one row per [memory] instant
CREATE TABLE memory_records (
    run VARCHAR,  -- Name of the run: the folder of the trace, relative to the ingested folder.
    worker VARCHAR,  -- Worker that recorded the trace: the file name up to the timestamp, often host and process id, or a rank.
    span VARCHAR,  -- Recording of the worker: '1', '2', ... by time, perhaps with a stage ('1-DECODE'), or 'default'.
    event_id BIGINT,  -- Position of the event in the file's traceEvents, from 0.
    raw_category VARCHAR,  -- Category as written in the file; NULL in 2021 files.
    time_ns BIGINT,  -- Time of the record, nanoseconds since the epoch.
    pid VARCHAR,  -- Process.
    tid VARCHAR,  -- Thread.
    device_type VARCHAR,  -- 'cpu', 'cuda', 'hip', 'xpu', ...: c10::DeviceType in lower case; 'npu' for Ascend.
    device_id INTEGER,  -- [Device Id] Number of the device; NULL for the CPU.
    address BIGINT,  -- [Addr] Address of the block.
    bytes BIGINT,  -- [Bytes] Bytes allocated; negative when released.
    total_allocated_bytes BIGINT,  -- [Total Allocated] Allocated on the device after the record.
    total_reserved_bytes BIGINT,  -- [Total Reserved] Reserved by the allocator after the record.
    op_id BIGINT,  -- Innermost operator or annotation around the record on its thread, in host_events.
    event_index BIGINT,  -- [Ev Idx] Number that the profiler gave the event.
    args JSON,  -- Arguments without a column, or whose value the column cannot reproduce exactly. A null for an argument whose column has a value means that the file has the value under this older key.
    raw JSON  -- Fields of the event that no column reproduces exactly: usually the scope of the instant.
);
