-- block: straggler_scenarios
-- since: 0.2
-- summary: How long each step of a pipeline-parallel job would have taken if work of one kind took equally long.
-- grain: one row per step, kind and part
-- uses: is_wanted, pipeline_edges, pipeline_faults, pipeline_groups, pipeline_matches, pipeline_moves, pipeline_nodes, pipeline_rungs, pipeline_times, simulated_times, straggler_keeps
--
-- The kinds are:
--
-- - 'recorded': the step as recorded, from the earliest start to the latest end.
-- - 'no delay': each operation starts as soon as what it waits for has ended, and takes its recorded own time.
-- - 'ideal': the same, and all operations of a type take equally long.
-- - 'operation', 'stage', 'dp_rank': the ideal, but the operations of the part keep their recorded own time.
-- - 'last stage ideal': no delay, but the operations of the last stage are ideal.
-- - 'slowest ideal', 'slowest recorded': no delay, but the slowest workers are ideal; and the ideal, but the
--   slowest workers keep their recorded own time.
--
-- The slowdown of a part is its time divided by the ideal time, of means over all steps. The slowdown of a worker
-- is that of its stage or that of its data-parallel rank, the lesser of the two. The slowest workers are 3 %
-- of all, rounded up; of equally slow workers the lower rank comes first.
--
-- In the ideal but one data-parallel rank, all other ranks are alike. So one lane stands for all of them.
--
-- params
--   name             type     unit  default  meaning
--   run, worker, span
--   with_operations  BOOLEAN  -     TRUE     Whether to simulate the kind 'operation'.
--   with_slowest     BOOLEAN  -     TRUE     Whether to simulate the slowest workers.
-- columns
--   run, worker, span
--   step         BIGINT   key   Step.
--   kind         VARCHAR  key   Kind of scenario.
--   part         VARCHAR  key   Type of operation, stage or data-parallel rank; NULL for kinds without parts.
--   span_s       DOUBLE   s     From the earliest start of an operation to the latest end; NULL for data-parallel ranks.
--   optimizer_s  DOUBLE   s     From the start of the step to the latest end of an optimizer; NULL for the record.
CREATE MACRO straggler_scenarios(
    run VARCHAR := NULL,
    worker VARCHAR := NULL,
    span VARCHAR := NULL,
    with_operations BOOLEAN := TRUE,
    with_slowest BOOLEAN := TRUE
) AS TABLE
    WITH
    _graph_nodes AS MATERIALIZED (FROM pipeline_nodes(run, worker, span)),

    _graph_matches AS MATERIALIZED (FROM pipeline_matches('_graph_nodes')),

    _graph_edges AS MATERIALIZED (FROM pipeline_edges('_graph_nodes', '_graph_matches')),

    _graph_groups AS MATERIALIZED (FROM pipeline_groups('_graph_nodes', '_graph_matches')),

    _graph_rungs AS MATERIALIZED (FROM pipeline_rungs('_graph_edges', '_graph_groups')),

    _faults AS MATERIALIZED (
        FROM pipeline_faults('_graph_nodes', '_graph_rungs', run, worker, span)
    ),

    _jobs AS (
        SELECT DISTINCT
            n.run,
            n.worker,
            n.span,
            n.job
        FROM _graph_nodes AS n
        ANTI JOIN _faults AS f ON n.job = f.job
    ),

    _own_times AS MATERIALIZED (
        SELECT t.*
        FROM pipeline_times('_graph_nodes', '_graph_groups', run, worker, span) AS t
        ANTI JOIN _faults AS f ON t.job = f.job
    ),

    _lanes AS MATERIALIZED (
        SELECT DISTINCT
            t.job,
            t.step_id,
            t.lane_id,
            t.step,
            t.dp_rank
        FROM _own_times AS t
    ),

    -- Scenario 0 is no delay, 1 the ideal, 2 the ideal last stage; the parts follow.
    _parts AS MATERIALIZED (
        SELECT
            p.*,
            2 + row_number() OVER (PARTITION BY p.job ORDER BY p.kind DESC, p.part ASC) AS scenario
        FROM (
            SELECT DISTINCT n.job, 'stage' AS kind, n.stage::VARCHAR AS part
            FROM _graph_nodes AS n
            UNION ALL
            SELECT DISTINCT n.job, 'operation', n.part
            FROM _graph_nodes AS n
            WHERE with_operations
        ) AS p
    ),

    _step_keeps AS MATERIALIZED (FROM straggler_keeps('_graph_nodes', '_parts')),

    _step_moves AS MATERIALIZED (
        FROM pipeline_moves('_own_times', '_graph_edges', '_graph_rungs', '_step_keeps')
    ),

    _steps AS (
        SELECT DISTINCT
            a.job,
            a.step_id,
            a.step
        FROM _lanes AS a
    ),

    _in_steps AS MATERIALIZED (
        SELECT
            s.job,
            s.step,
            CASE m.scenario
                WHEN 0 THEN 'no delay'
                WHEN 1 THEN 'ideal'
                WHEN 2 THEN 'last stage ideal'
                ELSE p.kind
            END AS kind,
            p.part,
            m.span_s,
            m.optimizer_s
        FROM simulated_times('_step_moves') AS m
        INNER JOIN _steps AS s ON m.world = s.step_id
        LEFT JOIN _parts AS p ON s.job = p.job AND m.scenario = p.scenario
        WHERE m.scenario < 3 OR p.scenario IS NOT NULL
    ),

    -- A single data-parallel rank has no others.
    _pair_keeps AS (
        SELECT
            n.node_id,
            NULL::BIGINT AS dp_rank,
            [CASE WHEN n.dp_ranks = 1 THEN 3 ELSE 1 END::BIGINT] AS keeps
        FROM _graph_nodes AS n
    ),

    _pair_moves AS MATERIALIZED (
        FROM pipeline_moves('_own_times', '_graph_edges', '_graph_rungs', '_pair_keeps', TRUE)
    ),

    _in_pairs AS MATERIALIZED (
        SELECT
            a.job,
            a.step,
            a.dp_rank,
            max(m.optimizer_s) AS optimizer_s
        FROM simulated_times('_pair_moves') AS m
        INNER JOIN _lanes AS a ON m.world = a.lane_id
        WHERE m.scenario < 2
        GROUP BY a.job, a.step, a.dp_rank
    ),

    _slowdowns AS (
        SELECT
            s.job,
            s.kind,
            s.part,
            avg(s.optimizer_s) AS optimizer_s
        FROM _in_steps AS s
        WHERE s.kind = 'stage'
        GROUP BY s.job, s.kind, s.part
        UNION ALL
        SELECT p.job, 'dp_rank', p.dp_rank::VARCHAR, avg(p.optimizer_s)
        FROM _in_pairs AS p
        GROUP BY p.job, p.dp_rank
    ),

    _workers AS (
        SELECT DISTINCT
            o.run, o.worker, o.span, o.dp_rank, o.stage, o."rank"
        FROM pipeline_operations AS o
        WHERE with_slowest AND is_wanted(o.run, o.worker, o.span, run, worker, span)
    ),

    _ordered AS (
        SELECT
            j.job,
            w.dp_rank,
            w.stage,
            row_number() OVER (
                PARTITION BY j.job
                ORDER BY least(d.optimizer_s, s.optimizer_s) DESC, w."rank" ASC
            ) AS place,
            count(*) OVER (PARTITION BY j.job) AS workers
        FROM _workers AS w
        INNER JOIN _jobs AS j ON w.run = j.run AND w.worker = j.worker AND w.span = j.span
        INNER JOIN _slowdowns AS d
            ON j.job = d.job AND d.kind = 'dp_rank' AND w.dp_rank::VARCHAR = d.part
        INNER JOIN _slowdowns AS s
            ON j.job = s.job AND s.kind = 'stage' AND w.stage::VARCHAR = s.part
    ),

    _slowest_keeps AS (
        SELECT
            n.node_id,
            d.dp_rank,
            [CASE WHEN d.place <= (3 * d.workers + 99) // 100 THEN 2 ELSE 1 END::BIGINT] AS keeps
        FROM _ordered AS d
        INNER JOIN _graph_nodes AS n ON d.job = n.job AND d.stage = n.stage
    ),

    _slowest_moves AS MATERIALIZED (
        FROM pipeline_moves('_own_times', '_graph_edges', '_graph_rungs', '_slowest_keeps')
    ),

    _starts AS (
        SELECT
            o.run,
            o.worker,
            o.span,
            o.step,
            min(o.start_ts) AS start_ts
        FROM pipeline_operations AS o
        WHERE is_wanted(o.run, o.worker, o.span, run, worker, span)
        GROUP BY o.run, o.worker, o.span, o.step
    ),

    _recorded AS (
        SELECT
            s.run,
            s.worker,
            s.span,
            s.step,
            max((o.start_ts - s.start_ts)::FLOAT + o.duration::FLOAT)::DOUBLE AS span_s
        FROM pipeline_operations AS o
        INNER JOIN _starts AS s
            ON o.run = s.run AND o.worker = s.worker AND o.span = s.span AND o.step = s.step
        WHERE is_wanted(o.run, o.worker, o.span, run, worker, span)
        GROUP BY s.run, s.worker, s.span, s.step
    ),

    _simulated AS (
        SELECT
            s.job,
            s.step,
            s.kind,
            s.part,
            s.span_s,
            s.optimizer_s
        FROM _in_steps AS s
        UNION ALL
        SELECT p.job, p.step, 'dp_rank', p.dp_rank::VARCHAR, NULL, p.optimizer_s
        FROM _in_pairs AS p
        UNION ALL
        SELECT
            s.job,
            s.step,
            CASE m.scenario WHEN 0 THEN 'slowest ideal' ELSE 'slowest recorded' END,
            NULL,
            m.span_s,
            m.optimizer_s
        FROM simulated_times('_slowest_moves') AS m
        INNER JOIN _steps AS s ON m.world = s.step_id
        WHERE m.scenario < 2
    )

    SELECT
        j.run,
        j.worker,
        j.span,
        s.step,
        s.kind,
        s.part,
        s.span_s,
        s.optimizer_s
    FROM _simulated AS s
    INNER JOIN _jobs AS j ON s.job = j.job
    UNION ALL
    SELECT r.run, r.worker, r.span, r.step, 'recorded', NULL, r.span_s, NULL
    FROM _recorded AS r;
