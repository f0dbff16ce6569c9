-- block: replayed_modules
-- since: 0.1
-- summary: Device time of each captured module call in each replay of its graph.
-- grain: one row per launch of a graph and captured module call; one per launch inside a module
-- uses: is_wanted, matched_replays
--
-- As replayed_costs, for modules. The innermost module around the launch has all of the launch's device time as
-- its own (see module_costs). Its row with replays 0 takes the attributed part away again. All modules around
-- the launch have its time in their totals already, so a captured call of the same name adds nothing to the total.
--
-- params
--   run, worker, span
-- columns
--   run, worker, span
--   launch_id        BIGINT   key  The call that launched the graph.
--   module           VARCHAR  -    Name of the module.
--   module_id        BIGINT   -    The number in its name.
--   depth            INTEGER  -    Number of modules around it.
--   replays          BIGINT   -    1 for a captured call, 0 for the module around the launch.
--   call_id          BIGINT   key  The call in host_events, of the capture or of the replay.
--   device_self_ns   BIGINT   ns   Replayed work that was captured in it, and in no module inside it.
--   device_total_ns  BIGINT   ns   The same, with the modules inside it.
--   replayed_ns      BIGINT   ns   The same, also where a module of the same name is around the launch.
--   path             VARCHAR  -    Names of the captured modules around it and its own name, outermost first, separated by ';'; NULL for the module around the launch.
CREATE MACRO replayed_modules(
    run VARCHAR := NULL, worker VARCHAR := NULL, span VARCHAR := NULL
) AS TABLE
    WITH
    _events AS MATERIALIZED (
        SELECT
            e.run,
            e.worker,
            e.span,
            e.launch_id,
            e.capture_run,
            e.capture_worker,
            e.capture_span,
            e.duration_ns,
            n.module_ids
        FROM matched_replays(run, worker, span) AS e
        INNER JOIN graph_nodes AS n
            ON
                e.capture_run = n.run AND e.capture_worker = n.worker
                AND e.capture_span = n.span AND e.call_id = n.event_id
        WHERE e.node IS NOT NULL AND len(n.module_ids) > 0
    ),

    _summed AS (
        SELECT
            e.run,
            e.worker,
            e.span,
            e.launch_id,
            e.capture_run,
            e.capture_worker,
            e.capture_span,
            e.module_ids,
            sum(e.duration_ns) AS ns
        FROM _events AS e
        GROUP BY
            e.run, e.worker, e.span, e.launch_id, e.capture_run, e.capture_worker,
            e.capture_span, e.module_ids
    ),

    _around AS (
        SELECT
            s.run,
            s.worker,
            s.span,
            s.launch_id,
            s.capture_run,
            s.capture_worker,
            s.capture_span,
            len(s.module_ids) AS modules,
            s.ns,
            unnest(range(1, len(s.module_ids) + 1)) AS place,
            unnest(s.module_ids) AS call_id
        FROM _summed AS s
    ),

    _calls AS (
        SELECT DISTINCT
            c.capture_run,
            c.capture_worker,
            c.capture_span,
            c.module_ids[c.place] AS call_id,
            c.module_ids[c.place:] AS chain
        FROM (
            SELECT
                e.capture_run,
                e.capture_worker,
                e.capture_span,
                e.module_ids,
                unnest(range(1, len(e.module_ids) + 1)) AS place
            FROM _summed AS e
        ) AS c
    ),

    _parents AS (
        SELECT
            c.capture_run,
            c.capture_worker,
            c.capture_span,
            c.call_id,
            unnest(range(len(c.chain))) AS distance,
            unnest(c.chain) AS parent_id
        FROM _calls AS c
    ),

    _paths AS (
        SELECT
            p.capture_run,
            p.capture_worker,
            p.capture_span,
            p.call_id,
            string_agg(regexp_replace(h.name, '^nn\.Module: ', ''), ';' ORDER BY p.distance DESC)
                AS path
        FROM _parents AS p
        INNER JOIN host_events AS h
            ON
                p.capture_run = h.run AND p.capture_worker = h.worker
                AND p.capture_span = h.span AND p.parent_id = h.event_id
        GROUP BY p.capture_run, p.capture_worker, p.capture_span, p.call_id
    ),

    _launches AS (
        SELECT g.run, g.worker, g.span, g.event_id, g.module_ids
        FROM graphs AS g
        WHERE
            g.role = 'launch'
            AND len(g.module_ids) > 0
            AND is_wanted(g.run, g.worker, g.span, run, worker, span)
    ),

    _outer AS (
        SELECT l.run, l.worker, l.span, l.event_id, unnest(l.module_ids) AS module_id
        FROM _launches AS l
    ),

    _outer_names AS (
        SELECT DISTINCT o.run, o.worker, o.span, o.event_id, h.name
        FROM _outer AS o
        INNER JOIN host_events AS h
            ON
                o.run = h.run AND o.worker = h.worker AND o.span = h.span
                AND o.module_id = h.event_id
    )

    SELECT
        a.run,
        a.worker,
        a.span,
        a.launch_id,
        regexp_replace(h.name, '^nn\.Module: ', '') AS module,
        h.python_module_id AS module_id,
        min(a.modules - a.place)::INTEGER AS depth,
        1::BIGINT AS replays,
        a.call_id,
        sum(CASE WHEN a.place = 1 THEN a.ns ELSE 0 END)::BIGINT AS device_self_ns,
        sum(CASE WHEN n.name IS NULL THEN a.ns ELSE 0 END)::BIGINT AS device_total_ns,
        sum(a.ns)::BIGINT AS replayed_ns,
        p.path
    FROM _around AS a
    INNER JOIN host_events AS h
        ON
            a.capture_run = h.run AND a.capture_worker = h.worker AND a.capture_span = h.span
            AND a.call_id = h.event_id
    INNER JOIN _paths AS p
        ON
            a.capture_run = p.capture_run AND a.capture_worker = p.capture_worker
            AND a.capture_span = p.capture_span AND a.call_id = p.call_id
    LEFT JOIN _outer_names AS n
        ON
            a.run = n.run AND a.worker = n.worker AND a.span = n.span
            AND a.launch_id = n.event_id AND h.name = n.name
    GROUP BY
        a.run, a.worker, a.span, a.launch_id, a.capture_run, a.capture_worker, a.capture_span,
        a.call_id, h.name, h.python_module_id, p.path
    UNION ALL
    SELECT
        l.run,
        l.worker,
        l.span,
        l.event_id AS launch_id,
        regexp_replace(h.name, '^nn\.Module: ', ''),
        h.python_module_id,
        (len(l.module_ids) - 1)::INTEGER,
        0,
        h.event_id AS call_id,
        -s.ns,
        0,
        0,
        NULL
    FROM _launches AS l
    INNER JOIN (
        SELECT e.run, e.worker, e.span, e.launch_id, sum(e.duration_ns)::BIGINT AS ns
        FROM _events AS e
        GROUP BY e.run, e.worker, e.span, e.launch_id
    ) AS s
        ON
            l.run = s.run AND l.worker = s.worker AND l.span = s.span
            AND l.event_id = s.launch_id
    INNER JOIN host_events AS h
        ON
            l.run = h.run AND l.worker = h.worker AND l.span = h.span
            AND l.module_ids[1] = h.event_id;
