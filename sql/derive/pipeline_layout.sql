-- derive: pipeline_layout
-- since: 0.2
-- summary: The raw tables of the input pipeline, of samples over time, and of the operations of a job.
--
-- Readers insert by name. Their times are epoch times, or those of a clock of the profiler's own.
CREATE TABLE raw_pipeline_operators (
    pipeline BIGINT,
    operator_id BIGINT,
    operator VARCHAR,
    parent_id BIGINT,
    workers BIGINT,
    queue_capacity BIGINT
);

CREATE TABLE raw_pipeline_batches (
    pipeline BIGINT,
    stage VARCHAR,
    batch BIGINT,
    time_ns BIGINT,
    get_ns BIGINT,
    push_ns BIGINT,
    total_ns BIGINT,
    queue_size BIGINT,
    queue_capacity BIGINT,
    loader_worker BIGINT,
    loader_pid BIGINT,
    samples BIGINT,
    fetch_start_ns BIGINT,
    fetch_ns BIGINT,
    collate_ns BIGINT,
    cpu_ns BIGINT
);

CREATE TABLE raw_pipeline_operations (
    dp_rank BIGINT,
    stage BIGINT,
    rank BIGINT,
    step BIGINT,
    optype VARCHAR,
    start_ts DOUBLE,
    duration DOUBLE,
    seq_id BIGINT,
    mc BIGINT,
    mb_id BIGINT,
    gmc BIGINT
);

CREATE TABLE raw_samples (
    category VARCHAR,
    time_ns BIGINT,
    pid VARCHAR,
    name VARCHAR,
    series VARCHAR,
    value DOUBLE
);
