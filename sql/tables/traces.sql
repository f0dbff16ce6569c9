-- table: traces
-- since: 0.1
-- summary: Ingested trace files: path, format, host, rank, time range, and what was repaired or skipped.
-- grain: one row per trace file
CREATE TABLE traces (
    run VARCHAR,  -- Name of the run: the folder of the trace, relative to the ingested folder.
    worker VARCHAR,  -- Worker that recorded the trace: the file name up to the timestamp, often host and process id, or a rank.
    span VARCHAR,  -- Recording of the worker: '1', '2', ... by time, perhaps with a stage ('1-DECODE'), or 'default'.
    source_path VARCHAR,  -- Path of the file when it was ingested.
    source_bytes BIGINT,  -- Size of the file in bytes, as stored (compressed if it is).
    source_mtime_ns BIGINT,  -- Modification time of the file, nanoseconds since the epoch.
    content_hash VARCHAR,  -- BLAKE2b-256 of the file's bytes, hexadecimal.
    trace_name VARCHAR,  -- File name without folder and format suffixes.
    source VARCHAR,  -- Profiler whose file it is: 'kineto' (the PyTorch profiler), 'nsys' (Nsight Systems), ...
    generation VARCHAR,  -- Format generation: '2021', '2022', '2023', '2024-03', '2024-04', '2024' or '2026'. In '2024-03' the decimals of the file's times count nanoseconds. Of other sources the name and version, e.g. 'nsys-3.25'.
    schema_version INTEGER,  -- The file's schemaVersion.
    base_time_ns BIGINT,  -- The file's baseTimeNanoseconds, which is added to every ts to get epoch time; NULL if ts is absolute.
    framework VARCHAR,  -- The file's Framework, e.g. 'pytorch-lightning'.
    hostname VARCHAR,  -- Host that recorded the trace: from the metadata, or else from the worker name.
    process_id BIGINT,  -- Process that recorded the trace: the one that most host events belong to.
    rank INTEGER,  -- Rank in the job: from distributedInfo, or else from the file name.
    world_size INTEGER,  -- Number of ranks in the job.
    backend VARCHAR,  -- Backend of the job's default process group, e.g. 'nccl'.
    start_ns BIGINT,  -- Start of the first complete event.
    end_ns BIGINT,  -- End of the last complete event.
    events BIGINT,  -- Number of ingested events.
    skipped_events BIGINT,  -- Number of events that could not be ingested.
    skipped_reasons JSON,  -- What was repaired or skipped, and how often; see docs/repairs.md.
    metadata JSON,  -- All other top-level keys of the file; a key that occurs twice has its last value.
    layout_version INTEGER,  -- Layout version of the warehouse.
    tracewh_version VARCHAR,  -- Version of tracewh that ingested the file.
    ingested_at TIMESTAMP WITH TIME ZONE  -- When the file was ingested.
);
