-- table: data_pipeline_operators
-- since: 0.2
-- summary: Operators of the input pipeline, which prepares the batches of the training.
-- grain: one row per operator of an input pipeline
--
-- The recorder of tracewh describes a DataLoader as three operators: the dataset that makes samples, what
-- collates them to batches, and the loader that hands the batches to the training loop.
CREATE TABLE data_pipeline_operators (
    run VARCHAR,  -- Name of the run: the folder of the trace, relative to the ingested folder.
    worker VARCHAR,  -- Worker that recorded the trace: the file name up to the timestamp, often host and process id, or a rank.
    span VARCHAR,  -- Recording of the worker: '1', '2', ... by time, perhaps with a stage ('1-DECODE'), or 'default'.
    pipeline BIGINT,  -- Number of the pipeline within the trace: 0, and more where a process has several loaders.
    operator_id BIGINT,  -- Number of the operator within the pipeline.
    operator VARCHAR,  -- Kind of the operator, e.g. 'Map'.
    parent_id BIGINT,  -- Operator that takes its output; NULL for the last one, whose output the training takes.
    workers BIGINT,  -- Threads or processes that work on it; 0 if the training process does it itself.
    queue_capacity BIGINT  -- Batches or samples that its output queue holds; NULL if it has none.
);
