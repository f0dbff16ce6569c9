-- table: pipeline_operations
-- since: 0.2
-- summary: Operations of a pipeline-parallel job: computations, sends and receives, and collectives.
-- grain: one row per operation of a step and rank
--
-- The whole job is one trace: its table has all data-parallel ranks and all stages, and one rank of each
-- tensor-parallel group. Facts on the job, such as the sequence-parallel size, are in traces.metadata.
CREATE TABLE pipeline_operations (
    run VARCHAR,  -- Name of the run: the folder of the trace, relative to the ingested folder.
    worker VARCHAR,  -- Worker that recorded the trace: the file name up to the timestamp, often host and process id, or a rank.
    span VARCHAR,  -- Recording of the worker: '1', '2', ... by time, perhaps with a stage ('1-DECODE'), or 'default'.
    dp_rank BIGINT,  -- Data-parallel rank.
    stage BIGINT,  -- Pipeline stage.
    rank BIGINT,  -- Global rank; there is one per data-parallel rank and stage.
    step BIGINT,  -- Number of the training step.
    optype VARCHAR,  -- Type of the operation: 'forward-compute', 'forward-send', 'grads-reduce-scatter', 'optimizer', ...
    start_ts DOUBLE,  -- Start in seconds, counted from the start of the step or on any one clock.
    duration DOUBLE,  -- Duration in seconds.
    seq_id BIGINT,  -- Number of the operation among those of its type, step and rank, in order of start, from 0.
    mc BIGINT,  -- Model chunk within the stage; -1 where there is none.
    mb_id BIGINT,  -- Microbatch of a computation; -1 where there is none.
    gmc BIGINT  -- Model chunk within the whole model: chunk c of stage s is c * stages + s; -1 where there is none.
);
