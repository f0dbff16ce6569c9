-- view: what_if
-- version: 1
-- since: 0.2
-- summary: Steps replayed with something faster or slower: how long they would take.
-- grain: one row per step, and one with the means of the trace
-- distributes: trace
-- order: run, worker, span, is_mean, step
-- empty: No event with a duration was recorded on a thread: {record operators}.
-- uses: checked_choice, first_id, is_wanted, replay_changes, replay_events, replay_graph, replay_jumps, replay_times, replay_work, trace_key, trace_names
-- example: samples --run resnet_workers_0 --change loader --factor 0
--
-- The trace is replayed: its threads and streams do again what they did, in the same order, and what was
-- waited for is waited for again. Only what the change names takes another time. The block replay_graph has
-- the rules. If nothing changes, each step takes exactly as long as recorded.
--
-- A step has two times. host_us is its length on its own thread, as recorded. Where the thread runs ahead of
-- the device, that hides the device. So drained_us is the time from when the work of the step before was done
-- to when the work of this step is done, on the thread and on all streams. The mean of drained_us is the
-- speed of the loop, and gain_us is by how much the change shortens it.
--
-- 'kernels' are all kernels other than collectives, 'device' is all work of devices. 'launches' are the calls
-- that launch work, 'loader' is the time in which a thread gets the next batch. 'host' is all time of threads,
-- Python and gaps too, other than waits.
--
-- What the replay keeps: the order of events, time between events, delays that nothing explains
-- (unexplained_us), and contention for the CPU and the device as it was. So a change that also takes
-- CPU, such as more loader workers, gains less than a change of one time. If only one rank is known, free
-- collectives have no waits for other ranks either: the gain is an upper bound.
--
-- params
--   run, worker, span
--   name    type     unit  default   meaning
--   change  VARCHAR  -     'loader'  What changes: 'kernels', 'collectives', 'device', 'launches', 'loader' or 'host'.
--   target  VARCHAR  -     NULL      For kernels and collectives: a pattern of LIKE for their names; NULL takes all.
--   factor  DOUBLE   -     0         By what their time is multiplied, less than 1e6; 0 makes it free.
-- columns
--   run, worker, span
--   name            type     unit  meaning
--   step            BIGINT   key   Number of the step; NULL for the means, and in a trace without steps.
--   is_mean         BOOLEAN  key   Whether the row has the means over the steps of the trace.
--   host_us         DOUBLE   us    Length of the step on its thread, as recorded.
--   new_host_us     DOUBLE   us    The same with the change.
--   drained_us      DOUBLE   us    Time until the work of the step was done, from when that of the step before was, as recorded.
--   new_drained_us  DOUBLE   us    The same with the change.
--   gain_us         DOUBLE   us    By how much the change shortens it.
--   unexplained_us  DOUBLE   us    Part of drained_us that nothing explains; the replay keeps it.
--   limited_by      VARCHAR  -     What most of new_drained_us is spent on: 'host', 'data_loading', 'device', 'communication' or 'unexplained'; NULL if it is 0.
CREATE MACRO what_if_v1(
    run VARCHAR := NULL,
    worker VARCHAR := NULL,
    span VARCHAR := NULL,
    change VARCHAR := 'loader',
    target VARCHAR := NULL,
    factor DOUBLE := 0
) AS TABLE
    WITH
    events AS MATERIALIZED (FROM replay_events(run, worker, span)),

    work AS MATERIALIZED (FROM replay_work('events', run, worker, span)),

    graph AS MATERIALIZED (FROM replay_graph('events', 'work')),

    scenarios AS (
        SELECT s.scenario, s.keeps_rests
        FROM (VALUES (1, TRUE), (2, FALSE)) AS s (scenario, keeps_rests)
    ),

    changed_work AS (
        SELECT
            1 AS scenario,
            first_id(t.names, d.run, d.worker, d.span) + d.event_id AS id,
            factor::DOUBLE AS factor
        FROM device_events AS d
        CROSS JOIN trace_names(run, worker, span) AS t
        WHERE
            is_wanted(d.run, d.worker, d.span, run, worker, span)
            AND CASE change
                WHEN 'device' THEN d.kind IN ('compute', 'communication', 'memcpy', 'memset')
                WHEN 'kernels' THEN d.kind = 'compute'
                WHEN 'collectives' THEN d.kind = 'communication'
                ELSE FALSE
            END
            AND (target IS NULL OR d.name LIKE target)
    ),

    changed_times AS (
        SELECT 1 AS scenario, e.lane, e.start_ns, e.end_ns, factor::DOUBLE AS factor
        FROM events AS e
        WHERE change = 'loader' AND e.is_loading
        UNION ALL
        SELECT DISTINCT 1, w.call_lane, w.call_ns, w.call_end_ns, factor::DOUBLE AS factor
        FROM work AS w
        WHERE change = 'launches' AND w.call_id IS NOT NULL
        UNION ALL
        SELECT 1, l.lane, l.start_ns, l.end_ns, factor::DOUBLE AS factor
        FROM (
            SELECT g.lane, min(g.at_ns) AS start_ns, max(g.at_ns) AS end_ns
            FROM graph AS g
            WHERE g.lane > 0
            GROUP BY g.lane
        ) AS l
        WHERE change = 'host'
    ),

    loads AS (SELECT 1 AS scenario WHERE change = 'loader'),

    changes AS MATERIALIZED (
        FROM replay_changes('graph', 'changed_work', 'changed_times', 'loads')
    ),

    recorded_steps AS MATERIALIZED (
        SELECT
            list_position(t.names, trace_key(s.run, s.worker, s.span)) AS trace,
            s.run,
            s.worker,
            s.span,
            s.step,
            s.start_ns,
            s.end_ns,
            (first_id(t.names, s.run, s.worker, s.span) + s.event_id) * 8 AS id,
            row_number() OVER (
                PARTITION BY s.run, s.worker, s.span ORDER BY s.start_ns, s.event_id
            ) AS number,
            lead(s.start_ns) OVER (
                PARTITION BY s.run, s.worker, s.span ORDER BY s.start_ns, s.event_id
            ) IS NULL AS is_last
        FROM steps AS s
        CROSS JOIN trace_names(run, worker, span) AS t
        WHERE is_wanted(s.run, s.worker, s.span, run, worker, span)
    ),

    -- The nodes that start and end steps.
    bounds AS MATERIALIZED (
        SELECT s.trace, s.number, g.place, g.id = s.id AS is_start
        FROM recorded_steps AS s
        INNER JOIN graph AS g ON g.id IN (s.id, s.id + 1)
        WHERE s.step IS NOT NULL
        UNION ALL
        SELECT s.trace, s.number, max(g.place), FALSE
        FROM recorded_steps AS s
        INNER JOIN graph AS g ON s.trace = g.trace
        WHERE s.step IS NULL AND g.lane > 0
        GROUP BY s.trace, s.number, g.lane
    ),

    -- The work that ends last of a step on each stream.
    last_work AS MATERIALIZED (
        SELECT w.trace, s.number, max((w.end_ns, g.place))[2] AS place
        FROM (
            SELECT w.*, coalesce(w.call_ns, w.start_ns) AS at_ns
            FROM work AS w
        ) AS w
        ASOF INNER JOIN recorded_steps AS s ON w.trace = s.trace AND w.at_ns >= s.start_ns
        INNER JOIN graph AS g ON w.id * 8 = g.id
        WHERE s.step IS NULL OR NOT s.is_last OR w.at_ns < s.end_ns
        GROUP BY w.trace, s.number, w.lane
    ),

    wanted AS MATERIALIZED (
        SELECT b.place
        FROM bounds AS b
        UNION
        SELECT w.place
        FROM last_work AS w
    ),

    jumps AS MATERIALIZED (FROM replay_jumps('graph', 'wanted', 'scenarios', 'changes')),

    -- Scenario 0 is the recording.
    times AS MATERIALIZED (
        SELECT
            t.scenario,
            t.place,
            (t.end_ns, t.loading_ns, t.work_ns, t.communication_ns, t.rest_ns) AS time
        FROM replay_times('jumps') AS t
        UNION ALL
        SELECT 0, g.place, (g.at_ns + g.duration_ns, 0, 0, 0, 0)
        FROM graph AS g
        WHERE g.place IN (SELECT w.place FROM wanted AS w)
    ),

    ends AS (
        SELECT
            t.scenario,
            b.trace,
            b.number,
            max(t.time) FILTER (WHERE b.part = 'start') AS start_time,
            max(t.time) FILTER (WHERE b.part = 'end') AS end_time,
            max(t.time) FILTER (WHERE b.part <> 'start') AS done_time
        FROM (
            SELECT
                b.trace,
                b.number,
                b.place,
                CASE WHEN b.is_start THEN 'start' ELSE 'end' END AS part
            FROM bounds AS b
            UNION ALL
            SELECT w.trace, w.number, w.place, 'work'
            FROM last_work AS w
        ) AS b
        INNER JOIN times AS t ON b.place = t.place
        GROUP BY t.scenario, b.trace, b.number
    ),

    -- The work of a step is done when that of all steps before is done, too.
    drained AS (
        SELECT
            d.*,
            coalesce(
                lag(d.drained_time) OVER (PARTITION BY d.scenario, d.trace ORDER BY d.number),
                d.start_time
            ) AS before_time
        FROM (
            SELECT
                e.scenario,
                e.trace,
                e.number,
                -- A trace without steps starts with its first node.
                coalesce(
                    e.start_time, (CASE WHEN e.scenario = 0 THEN f.first_ns ELSE 0 END, 0, 0, 0, 0)
                ) AS start_time,
                e.end_time,
                max(e.done_time) OVER (
                    PARTITION BY e.scenario, e.trace ORDER BY e.number ROWS UNBOUNDED PRECEDING
                ) AS drained_time
            FROM ends AS e
            INNER JOIN (
                SELECT g.trace, min(g.at_ns) AS first_ns FROM graph AS g GROUP BY g.trace
            ) AS f
                ON e.trace = f.trace
        ) AS d
    ),

    lengths AS (
        SELECT
            d.trace,
            d.number,
            d.scenario,
            d.end_time[1] - d.start_time[1] AS host_ns,
            d.drained_time[1] - d.before_time[1] AS drained_ns,
            d.drained_time[2] - d.before_time[2] AS loading_ns,
            d.drained_time[3] - d.before_time[3] AS work_ns,
            d.drained_time[4] - d.before_time[4] AS communication_ns,
            d.drained_time[5] - d.before_time[5] AS rest_ns
        FROM drained AS d
    ),

    steps_and_means AS (
        SELECT
            s.run,
            s.worker,
            s.span,
            s.step,
            grouping(s.number) = 1 AS is_mean,
            avg(l.host_ns) FILTER (WHERE l.scenario = 0) AS host_ns,
            avg(l.host_ns) FILTER (WHERE l.scenario = 1) AS new_host_ns,
            avg(l.drained_ns) FILTER (WHERE l.scenario = 0) AS drained_ns,
            avg(l.drained_ns) FILTER (WHERE l.scenario = 1) AS new_drained_ns,
            avg(l.drained_ns) FILTER (WHERE l.scenario = 2) AS explained_ns,
            avg(
                l.drained_ns - l.loading_ns - l.work_ns - l.communication_ns - l.rest_ns
            ) FILTER (WHERE l.scenario = 1) AS host_part_ns,
            avg(l.loading_ns) FILTER (WHERE l.scenario = 1) AS loading_ns,
            avg(l.work_ns) FILTER (WHERE l.scenario = 1) AS work_ns,
            avg(l.communication_ns) FILTER (WHERE l.scenario = 1) AS communication_ns,
            avg(l.rest_ns) FILTER (WHERE l.scenario = 1) AS rest_ns
        FROM lengths AS l
        INNER JOIN recorded_steps AS s ON l.trace = s.trace AND l.number = s.number
        GROUP BY
            GROUPING SETS (
                (s.run, s.worker, s.span), (s.run, s.worker, s.span, s.number, s.step)
            )
        HAVING
            (grouping(s.number) = 1 OR s.step IS NOT NULL)
            AND (
                SELECT c.is_allowed
                FROM
                    checked_choice(
                        'change',
                        change,
                        ['kernels', 'collectives', 'device', 'launches', 'loader', 'host']
                    ) AS c
            )
            AND (
                SELECT
                    CASE
                        WHEN f.given >= 0 AND f.given < 1e6 THEN TRUE
                        ELSE
                            error(format('factor must be from 0 to less than 1e6, not {}', f.given))
                    END
                FROM (SELECT factor AS given) AS f
            )
    )

    SELECT
        m.run,
        m.worker,
        m.span,
        m.step,
        m.is_mean,
        m.host_ns / 1000.0 AS host_us,
        m.new_host_ns / 1000.0 AS new_host_us,
        m.drained_ns / 1000.0 AS drained_us,
        m.new_drained_ns / 1000.0 AS new_drained_us,
        (m.drained_ns - m.new_drained_ns) / 1000.0 AS gain_us,
        (m.drained_ns - m.explained_ns) / 1000.0 AS unexplained_us,
        CASE m.largest_ns
            WHEN m.host_part_ns THEN 'host'
            WHEN m.loading_ns THEN 'data_loading'
            WHEN m.work_ns THEN 'device'
            WHEN m.communication_ns THEN 'communication'
            WHEN m.rest_ns THEN 'unexplained'
        END AS limited_by
    FROM (
        SELECT
            m.*,
            CASE
                WHEN m.new_drained_ns > 0
                    THEN greatest(
                        m.host_part_ns, m.loading_ns, m.work_ns, m.communication_ns, m.rest_ns
                    )
            END AS largest_ns
        FROM steps_and_means AS m
    ) AS m
    ORDER BY m.run ASC, m.worker ASC, m.span ASC, m.is_mean ASC, m.step ASC;
