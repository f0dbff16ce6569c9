-- block: pipeline_faults
-- since: 0.2
-- summary: Why a pipeline-parallel job cannot be simulated.
-- grain: one row per job that cannot be simulated
-- uses: is_wanted
--
-- All steps and data-parallel ranks must have the same operations, because one graph of what waits for what
-- stands for all. In that graph no operations may wait for each other in a circle.
--
-- params
--   name   type     unit  default  meaning
--   nodes  VARCHAR  -     -        Name of a relation with the rows of pipeline_nodes.
--   rungs  VARCHAR  -     -        Name of a relation with the rows of pipeline_rungs.
--   run, worker, span
-- columns
--   name     type     unit  meaning
--   job      BIGINT   key   Number of the trace.
--   message  VARCHAR  -     The reason.
CREATE MACRO pipeline_faults(
    nodes VARCHAR,
    rungs VARCHAR,
    run VARCHAR := NULL,
    worker VARCHAR := NULL,
    span VARCHAR := NULL
) AS TABLE
    WITH
    _jobs AS (
        SELECT
            n.run,
            n.worker,
            n.span,
            n.job,
            count(*) AS nodes
        FROM query_table(nodes) AS n
        GROUP BY n.run, n.worker, n.span, n.job
    ),

    _lanes AS MATERIALIZED (
        SELECT
            o.run,
            o.worker,
            o.span,
            o.step,
            o.dp_rank,
            count(*) AS operations,
            count(n.node_id) AS known
        FROM pipeline_operations AS o
        LEFT JOIN query_table(nodes) AS n
            ON
                o.run = n.run AND o.worker = n.worker AND o.span = n.span
                AND o.optype = n.optype AND o.seq_id = n.seq_id AND o.stage = n.stage
        WHERE is_wanted(o.run, o.worker, o.span, run, worker, span)
        GROUP BY o.run, o.worker, o.span, o.step, o.dp_rank
    ),

    _grid AS (
        SELECT
            s.run,
            s.worker,
            s.span,
            s.step,
            d.dp_rank
        FROM (SELECT DISTINCT a.run, a.worker, a.span, a.step FROM _lanes AS a) AS s
        INNER JOIN
            (SELECT DISTINCT a.run, a.worker, a.span, a.dp_rank FROM _lanes AS a) AS d
            ON s.run = d.run AND s.worker = d.worker AND s.span = d.span
    ),

    _compared AS (
        SELECT
            j.job,
            j.nodes,
            g.step,
            g.dp_rank,
            a.operations,
            a.known,
            first_value(a.operations) OVER in_order AS first_operations,
            first_value(g.step) OVER in_order AS first_step,
            first_value(g.dp_rank) OVER in_order AS first_dp_rank
        FROM _grid AS g
        INNER JOIN _jobs AS j ON g.run = j.run AND g.worker = j.worker AND g.span = j.span
        LEFT JOIN _lanes AS a
            ON
                g.run = a.run AND g.worker = a.worker AND g.span = a.span
                AND g.step = a.step AND g.dp_rank = a.dp_rank
        WINDOW in_order AS (PARTITION BY j.job ORDER BY g.step, g.dp_rank)
    ),

    _different AS (
        SELECT
            c.job,
            arg_min(
                'Step ' || c.step || ' of dp_rank ' || c.dp_rank
                || ' does not have the same operations as step ' || c.first_step || ' of dp_rank '
                || c.first_dp_rank || ', so they cannot be compared: leave out steps that differ.',
                (c.step, c.dp_rank)
            ) AS message
        FROM _compared AS c
        WHERE
            c.known IS DISTINCT FROM c.nodes OR c.operations IS DISTINCT FROM c.first_operations
        GROUP BY c.job
    ),

    _circular AS (
        SELECT
            n.job,
            'Operations wait for each other in a circle, so ' || count(*)
            || ' of a step can never start. The first of them is '
            || arg_min(
                n.optype || ' ' || n.seq_id || ' of stage ' || n.stage, (n.start_s, n.node_id)
            )
            || '. Check the order of starts, seq_id and gmc.' AS message
        FROM query_table(nodes) AS n
        INNER JOIN query_table(rungs) AS r ON n.node_id = r.node_id
        WHERE r.rung IS NULL
        GROUP BY n.job
    )

    SELECT coalesce(d.job, c.job) AS job, coalesce(d.message, c.message) AS message
    FROM _different AS d
    FULL OUTER JOIN _circular AS c ON d.job = c.job;
