-- table: counters
-- since: 0.1
-- summary: CUPTI counters of profiled kernels.
-- grain: one row per cuda_profiler_range event and counter
CREATE TABLE counters (
    run VARCHAR,  -- Name of the run: the folder of the trace, relative to the ingested folder.
    worker VARCHAR,  -- Who recorded the trace: the file name up to the first stamp, often host and process id.
    span VARCHAR,  -- Which recording of the worker: '1', '2', ... in order of the stamps, or 'default'.
    event_id BIGINT,  -- The cuda_profiler_range row in device_events.
    counter VARCHAR,  -- Name of the counter, e.g. 'dram__bytes_read.sum'.
    value DOUBLE  -- Its value.
);
