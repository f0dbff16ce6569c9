-- view: pipeline_bubbles
-- version: 1
-- since: 0.2
-- summary: Bubble of each pipeline stage: the time in which it does not compute although the pipeline runs.
-- grain: one row per stage
-- distributes: trace
-- order: run, worker, span, stage
-- empty: No trace of the run has pipeline operations: ingest a table of them, for example from the timers of Megatron-LM. If all ranks were traced on GPUs and have annotations such as PP:0F0, which torch.distributed.pipelining writes for schedules with several stages per rank, the view pipeline_operation_table gives the table.
-- uses: is_wanted, percentage
-- example: drawn
--
-- The pipeline of a data-parallel rank runs in each step from the start of the first forward or backward computation of
-- any of its stages to the end of the last one. The bubble of a stage is the part of it in which the stage does not
-- compute. Without stragglers it is (stages - 1) / (microbatches + stages - 1) of the time with one model chunk per
-- stage, before the first computation of late stages and after the last one of early stages, and with 1F1B between them.
-- More than that is waiting for other stages, or for communication.
--
-- Times are means over steps and data-parallel ranks.
--
-- params
--   run, worker, span
-- columns
--   run, worker, span
--   name         type    unit  meaning
--   stage        BIGINT  key   Pipeline stage.
--   pipelines    BIGINT  -     Number of steps of data-parallel ranks that the means are of.
--   pipeline_us  DOUBLE  us    Time in which the pipeline runs.
--   compute_us   DOUBLE  us    Part of it in which the stage computes.
--   before_us    DOUBLE  us    Bubble before its first computation.
--   between_us   DOUBLE  us    Bubble between its computations.
--   after_us     DOUBLE  us    Bubble after its last computation.
--   bubble_pct   DOUBLE  pct   Share of the bubble in the time in which the pipeline runs.
CREATE MACRO pipeline_bubbles_v1(
    run VARCHAR := NULL, worker VARCHAR := NULL, span VARCHAR := NULL
) AS TABLE
    WITH
    stages AS (
        SELECT
            p.run,
            p.worker,
            p.span,
            p.step,
            p.dp_rank,
            p.stage,
            min(p.start_ts) AS start_s,
            max(p.start_ts + p.duration) AS end_s,
            sum(p.duration) AS compute_s
        FROM pipeline_operations AS p
        WHERE
            is_wanted(p.run, p.worker, p.span, run, worker, span)
            AND p.optype IN ('forward-compute', 'backward-compute')
        GROUP BY p.run, p.worker, p.span, p.step, p.dp_rank, p.stage
    ),

    pipelines AS (
        SELECT
            s.*,
            min(s.start_s) OVER of_pipeline AS first_s,
            max(s.end_s) OVER of_pipeline AS last_s
        FROM stages AS s
        WINDOW of_pipeline AS (PARTITION BY s.run, s.worker, s.span, s.step, s.dp_rank)
    )

    SELECT
        p.run,
        p.worker,
        p.span,
        p.stage,
        count(*) AS pipelines,
        avg(p.last_s - p.first_s) * 1e6 AS pipeline_us,
        avg(p.compute_s) * 1e6 AS compute_us,
        avg(p.start_s - p.first_s) * 1e6 AS before_us,
        avg(p.end_s - p.start_s - p.compute_s) * 1e6 AS between_us,
        avg(p.last_s - p.end_s) * 1e6 AS after_us,
        100.0 - percentage(sum(p.compute_s), sum(p.last_s - p.first_s)) AS bubble_pct
    FROM pipelines AS p
    GROUP BY p.run, p.worker, p.span, p.stage
    ORDER BY p.run, p.worker, p.span, p.stage;
