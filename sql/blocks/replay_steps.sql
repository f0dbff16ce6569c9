-- block: replay_steps
-- since: 0.1
-- summary: Length of steps in a replay, per scenario.
-- grain: one row per scenario and step, and one per scenario and trace with the means
-- uses: first_id, is_wanted, replay_jumps, replay_times, trace_names
--
-- The work of a step is done when its thread has reached the end of the step, when all work that was launched in
-- it has ended, and when the work of the steps before is done. Scenario 0 is the recording. The means leave tail
-- steps out, unless a trace has no other steps. A trace without steps has the means only, of one step from its
-- start to its last end.
--
-- params
--   name       type     unit  default  meaning
--   work       VARCHAR  -     -        Name of a relation, as of replay_work.
--   graph      VARCHAR  -     -        Name of a relation, as of replay_graph.
--   scenarios  VARCHAR  -     -        Name of a relation with scenario and keeps_rests, as for replay_jumps.
--   changes    VARCHAR  -     -        Name of a relation, as of replay_changes.
--   run, worker, span
-- columns
--   run, worker, span
--   trace       BIGINT   -    Number of the trace, as in trace_names.
--   scenario    BIGINT   key  As given, or 0.
--   step        BIGINT   key  Number of the step; NULL for the means.
--   is_mean     BOOLEAN  key  Whether it is the mean of the steps that are not tail steps.
--   host_ns     DOUBLE   ns   Length of the step on its thread.
--   drained_ns  DOUBLE   ns   From when the work of the step before was done to when that of this one is.
--   limited_by  VARCHAR  -    What most of drained_ns is spent on: 'host', 'data_loading', 'device', 'communication' or 'unexplained'; NULL if it is 0, and for scenario 0.
CREATE MACRO replay_steps(
    work VARCHAR,
    graph VARCHAR,
    scenarios VARCHAR,
    changes VARCHAR,
    run VARCHAR := NULL,
    worker VARCHAR := NULL,
    span VARCHAR := NULL
) AS TABLE
    WITH
    _recorded_steps AS MATERIALIZED (
        SELECT
            t.trace,
            t.run,
            t.worker,
            t.span,
            t.step,
            t.start_ns,
            t.end_ns,
            ((t.trace << 40) + t.event_id) * 8 AS id,
            row_number() OVER (PARTITION BY t.trace ORDER BY t.start_ns, t.event_id) AS number,
            lead(t.start_ns) OVER (PARTITION BY t.trace ORDER BY t.start_ns, t.event_id) IS NULL
                AS is_last,
            t.is_tail IS NOT TRUE OR bool_and(t.is_tail IS TRUE) OVER (PARTITION BY t.trace)
                AS is_averaged
        FROM (
            SELECT
                s.*,
                first_id(t.names, s.run, s.worker, s.span) >> 40 AS trace
            FROM steps AS s
            CROSS JOIN trace_names(run, worker, span) AS t
            WHERE is_wanted(s.run, s.worker, s.span, run, worker, span)
        ) AS t
    ),

    -- The nodes that start and end steps.
    _bounds AS MATERIALIZED (
        SELECT s.trace, s.number, g.place, s.is_start
        FROM (
            SELECT r.trace, r.number, r.id + p.part AS id, p.part = 0 AS is_start
            FROM _recorded_steps AS r
            CROSS JOIN (VALUES (0), (1)) AS p (part)
            WHERE r.step IS NOT NULL
        ) AS s
        INNER JOIN query_table(graph) AS g ON s.id = g.id
        UNION ALL
        SELECT s.trace, s.number, max(g.place), FALSE
        FROM _recorded_steps AS s
        INNER JOIN query_table(graph) AS g ON s.trace = g.trace
        WHERE s.step IS NULL AND g.lane > 0
        GROUP BY s.trace, s.number, g.lane
    ),

    -- The work that ends last of a step on each stream.
    _last_work AS MATERIALIZED (
        SELECT w.trace, s.number, max((w.end_ns, g.place))[2] AS place
        FROM (
            SELECT w.*, coalesce(w.call_ns, w.start_ns) AS at_ns
            FROM query_table(work) AS w
        ) AS w
        ASOF INNER JOIN _recorded_steps AS s ON w.trace = s.trace AND w.at_ns >= s.start_ns
        INNER JOIN query_table(graph) AS g ON w.id * 8 = g.id
        WHERE s.step IS NULL OR NOT s.is_last OR w.at_ns < s.end_ns
        GROUP BY w.trace, s.number, w.lane
    ),

    _wanted AS MATERIALIZED (
        SELECT b.place
        FROM _bounds AS b
        UNION
        SELECT w.place
        FROM _last_work AS w
    ),

    _step_jumps AS MATERIALIZED (FROM replay_jumps(graph, '_wanted', scenarios, changes)),

    -- Scenario 0 is the recording.
    _times AS MATERIALIZED (
        SELECT
            t.scenario,
            t.place,
            (t.end_ns, t.loading_ns, t.work_ns, t.communication_ns, t.rest_ns) AS time
        FROM replay_times('_step_jumps') AS t
        UNION ALL
        SELECT 0, g.place, (g.at_ns + g.duration_ns, 0, 0, 0, 0)
        FROM query_table(graph) AS g
        WHERE g.place IN (SELECT w.place FROM _wanted AS w)
    ),

    _ends AS (
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
            FROM _bounds AS b
            UNION ALL
            SELECT w.trace, w.number, w.place, 'work'
            FROM _last_work AS w
        ) AS b
        INNER JOIN _times AS t ON b.place = t.place
        GROUP BY t.scenario, b.trace, b.number
    ),

    -- The work of a step is done when that of all steps before is done, too.
    _drained AS (
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
                    e.start_time,
                    (CASE WHEN e.scenario = 0 THEN f.first_ns ELSE 0 END, 0, 0, 0, 0)
                ) AS start_time,
                e.end_time,
                max(e.done_time) OVER (
                    PARTITION BY e.scenario, e.trace ORDER BY e.number ROWS UNBOUNDED PRECEDING
                ) AS drained_time
            FROM _ends AS e
            INNER JOIN (
                SELECT g.trace, min(g.at_ns) AS first_ns
                FROM query_table(graph) AS g
                GROUP BY g.trace
            ) AS f
                ON e.trace = f.trace
        ) AS d
    ),

    _lengths AS (
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
        FROM _drained AS d
    ),

    _steps AS (
        SELECT
            s.run,
            s.worker,
            s.span,
            s.trace,
            l.scenario,
            s.step,
            grouping(s.number) = 1 AS is_mean,
            avg(l.host_ns) AS host_ns,
            avg(l.drained_ns) AS drained_ns,
            avg(
                l.drained_ns - l.loading_ns - l.work_ns - l.communication_ns - l.rest_ns
            ) AS host_part_ns,
            avg(l.loading_ns) AS loading_ns,
            avg(l.work_ns) AS work_ns,
            avg(l.communication_ns) AS communication_ns,
            avg(l.rest_ns) AS rest_ns
        FROM _lengths AS l
        INNER JOIN _recorded_steps AS s ON l.trace = s.trace AND l.number = s.number
        GROUP BY
            GROUPING SETS (
                (s.run, s.worker, s.span, s.trace, l.scenario, s.is_averaged),
                (s.run, s.worker, s.span, s.trace, l.scenario, s.number, s.step)
            )
        HAVING CASE WHEN grouping(s.number) = 1 THEN s.is_averaged ELSE s.step IS NOT NULL END
    )

    SELECT
        m.run,
        m.worker,
        m.span,
        m.trace,
        m.scenario,
        m.step,
        m.is_mean,
        m.host_ns,
        m.drained_ns,
        CASE WHEN m.drained_ns > 0 AND m.scenario > 0 THEN CASE m.largest_ns
            WHEN m.host_part_ns THEN 'host'
            WHEN m.loading_ns THEN 'data_loading'
            WHEN m.work_ns THEN 'device'
            WHEN m.communication_ns THEN 'communication'
            WHEN m.rest_ns THEN 'unexplained'
        END END AS limited_by
    FROM (
        SELECT
            s.*,
            greatest(
                s.host_part_ns, s.loading_ns, s.work_ns, s.communication_ns, s.rest_ns
            ) AS largest_ns
        FROM _steps AS s
    ) AS m;
