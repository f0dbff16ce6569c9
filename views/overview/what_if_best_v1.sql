-- view: what_if_best
-- version: 1
-- since: 0.2
-- summary: What to optimize: how much faster steps get if the costliest parts are free or take half as long.
-- grain: one row per part, and factor
-- distributes: trace
-- order: gain_us DESC, run, worker, span, changed
-- empty: No event with a duration was recorded on a thread: {record operators}.
-- uses: costliest_parts, ratio, replay_changes, replay_events, replay_graph, replay_steps, replay_targets, replay_work
-- example: samples --run resnet_workers_0 --span 1 --limit 12
-- reading: Half the time of the data loader gains more than convolutions that take no time.
--
-- What takes longest is not always what holds a step up. So each of the costliest kernels, collectives, operators,
-- modules and lines is made free and half as long, and the trace replayed, as what_if does with one change. The loader
-- and the launches are among them. All are replays of one graph. The block costliest_parts says what a cost is.
--
-- Gains do not add up: the time of a module is also that of its operators, and when one part no longer holds
-- the step up, another one does. `tracewh what-if` makes several changes in one replay.
--
-- Every part is two replays: ten of each kind take 19 CPU seconds and 2 GB for a million events. If the queue of launches
-- was full most of the time, they take 32 s and 3 GB for a third of that. A lower value of most takes less.
--
-- params
--   run, worker, span
--   name  type    unit  default  meaning
--   most  BIGINT  -     10       How many kernels, collectives, operators, modules and lines, each.
-- columns
--   run, worker, span
--   name            type     unit  meaning
--   kind            VARCHAR  key   'kernels', 'collectives', 'operators', 'module', 'line', 'loader' or 'launches'.
--   target          VARCHAR  key   Its name, path or FILE:LINE; NULL for the loader and launches.
--   factor          DOUBLE   key   0 for free, 0.5 for half the time.
--   changed         VARCHAR  -     The change, as `tracewh what-if` takes it.
--   cost_us         DOUBLE   us    What it costs per step: time of threads in it and work launched there, or the time of kernels; NULL for the loader and launches.
--   drained_us      DOUBLE   us    Mean time of a step until its work is done, as recorded; without steps, of the recording.
--   new_drained_us  DOUBLE   us    The same with the change.
--   gain_us         DOUBLE   us    By how much the change shortens it.
--   gain_pct        DOUBLE   pct   The same in percent.
--   unexplained_us  DOUBLE   us    Part of drained_us that nothing explains; the replay keeps it.
--   limited_by      VARCHAR  -     What most of new_drained_us is spent on, as in what_if.
CREATE MACRO what_if_best_v1(
    run VARCHAR := NULL,
    worker VARCHAR := NULL,
    span VARCHAR := NULL,
    most BIGINT := 10
) AS TABLE
    WITH
    events AS MATERIALIZED (FROM replay_events(run, worker, span)),

    work AS MATERIALIZED (FROM replay_work('events', run, worker, span)),

    graph AS MATERIALIZED (FROM replay_graph('events', 'work')),

    -- Each trace has its own parts of one number.
    parts AS MATERIALIZED (
        SELECT
            c.trace,
            c.change,
            c.target,
            c.cost_ns,
            row_number() OVER (PARTITION BY c.trace ORDER BY c.change, c.place) + 2 AS number
        FROM costliest_parts(most, run, worker, span) AS c
        UNION ALL
        SELECT NULL, 'loader', NULL, NULL, 1
        UNION ALL
        SELECT NULL, 'launches', NULL, NULL, 2
    ),

    targets AS MATERIALIZED (
        FROM replay_targets('parts', 'events', 'work', run, worker, span)
    ),

    -- Scenario 1 has no change, and no unexplained time.
    factors AS MATERIALIZED (
        SELECT
            2 * n.number + f.odd AS scenario,
            n.number,
            f.factor::DOUBLE AS factor,
            n.number = 1 AS loads
        FROM (SELECT DISTINCT t.number FROM targets AS t) AS n
        CROSS JOIN (VALUES (0, 0), (1, 0.5)) AS f (odd, factor)
    ),

    scenarios AS MATERIALIZED (
        SELECT 1 AS scenario, FALSE AS keeps_rests
        UNION ALL
        SELECT f.scenario, TRUE
        FROM factors AS f
    ),

    changed AS MATERIALIZED (FROM replay_changes('graph', 'targets', 'factors')),

    means AS MATERIALIZED (
        SELECT s.*
        FROM replay_steps('work', 'graph', 'scenarios', 'changed', run, worker, span) AS s
        WHERE s.is_mean
    ),

    named AS (SELECT DISTINCT t.trace, t.number FROM targets AS t),

    step_counts AS (
        SELECT m.trace, greatest(count(s.step), 1) AS steps
        FROM means AS m
        LEFT JOIN steps AS s
            ON m.run = s.run AND m.worker = s.worker AND m.span = s.span
        WHERE m.scenario = 0
        GROUP BY m.trace
    ),

    answers AS (
        SELECT
            n.run,
            n.worker,
            n.span,
            p.change AS kind,
            p.target,
            f.factor,
            p.change
            || CASE
                WHEN p.target IS NULL THEN ''
                WHEN p.change IN ('module', 'line') THEN ' ' || p.target
                ELSE ' LIKE "' || p.target || '"'
            END
            || CASE WHEN f.factor = 0 THEN ' free' ELSE ' x0.5' END AS changed,
            p.cost_ns / 1000.0 / c.steps AS cost_us,
            r.drained_ns / 1000.0 AS drained_us,
            n.drained_ns / 1000.0 AS new_drained_us,
            (r.drained_ns - n.drained_ns) / 1000.0 AS gain_us,
            ratio(100.0 * (r.drained_ns - n.drained_ns), r.drained_ns) AS gain_pct,
            (r.drained_ns - e.drained_ns) / 1000.0 AS unexplained_us,
            n.limited_by
        FROM means AS n
        INNER JOIN factors AS f ON n.scenario = f.scenario
        INNER JOIN named AS t ON n.trace = t.trace AND f.number = t.number
        INNER JOIN parts AS p ON f.number = p.number AND coalesce(p.trace = n.trace, TRUE)
        INNER JOIN means AS r ON n.trace = r.trace AND r.scenario = 0
        INNER JOIN means AS e ON n.trace = e.trace AND e.scenario = 1
        INNER JOIN step_counts AS c ON n.trace = c.trace
    )

    SELECT
        a.run,
        a.worker,
        a.span,
        a.kind,
        a.target,
        a.factor,
        a.changed,
        a.cost_us,
        a.drained_us,
        a.new_drained_us,
        a.gain_us,
        a.gain_pct,
        a.unexplained_us,
        a.limited_by
    FROM answers AS a
    ORDER BY a.gain_us DESC, a.run ASC, a.worker ASC, a.span ASC, a.changed ASC;
