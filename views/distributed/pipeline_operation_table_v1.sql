-- view: pipeline_operation_table
-- version: 1
-- since: 0.2
-- summary: Operations of a pipeline-parallel job from the traces of its ranks, as the views on stragglers need them.
-- grain: one row per operation of a step and rank
-- distributes: run
-- order: run, span, step, dp_rank, stage, start_ts, optype, seq_id
-- empty: No trace has an annotation such as PP:2F0 or PP:2RECV_F0: torch.distributed.pipelining writes them for schedules with several stages per rank, such as Interleaved1F1B. If a trace has one, a line below says why the view refuses the job.
-- notes: pipeline_table_notes
-- uses: traced_operations
-- example: drawn
--
-- The columns are those of the table pipeline_operations. Save them with --format parquet, and ingest the file: then all
-- views on stragglers have rows.
--
-- It needs the traces of all ranks of the job, recorded on GPUs, on one host or with clocks that the view clocks can
-- align. There, annotations of sends and receives launch the kernels of the transfers, and these have times. A pass
-- is the device work that was launched during its annotation, without communication. For a backward pass that is
-- the work of all threads of the process.
--
-- A job that the model of a pipeline does not cover is refused, and the reason is printed below the rows: backward
-- passes in halves, actions that are two at once, sends and receives that were launched together, collectives within a
-- forward pass, and stages whose chunks are not those of interleaving. Steps that are not whole on all ranks are left
-- out, and each step must end with an annotation Optimizer.step#.
--
-- gc, layernorm, embedding and clip are not in the table, because no annotation names them. Nor are
-- collectives of data parallelism without an annotation UNSHARD or REDUCE_GRAD, such as those of DDP.
--
-- With several chunks per stage, the views on stragglers need a receive and a send for each computation. Where the
-- first or last chunk has none, the table has one of no duration. These lower the median time of a transfer a little, and
-- so the ideal one.
--
-- params
--   name  type     unit  default  meaning
--   run
--   span
-- columns
--   name      type     unit  meaning
--   run       VARCHAR  key   Run the row belongs to.
--   span      VARCHAR  key   Recording the row belongs to.
--   dp_rank   BIGINT   -     Data-parallel rank: number of the rank among those of its stage, from 0.
--   stage     BIGINT   -     Pipeline stage: gmc modulo the number of stages.
--   rank      INTEGER  key   Global rank.
--   step      BIGINT   key   Step in which the annotation starts.
--   optype    VARCHAR  key   Type of the operation: 'forward-compute', 'forward-send', 'params-all-gather', 'optimizer', ...
--   start_ts  DOUBLE   s     Start, from the earliest start of an operation in the step.
--   duration  DOUBLE   s     Duration.
--   seq_id    BIGINT   key   Number of the operation among those of its type, step and rank, in order of start, from 0.
--   mc        BIGINT   -     Model chunk within the stage, of computations and collectives; -1 where there is none.
--   mb_id     BIGINT   -     Microbatch of a computation; -1 where there is none.
--   gmc       BIGINT   -     Model chunk of a computation within the whole model; -1 where there is none.
CREATE MACRO pipeline_operation_table_v1(run VARCHAR := NULL, span VARCHAR := NULL) AS TABLE
    SELECT
        o.run,
        o.span,
        o.dp_rank,
        o.stage,
        o."rank",
        o.step,
        o.optype,
        (o.start_ns - min(o.start_ns) OVER (PARTITION BY o.run, o.span, o.step)) / 1e9 AS start_ts,
        (o.end_ns - o.start_ns) / 1e9 AS duration,
        o.seq_id,
        o.mc,
        o.mb_id,
        o.gmc
    FROM traced_operations(run, span) AS o
    WHERE o.fault IS NULL
    ORDER BY
        o.run ASC, o.span ASC, o.step ASC, o.dp_rank ASC, o.stage ASC, o.start_ns ASC, o.optype ASC,
        o.seq_id ASC;
