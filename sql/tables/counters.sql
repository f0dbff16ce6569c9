-- table: counters
-- since: 0.1
-- summary: CUPTI counters of profiled kernels.
-- grain: one row per cuda_profiler_range event and counter
CREATE TABLE counters (
    run VARCHAR,  -- Name of the run: the folder of the trace, relative to the ingested folder.
    worker VARCHAR,  -- Worker that recorded the trace: the file name up to the timestamp, often host and process id, or a rank.
    span VARCHAR,  -- Recording of the worker: '1', '2', ... by time, perhaps with a stage ('1-DECODE'), or 'default'.
    event_id BIGINT,  -- Row of the cuda_profiler_range event in device_events.
    counter VARCHAR,  -- Name of the counter, e.g. 'dram__bytes_read.sum'.
    value DOUBLE  -- Value of the counter.
);
