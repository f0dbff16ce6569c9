-- table: traces
-- since: 0.1
-- summary: What each trace file is: where it came from, what recorded it, when, and what was odd in it.
-- grain: one row per trace file
CREATE TABLE traces (
    run VARCHAR,  -- Name of the run: the folder of the trace, relative to the ingested folder.
    worker VARCHAR,  -- Who recorded the trace: the file name up to the first stamp, often host and process id.
    span VARCHAR,  -- Which recording of the worker: '1', '2', ... in order of the stamps, or 'default'.
    source_path VARCHAR,  -- Path of the file when it was ingested.
    source_bytes BIGINT,  -- Size of the file in bytes, as stored (compressed if it is).
    source_mtime_ns BIGINT,  -- Modification time of the file, nanoseconds since the epoch.
    content_hash VARCHAR,  -- BLAKE2b-256 of the file's bytes, hexadecimal.
    trace_name VARCHAR,  -- File name without folder and format suffixes.
    generation VARCHAR,  -- Format generation: '2021', '2022', '2023', '2024-03', '2024-04', '2024' or '2026'. In '2024-03' the decimals of the file's times count nanoseconds.
    schema_version INTEGER,  -- The file's schemaVersion.
    base_time_ns BIGINT,  -- The file's baseTimeNanoseconds: added to every ts to give epoch time; NULL where ts is absolute.
    framework VARCHAR,  -- The file's Framework, e.g. 'pytorch-lightning'.
    hostname VARCHAR,  -- Host that recorded the trace: from the metadata, else from the worker name.
    process_id BIGINT,  -- Process that recorded the trace: the one most host events belong to.
    rank INTEGER,  -- Rank in the job: from distributedInfo, else from the file name.
    world_size INTEGER,  -- Number of ranks in the job.
    backend VARCHAR,  -- Backend of the job's default process group, e.g. 'nccl'.
    start_ns BIGINT,  -- Start of the first complete event.
    end_ns BIGINT,  -- End of the last complete event.
    events BIGINT,  -- Events taken in.
    skipped_events BIGINT,  -- Events of the file that could not be taken in.
    skipped_reasons JSON,  -- What was repaired or left out, and how often: docs/repairs.md.
    metadata JSON,  -- All other top-level keys of the file, with the duplicates' last value.
    layout_version INTEGER,  -- Version of this layout of the warehouse.
    tracewh_version VARCHAR,  -- Version of tracewh that ingested the file.
    ingested_at TIMESTAMP WITH TIME ZONE  -- When the file was ingested.
);
