-- table: data_pipeline_batches
-- since: 0.2
-- summary: Batches of the input pipeline: how long each one was waited for, made and pushed, and what was in the queue.
-- grain: one row per batch and stage of an input pipeline
--
-- A stage is a place where a batch is timed:
--
--     iterator      the training loop takes the batch from the pipeline
--     device_queue  the batch is taken from the pipeline and pushed to the queue of the device
--     get_next      the device takes the batch from its queue
CREATE TABLE data_pipeline_batches (
    run VARCHAR,  -- Name of the run: the folder of the trace, relative to the ingested folder.
    worker VARCHAR,  -- Worker that recorded the trace: the file name up to the timestamp, often host and process id, or a rank.
    span VARCHAR,  -- Recording of the worker: '1', '2', ... by time, perhaps with a stage ('1-DECODE'), or 'default'.
    pipeline BIGINT,  -- Number of the pipeline within the trace, as in data_pipeline_operators.
    stage VARCHAR,  -- 'iterator', 'device_queue' or 'get_next'.
    batch BIGINT,  -- Number of the batch, as the recording counts.
    time_ns BIGINT,  -- When the batch was there, nanoseconds since the epoch; for MindData by the clock of its files.
    get_ns BIGINT,  -- How long the stage waited for the batch.
    push_ns BIGINT,  -- How long the stage pushed the batch to the next queue; NULL if it pushes none.
    total_ns BIGINT,  -- From the request to the end of the push.
    queue_size BIGINT,  -- Batches in the queue that the stage takes from or pushes to; for the loader of PyTorch, when the loop requested the batch.
    queue_capacity BIGINT,  -- Batches that this queue holds.
    loader_worker BIGINT,  -- Number of the worker process of the loader that made the batch; NULL if there are none.
    loader_pid BIGINT,  -- Process that made the batch.
    samples BIGINT,  -- Samples in the batch.
    fetch_start_ns BIGINT,  -- When a worker began to make the batch.
    fetch_ns BIGINT,  -- How long it took to make the batch.
    collate_ns BIGINT,  -- The part of it in which the samples were collated.
    cpu_ns BIGINT  -- CPU time that its process spent meanwhile.
);
