-- view: what_if_best
-- version: 1
-- since: 0.2
-- summary: What to optimize: how much faster steps get if the costliest parts are free or take half as long.
-- grain: one row per part, and factor
-- distributes: trace
-- order: gain_us DESC, run, worker, span, changed
-- empty: No event with a duration was recorded on a thread: {record operators}.
-- uses: costliest_parts, is_wanted, ratio, replay_gains
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
-- Means, gains and costs are over the steps that are not tail steps. Only if a trace has no other steps, they count.
--
-- Every part is two replays: ten of each kind take 8 CPU seconds and 1.7 GB for a million events. If the loop
-- waits for the device all the time, they take 21 CPU seconds and 3.0 GB. A lower value of most takes less.
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

    factors AS MATERIALIZED (
        SELECT
            2 * n.number + f.odd AS scenario,
            n.number,
            f.factor
        FROM (SELECT DISTINCT p.number FROM parts AS p) AS n
        CROSS JOIN (VALUES (0, 0), (1, 0.5)) AS f (odd, factor)
    ),

    step_counts AS (
        SELECT
            s.run,
            s.worker,
            s.span,
            CASE
                WHEN bool_and(s.is_tail IS TRUE) THEN count(s.step)
                ELSE greatest(count(s.step) FILTER (WHERE s.is_tail IS NOT TRUE), 1)
            END AS steps
        FROM steps AS s
        WHERE is_wanted(s.run, s.worker, s.span, run, worker, span)
        GROUP BY s.run, s.worker, s.span
    ),

    answers AS (
        SELECT
            g.run,
            g.worker,
            g.span,
            p.change AS kind,
            p.target,
            g.factor,
            p.change
            || CASE
                WHEN p.target IS NULL THEN ''
                WHEN p.change IN ('module', 'line') THEN ' ' || p.target
                ELSE ' LIKE "' || p.target || '"'
            END
            || CASE WHEN g.factor = 0 THEN ' free' ELSE ' x0.5' END AS changed,
            p.cost_ns / 1000.0 / c.steps AS cost_us,
            g.drained_ns / 1000.0 AS drained_us,
            g.new_drained_ns / 1000.0 AS new_drained_us,
            (g.drained_ns - g.new_drained_ns) / 1000.0 AS gain_us,
            ratio(100.0 * (g.drained_ns - g.new_drained_ns), g.drained_ns) AS gain_pct,
            g.unexplained_ns / 1000.0 AS unexplained_us,
            g.limited_by
        FROM replay_gains('parts', 'factors', run, worker, span) AS g
        INNER JOIN parts AS p ON g.number = p.number AND coalesce(p.trace = g.trace, TRUE)
        INNER JOIN step_counts AS c ON g.run = c.run AND g.worker = c.worker AND g.span = c.span
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
