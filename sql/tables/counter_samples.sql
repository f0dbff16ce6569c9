-- table: counter_samples
-- since: 0.1
-- summary: Samples of counters over time (events of phase C).
-- grain: one row per counter event and series
--
-- Recordings beside the trace have samples, too, without an event of the trace. Their category is 'data_queue' for
-- queues of the input pipeline, or 'cpu_utilization'.
CREATE TABLE counter_samples (
    run VARCHAR,  -- Name of the run: the folder of the trace, relative to the ingested folder.
    worker VARCHAR,  -- Worker that recorded the trace: the file name up to the timestamp, often host and process id, or a rank.
    span VARCHAR,  -- Recording of the worker: '1', '2', ... by time, perhaps with a stage ('1-DECODE'), or 'default'.
    event_id BIGINT,  -- Position of the event in the file's traceEvents, from 0; NULL if the sample is from a recording beside it.
    category VARCHAR,  -- The file's category, e.g. 'hardware_counters'.
    time_ns BIGINT,  -- Start of the sample, nanoseconds since the epoch.
    pid VARCHAR,  -- Process or device of the sample; for an operator of the input pipeline, its operator_id.
    name VARCHAR,  -- Name of the counter.
    series VARCHAR,  -- Name of the series within the counter; '' where the file leaves it empty.
    value DOUBLE,  -- Value of the sample; NULL where it is not a number.
    raw JSON  -- Fields of the event that no column reproduces exactly, e.g. a thread id written as text. NULL for almost all events.
);
