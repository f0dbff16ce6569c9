-- block: pipeline_nodes
-- since: 0.2
-- summary: Operations of one step of a pipeline-parallel job, which stand for those of all steps and data-parallel ranks.
-- grain: one row per operation of the first data-parallel rank in the first step
-- uses: is_wanted
--
-- All steps and data-parallel ranks have the same operations, so one graph of what waits for what is enough.
-- It is that of the first step and the first data-parallel rank. Starts are counted from the start of the
-- step, which is the earliest start over all ranks, and are 32-bit numbers, as are ends.
--
-- A job with one data-parallel rank and without sequence parallelism has nobody to exchange parameters or
-- gradients with. Its all-gathers, reduce-scatters and separate all-reduces are left out.
--
-- params
--   run, worker, span
-- columns
--   run, worker, span
--   job           BIGINT   key   Number of the trace.
--   node_id       BIGINT   key   Number of the operation, over all jobs.
--   optype        VARCHAR  -     Type of the operation.
--   part          VARCHAR  -     What it counts as: its type, or 'forward-pp-comm' and 'backward-pp-comm' for sends and receives.
--   seq_id        BIGINT   -     Number among the operations of its type and stage.
--   stage         BIGINT   -     Pipeline stage.
--   mc            BIGINT   -     Model chunk within the stage.
--   gmc           BIGINT   -     Model chunk within the whole model.
--   start_s       FLOAT    s     Start.
--   end_s         FLOAT    s     End.
--   dp_ranks      BIGINT   -     Number of data-parallel ranks of the job.
--   stages        BIGINT   -     Number of its stages.
--   chunks        BIGINT   -     Number of model chunks in the whole model.
--   does_overlap  BOOLEAN  -     Whether gradients are reduced while computations run: the job has separate-grads-all-reduce.
CREATE MACRO pipeline_nodes(
    run VARCHAR := NULL, worker VARCHAR := NULL, span VARCHAR := NULL
) AS TABLE
    WITH
    _lanes AS (
        SELECT
            o.run,
            o.worker,
            o.span,
            o.step,
            o.dp_rank,
            min(o.start_ts) AS start_ts
        FROM pipeline_operations AS o
        WHERE is_wanted(o.run, o.worker, o.span, run, worker, span)
        GROUP BY o.run, o.worker, o.span, o.step, o.dp_rank
    ),

    _firsts AS (
        SELECT
            a.run,
            a.worker,
            a.span,
            count(DISTINCT a.dp_rank) AS dp_ranks,
            min(a.step) AS step,
            min(a.dp_rank) AS dp_rank,
            arg_min(a.start_ts, (a.step, a.start_ts)) AS start_ts
        FROM _lanes AS a
        GROUP BY a.run, a.worker, a.span
    ),

    _jobs AS (
        SELECT
            f.*,
            row_number() OVER (ORDER BY f.run, f.worker, f.span) AS job,
            f.dp_ranks * coalesce(try_cast(t.metadata ->> '$.dsp_size' AS BIGINT), 1) > 1
                AS is_data_parallel
        FROM _firsts AS f
        LEFT JOIN traces AS t ON f.run = t.run AND f.worker = t.worker AND f.span = t.span
    )

    SELECT
        j.run,
        j.worker,
        j.span,
        j.job,
        row_number() OVER (ORDER BY j.job, o.stage, o.optype, o.seq_id) AS node_id,
        o.optype,
        CASE
            WHEN o.optype IN ('forward-send', 'forward-recv') THEN 'forward-pp-comm'
            WHEN o.optype IN ('backward-send', 'backward-recv') THEN 'backward-pp-comm'
            ELSE o.optype
        END AS part,
        o.seq_id,
        o.stage,
        o.mc,
        o.gmc,
        (o.start_ts - j.start_ts)::FLOAT AS start_s,
        (o.start_ts - j.start_ts)::FLOAT + o.duration::FLOAT AS end_s,
        j.dp_ranks,
        max(o.stage) OVER of_job + 1 AS stages,
        (max(o.stage) OVER of_job + 1) * (max(o.mc) OVER of_job + 1) AS chunks,
        bool_or(o.optype = 'separate-grads-all-reduce') OVER of_job AS does_overlap
    FROM pipeline_operations AS o
    INNER JOIN _jobs AS j
        ON
            o.run = j.run AND o.worker = j.worker AND o.span = j.span
            AND o.step = j.step AND o.dp_rank = j.dp_rank
    WHERE
        is_wanted(o.run, o.worker, o.span, run, worker, span)
        AND (
            j.is_data_parallel
            OR o.optype NOT IN (
                'params-all-gather', 'grads-reduce-scatter', 'separate-grads-all-reduce'
            )
        )
    WINDOW of_job AS (PARTITION BY j.job);
