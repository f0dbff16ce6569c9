-- block: pipeline_times
-- since: 0.2
-- summary: Own time of each operation of a pipeline-parallel job, as recorded and as the ideal job has it.
-- grain: one row per operation
-- uses: is_wanted
--
-- The own time of a computation is its duration. That of an operation which communicates is its transfer: from
-- the latest start in its group, over all data-parallel ranks where it waits for these, to its own end. Clocks
-- that disagree give transfers below 0: one of -10 ms or less counts as 0, and those above stay. Ends and
-- transfers are 32-bit numbers.
--
-- In the ideal job all operations of a type take the same time: the mean over all steps, ranks and stages for
-- computations, gc and the optimizer, and the median for all others.
--
-- Operations that pipeline_nodes leaves out are left out here, too.
--
-- params
--   name    type     unit  default  meaning
--   nodes   VARCHAR  -     -        Name of a relation with the rows of pipeline_nodes.
--   groups  VARCHAR  -     -        Name of a relation with the rows of pipeline_groups.
--   run, worker, span
-- columns
--   name             type     unit  meaning
--   job              BIGINT   key   Number of the trace.
--   step_id          BIGINT   key   Number of the step, over all jobs, from 1.
--   lane_id          BIGINT   key   Number of the step and data-parallel rank, over all jobs, from 1.
--   node_id          BIGINT   key   The operation of the graph.
--   group_id         BIGINT   -     Its group.
--   is_synchronized  BOOLEAN  -     Whether it waits for all data-parallel ranks.
--   is_optimizer     BOOLEAN  -     Whether it is an optimizer.
--   step             BIGINT   -     Step.
--   dp_rank          BIGINT   -     Data-parallel rank.
--   start_s          FLOAT    s     Start, from the start of the step.
--   end_s            FLOAT    s     End.
--   own_s            DOUBLE   s     Own time as recorded.
--   ideal_s          DOUBLE   s     Own time in the ideal job.
CREATE MACRO pipeline_times(
    nodes VARCHAR,
    groups VARCHAR,
    run VARCHAR := NULL,
    worker VARCHAR := NULL,
    span VARCHAR := NULL
) AS TABLE
    WITH
    _nodes AS (
        SELECT
            n.run,
            n.worker,
            n.span,
            n.job,
            n.node_id,
            n.optype,
            n.seq_id,
            n.stage,
            g.group_id,
            g.is_communication,
            g.is_synchronized
        FROM query_table(nodes) AS n
        INNER JOIN query_table(groups) AS g ON n.node_id = g.node_id
    ),

    _lanes AS MATERIALIZED (
        SELECT
            o.run,
            o.worker,
            o.span,
            o.step,
            o.dp_rank,
            row_number() OVER (ORDER BY o.run, o.worker, o.span, o.step, o.dp_rank) AS lane_id,
            dense_rank() OVER (ORDER BY o.run, o.worker, o.span, o.step) AS step_id,
            min(min(o.start_ts)) OVER (PARTITION BY o.run, o.worker, o.span, o.step) AS start_ts
        FROM pipeline_operations AS o
        WHERE is_wanted(o.run, o.worker, o.span, run, worker, span)
        GROUP BY o.run, o.worker, o.span, o.step, o.dp_rank
    ),

    _timed AS MATERIALIZED (
        SELECT
            n.job,
            a.step_id,
            a.lane_id,
            n.node_id,
            n.group_id,
            n.is_communication,
            n.is_synchronized,
            n.optype,
            o.step,
            o.dp_rank,
            CASE WHEN n.is_synchronized THEN -a.step_id ELSE a.lane_id END AS lane_or_step_id,
            (o.start_ts - a.start_ts)::FLOAT AS start_s,
            (o.start_ts - a.start_ts)::FLOAT + o.duration::FLOAT AS end_s,
            o.duration::FLOAT AS duration_s
        FROM pipeline_operations AS o
        INNER JOIN _nodes AS n
            ON
                o.run = n.run AND o.worker = n.worker AND o.span = n.span
                AND o.optype = n.optype AND o.seq_id = n.seq_id AND o.stage = n.stage
        INNER JOIN _lanes AS a
            ON
                o.run = a.run AND o.worker = a.worker AND o.span = a.span
                AND o.step = a.step AND o.dp_rank = a.dp_rank
        WHERE is_wanted(o.run, o.worker, o.span, run, worker, span)
    ),

    _latest AS (
        SELECT t.lane_or_step_id, t.group_id, max(t.start_s) AS start_s
        FROM _timed AS t
        WHERE t.is_communication
        GROUP BY t.lane_or_step_id, t.group_id
    ),

    _owned AS MATERIALIZED (
        SELECT
            t.*,
            (
                CASE
                    WHEN NOT t.is_communication THEN t.duration_s
                    WHEN t.end_s - m.start_s <= -0.01::FLOAT THEN 0
                    ELSE t.end_s - m.start_s
                END
            )::DOUBLE AS own_s
        FROM _timed AS t
        LEFT JOIN _latest AS m
            ON t.lane_or_step_id = m.lane_or_step_id AND t.group_id = m.group_id
    ),

    _ideals AS (
        SELECT
            o.job,
            o.optype,
            CASE
                WHEN
                    o.optype IN ('forward-compute', 'backward-compute', 'gc', 'optimizer')
                    THEN avg(o.own_s)
                ELSE median(o.own_s)
            END AS ideal_s
        FROM _owned AS o
        GROUP BY o.job, o.optype
    )

    SELECT
        o.job,
        o.step_id,
        o.lane_id,
        o.node_id,
        o.group_id,
        o.is_synchronized,
        o.optype = 'optimizer' AS is_optimizer,
        o.step,
        o.dp_rank,
        o.start_s,
        o.end_s,
        o.own_s,
        i.ideal_s
    FROM _owned AS o
    INNER JOIN _ideals AS i ON o.job = i.job AND o.optype = i.optype;
