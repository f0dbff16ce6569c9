-- block: replay_gains
-- since: 0.2
-- summary: How long a step takes on average in a replay with each of several changes, and without any.
-- grain: one row per scenario, and trace in which it changes something
-- uses: replay_changes, replay_events, replay_graph, replay_steps, replay_targets, replay_work
--
-- All scenarios are replays of one graph. A scenario of which no trace has anything to change is not replayed. The means
-- leave tail steps out, as in replay_steps.
--
-- params
--   name     type     unit  default  meaning
--   changes  VARCHAR  -     -        Name of a relation with number, change, target and trace, as for replay_targets.
--   factors  VARCHAR  -     -        Name of a relation with scenario (2 or more), number and factor, as for replay_changes: one row per scenario.
--   run, worker, span
-- columns
--   run, worker, span
--   trace           BIGINT   -    Number of the trace, as in trace_names.
--   scenario        BIGINT   key  As given.
--   number          BIGINT   -    Number of its change, as given.
--   factor          DOUBLE   -    By what that multiplies the time.
--   drained_ns      DOUBLE   ns   Mean time of a step until its work is done, as recorded; without steps, of the recording.
--   new_drained_ns  DOUBLE   ns   The same with the change.
--   unexplained_ns  DOUBLE   ns   Part of drained_ns that nothing explains; the replay keeps it.
--   limited_by      VARCHAR  -    What most of new_drained_ns is spent on, as in replay_steps.
CREATE MACRO replay_gains(
    changes VARCHAR,
    factors VARCHAR,
    run VARCHAR := NULL,
    worker VARCHAR := NULL,
    span VARCHAR := NULL
) AS TABLE
    WITH
    _given_events AS MATERIALIZED (FROM replay_events(run, worker, span)),

    _given_work AS MATERIALIZED (FROM replay_work('_given_events', run, worker, span)),

    _given_graph AS MATERIALIZED (FROM replay_graph('_given_events', '_given_work')),

    _given_targets AS MATERIALIZED (
        FROM replay_targets(changes, '_given_events', '_given_work', run, worker, span)
    ),

    _named AS MATERIALIZED (SELECT DISTINCT t.trace, t.number FROM _given_targets AS t),

    _given_factors AS MATERIALIZED (
        SELECT f.scenario, f.number, f.factor::DOUBLE AS factor
        FROM query_table(factors) AS f
        SEMI JOIN _named AS n ON f.number = n.number
    ),

    -- Scenario 1 has no change, and no unexplained time.
    _given_scenarios AS MATERIALIZED (
        SELECT 1 AS scenario, FALSE AS keeps_rests
        UNION ALL
        SELECT f.scenario, TRUE
        FROM _given_factors AS f
    ),

    _given_changes AS MATERIALIZED (
        FROM replay_changes('_given_graph', '_given_targets', '_given_factors')
    ),

    _means AS MATERIALIZED (
        SELECT s.*
        FROM
            replay_steps(
                '_given_work',
                '_given_graph',
                '_given_scenarios',
                '_given_changes',
                run,
                worker,
                span
            ) AS s
        WHERE s.is_mean
    )

    SELECT
        m.run,
        m.worker,
        m.span,
        m.trace,
        m.scenario,
        f.number,
        f.factor,
        r.drained_ns,
        m.drained_ns AS new_drained_ns,
        r.drained_ns - e.drained_ns AS unexplained_ns,
        m.limited_by
    FROM _means AS m
    INNER JOIN _given_factors AS f ON m.scenario = f.scenario
    INNER JOIN _named AS n ON m.trace = n.trace AND f.number = n.number
    INNER JOIN _means AS r ON m.trace = r.trace AND r.scenario = 0
    INNER JOIN _means AS e ON m.trace = e.trace AND e.scenario = 1;
