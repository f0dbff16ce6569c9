-- block: straggler_notes
-- since: 0.2
-- summary: Why a pipeline-parallel job has no figures on stragglers.
-- grain: one row per trace that cannot be simulated
-- uses: pipeline_edges, pipeline_faults, pipeline_groups, pipeline_matches, pipeline_nodes, pipeline_rungs
--
-- params
--   run, worker, span
-- columns
--   run, worker, span
--   message  VARCHAR  -  The reason.
CREATE MACRO straggler_notes(
    run VARCHAR := NULL, worker VARCHAR := NULL, span VARCHAR := NULL
) AS TABLE
    WITH
    _graph_nodes AS MATERIALIZED (FROM pipeline_nodes(run, worker, span)),

    _graph_matches AS MATERIALIZED (FROM pipeline_matches('_graph_nodes')),

    _graph_edges AS MATERIALIZED (FROM pipeline_edges('_graph_nodes', '_graph_matches')),

    _graph_groups AS MATERIALIZED (FROM pipeline_groups('_graph_nodes', '_graph_matches')),

    _graph_rungs AS MATERIALIZED (FROM pipeline_rungs('_graph_edges', '_graph_groups'))

    SELECT DISTINCT
        n.run,
        n.worker,
        n.span,
        f.message
    FROM pipeline_faults('_graph_nodes', '_graph_rungs', run, worker, span) AS f
    INNER JOIN _graph_nodes AS n ON f.job = n.job;
