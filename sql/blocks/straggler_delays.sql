-- block: straggler_delays
-- since: 0.2
-- summary: How long each step of a pipeline-parallel job would have taken with the delays of one part of it.
-- grain: one row per step, kind and part
-- uses: delay_keeps, delay_moves, pipeline_delays, pipeline_edges, pipeline_faults, pipeline_groups, pipeline_matches, pipeline_nodes, pipeline_rungs, pipeline_times, simulated_times
--
-- All operations keep their recorded own times. Those of the part also start as late as recorded, after what they
-- wait for; all others start as soon as they can. In the kind 'no delay' all do.
--
-- The operations that begin a step have a part of their own, 'first-op': forward-compute 0 of the first stage, and
-- forward-recv 0 of the others. Their delays are mostly the time until the batch is there.
--
-- params
--   run, worker, span
-- columns
--   run, worker, span
--   step         BIGINT   key  Step.
--   kind         VARCHAR  key  'no delay', 'delay_operation', 'delay_stage' or 'delay_dp_rank'.
--   part         VARCHAR  key  Type of operation, stage or data-parallel rank; NULL for 'no delay'.
--   optimizer_s  DOUBLE   s    From the start of the step to the latest end of an optimizer.
CREATE MACRO straggler_delays(
    run VARCHAR := NULL, worker VARCHAR := NULL, span VARCHAR := NULL
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

    _own_times AS MATERIALIZED (
        SELECT t.*
        FROM pipeline_times('_graph_nodes', '_graph_groups', run, worker, span) AS t
        ANTI JOIN _faults AS f ON t.job = f.job
    ),

    _late AS MATERIALIZED (FROM pipeline_delays('_own_times', '_graph_edges')),

    _begun AS MATERIALIZED (
        SELECT
            n.run,
            n.worker,
            n.span,
            n.job,
            n.node_id,
            n.stage,
            CASE
                WHEN
                    n.seq_id = 0
                    AND n.optype = CASE
                        WHEN n.stage = 0 THEN 'forward-compute' ELSE 'forward-recv'
                    END
                    THEN 'first-op'
                ELSE n.part
            END AS part
        FROM _graph_nodes AS n
    ),

    _steps AS MATERIALIZED (
        SELECT DISTINCT
            t.job,
            t.step_id,
            t.step,
            t.dp_rank
        FROM _own_times AS t
    ),

    -- Scenario 0 is no delay; the parts follow.
    _parts AS MATERIALIZED (
        SELECT
            p.*,
            row_number() OVER (PARTITION BY p.job ORDER BY p.kind ASC, p.part ASC) AS scenario
        FROM (
            SELECT DISTINCT b.job, 'stage' AS kind, b.stage::VARCHAR AS part
            FROM _begun AS b
            UNION ALL
            SELECT DISTINCT b.job, 'operation', b.part
            FROM _begun AS b
            UNION ALL
            SELECT DISTINCT s.job, 'dp_rank', s.dp_rank::VARCHAR
            FROM _steps AS s
        ) AS p
    ),

    _kept AS MATERIALIZED (FROM delay_keeps('_begun', '_parts', '_steps')),

    _delayed_moves AS MATERIALIZED (
        FROM delay_moves('_own_times', '_graph_edges', '_graph_rungs', '_late', '_kept')
    ),

    _names AS (
        SELECT DISTINCT
            b.run,
            b.worker,
            b.span,
            b.job,
            s.step_id,
            s.step
        FROM _begun AS b
        INNER JOIN _steps AS s ON b.job = s.job
    )

    SELECT
        n.run,
        n.worker,
        n.span,
        n.step,
        coalesce('delay_' || p.kind, 'no delay') AS kind,
        p.part,
        m.optimizer_s
    FROM simulated_times('_delayed_moves') AS m
    INNER JOIN _names AS n ON m.world = n.step_id
    LEFT JOIN _parts AS p ON n.job = p.job AND m.scenario = p.scenario
    WHERE m.scenario = 0 OR p.scenario IS NOT NULL;
