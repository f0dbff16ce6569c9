-- view: what_if
-- version: 1
-- since: 0.2
-- summary: Steps replayed with something faster or slower: how long they would take.
-- grain: one row per step, and one with the means of the trace; of several changes, for all together and for each
-- distributes: trace
-- order: run, worker, span, is_mean, step, number
-- empty: No event with a duration was recorded on a thread: {record operators}.
-- uses: checked_choice, parsed_changes, replay_changes, replay_events, replay_graph, replay_steps, replay_targets, replay_work
-- example: samples --run resnet_workers_0 --change loader --factor 0
--
-- The trace is replayed: its threads and streams do again what they did, in the same order, and what was
-- waited for is waited for again. Only what the change names takes another time. The block replay_graph has
-- the rules. If nothing changes, each step takes exactly as long as recorded.
--
-- A step has two times. host_us is its length on its own thread, as recorded. Where the thread runs ahead of
-- the device, that hides the device. So drained_us is the time from when the work of the step before was done
-- to when the work of this step is done, on the thread and on all streams. The mean of drained_us is the
-- speed of the loop, and gain_us is by how much the change shortens it. The means leave tail steps out, unless a
-- trace has no other steps.
--
-- 'kernels' are all kernels other than collectives, 'collectives' are those on a device, and 'device' is all
-- work of devices. 'launches' are the calls that launch work, 'loader' is the time in which a thread gets the next
-- batch. 'host' is all time of threads, Python and gaps too, other than waits. 'operators', 'module' and 'line'
-- change both the time of threads in them and the work launched there; the block replay_targets says what a name
-- stands for.
--
-- `changes` takes several changes as texts, which the block parsed_changes explains:
-- ['loader free', 'kernels LIKE "%gemm%" x0.5', 'module /encoder x0.8', 'line train.py:44 free']. All are made in one
-- replay, where factors of the same time multiply. Each of them alone has rows, too.
--
-- What the replay keeps: the order of events, time between events, delays that nothing explains
-- (unexplained_us), and contention for the CPU and the device as it was. So a change that also takes
-- CPU, such as more loader workers, gains less than a change of one time. If only one rank is known, free
-- collectives have no waits for other ranks either: the gain is an upper bound.
--
-- params
--   run, worker, span
--   name     type       unit  default   meaning
--   change   VARCHAR    -     'loader'  What changes: 'kernels', 'collectives', 'operators', 'device', 'launches', 'loader', 'host', 'module' or 'line'.
--   target   VARCHAR    -     NULL      For kernels, collectives and operators: a pattern of LIKE for their names; NULL takes all. In `changes`, operators need one. For a module its path, for a line FILE:LINE. The other changes take none.
--   factor   DOUBLE     -     0         Factor that multiplies their time, less than 1e6; 0 makes it free.
--   changes  VARCHAR[]  -     NULL      Several changes, such as ['loader free', 'host x0.5'], instead of change, target and factor.
-- columns
--   run, worker, span
--   name            type     unit  meaning
--   step            BIGINT   key   Number of the step; NULL for the means, and in a trace without steps.
--   is_mean         BOOLEAN  key   Whether the row has the means over the steps of the trace that are not tail steps.
--   number          BIGINT   key   Place in `changes` of the only change that was made; 0 for all.
--   changed         VARCHAR  -     What was changed.
--   named           BIGINT   -     Kernels, copies, memsets and ranges of time on threads of the trace that this names; 0 changes nothing.
--   host_us         DOUBLE   us    Length of the step on its thread, as recorded.
--   new_host_us     DOUBLE   us    The same with the change.
--   drained_us      DOUBLE   us    Time until the work of the step was done, from when that of the step before was, as recorded.
--   new_drained_us  DOUBLE   us    The same with the change.
--   gain_us         DOUBLE   us    By how much the change shortens it.
--   unexplained_us  DOUBLE   us    Part of drained_us that nothing explains; the replay keeps it. 0 where a step makes up for an earlier one.
--   limited_by      VARCHAR  -     What most of new_drained_us is spent on: 'host', 'data_loading', 'device', 'communication' or 'unexplained'; NULL if it is 0.
CREATE MACRO what_if_v1(
    run VARCHAR := NULL,
    worker VARCHAR := NULL,
    span VARCHAR := NULL,
    change VARCHAR := 'loader',
    target VARCHAR := NULL,
    factor DOUBLE := 0,
    changes VARCHAR[] := NULL
) AS TABLE
    WITH
    given AS MATERIALIZED (
        SELECT p.number, p.text, p.change, p.target, p.factor, NULL::BIGINT AS trace
        FROM parsed_changes(changes) AS p
        UNION ALL
        SELECT
            1,
            a.text,
            change,
            target,
            CASE
                WHEN a.fault IS NULL THEN factor::DOUBLE
                ELSE error(format('cannot read the change ''{}'': {}', a.text, a.fault))
            END,
            NULL
        FROM (
            SELECT
                concat_ws(
                    ' ',
                    change,
                    CASE
                        WHEN target IS NOT NULL AND change NOT IN ('module', 'line')
                            THEN 'LIKE "' || target || '"'
                        ELSE target
                    END,
                    CASE WHEN factor = 0 THEN 'free' ELSE 'x' || factor END
                ) AS text,
                CASE
                    WHEN
                        change IN ('device', 'launches', 'loader', 'host') AND target IS NOT NULL
                        THEN format('{} takes no name, only free or a factor', change)
                    WHEN change = 'module' AND coalesce(trim(target, '/'), '') = ''
                        THEN 'name a module, such as module /Encoder/Linear_0'
                    WHEN change = 'line' AND regexp_matches(target, '^.+:[0-9]+$') IS NOT TRUE
                        THEN 'name a file and a line, such as line train.py:44'
                END AS fault
        ) AS a
        WHERE changes IS NULL
    ),

    events AS MATERIALIZED (FROM replay_events(run, worker, span)),

    work AS MATERIALIZED (FROM replay_work('events', run, worker, span)),

    graph AS MATERIALIZED (FROM replay_graph('events', 'work')),

    targets AS MATERIALIZED (
        FROM replay_targets('given', 'events', 'work', run, worker, span)
    ),

    -- Scenario 1 has no change, and no unexplained time. 2 is all changes, 3 and so on are one each.
    scenarios AS (
        SELECT 1 AS scenario, FALSE AS keeps_rests
        UNION ALL
        SELECT 2, TRUE
        UNION ALL
        SELECT 2 + g.number, TRUE
        FROM given AS g
        WHERE len(changes) > 1
    ),

    factors AS MATERIALIZED (
        SELECT s.scenario, g.number, g.factor
        FROM scenarios AS s
        INNER JOIN given AS g ON s.scenario IN (2, 2 + g.number)
    ),

    changed AS MATERIALIZED (FROM replay_changes('graph', 'targets', 'factors')),

    steps_and_means AS MATERIALIZED (
        FROM replay_steps('work', 'graph', 'scenarios', 'changed', run, worker, span)
    ),

    named AS (
        SELECT
            t.trace,
            f.scenario,
            count(DISTINCT { 'id': t.id, 'lane': t.lane, 'start_ns': t.start_ns }) AS named
        FROM targets AS t
        INNER JOIN factors AS f ON t.number = f.number
        GROUP BY t.trace, f.scenario
    )

    SELECT
        n.run,
        n.worker,
        n.span,
        n.step,
        n.is_mean,
        n.scenario - 2 AS number,
        g.text AS changed,
        coalesce(c.named, 0) AS named,
        r.host_ns / 1000.0 AS host_us,
        n.host_ns / 1000.0 AS new_host_us,
        r.drained_ns / 1000.0 AS drained_us,
        n.drained_ns / 1000.0 AS new_drained_us,
        (r.drained_ns - n.drained_ns) / 1000.0 AS gain_us,
        greatest(r.drained_ns - e.drained_ns, 0) / 1000.0 AS unexplained_us,
        n.limited_by
    FROM steps_and_means AS n
    INNER JOIN steps_and_means AS r
        ON
            n.trace = r.trace AND n.is_mean = r.is_mean AND n.step IS NOT DISTINCT FROM r.step
            AND r.scenario = 0
    INNER JOIN steps_and_means AS e
        ON
            n.trace = e.trace AND n.is_mean = e.is_mean AND n.step IS NOT DISTINCT FROM e.step
            AND e.scenario = 1
    LEFT JOIN named AS c ON n.trace = c.trace AND n.scenario = c.scenario
    LEFT JOIN (
        SELECT f.scenario, string_agg(i.text, ', ' ORDER BY i.number) AS text
        FROM factors AS f
        INNER JOIN given AS i ON f.number = i.number
        GROUP BY f.scenario
    ) AS g
        ON n.scenario = g.scenario
    WHERE
        n.scenario >= 2
        AND (
            SELECT a.is_allowed
            FROM
                checked_choice(
                    'change',
                    change,
                    [
                        'kernels', 'collectives', 'operators', 'device', 'launches', 'loader',
                        'host', 'module', 'line'
                    ]
                ) AS a
        )
        AND (
            SELECT
                CASE
                    WHEN f.given >= 0 AND f.given < 1e6 THEN TRUE
                    ELSE error(
                        'factor must be from 0 to less than 1e6, not '
                        || coalesce(f.given::VARCHAR, 'NULL')
                    )
                END
            FROM (SELECT factor AS given) AS f
        )
        AND (
            SELECT
                CASE
                    WHEN count(coalesce(i.factor, 0)) > 0 THEN TRUE
                    ELSE error('changes must have at least one')
                END
            FROM given AS i
        )
    ORDER BY n.run ASC, n.worker ASC, n.span ASC, n.is_mean ASC, n.step ASC, n.scenario ASC;
