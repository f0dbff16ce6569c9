-- block: module_backwards
-- since: 0.1
-- summary: Backward passes of a trace, and the stretches in them that are the backward of a module.
-- grain: one row per stretch
-- uses: first_trace
--
-- Autograd nodes carry the sequence number of their forward operator: the last operator before the node
-- with this number. A node is part of the backward of the module in which that operator was called, and of
-- the modules around that one. Gradient accumulation, which has no number, belongs to the node that ran
-- before it. A stretch is a sequence of consecutive nodes for the same call of a module; if the engine
-- alternates between two modules, each has several stretches.
--
-- A pass ends at a number that is not below all numbers before it (the engine goes from the last to the
-- first), and where one of the given calls starts or ends between two nodes.
--
-- params
--   name  type     unit  default  meaning
--   rel   VARCHAR  -     -        Name of a relation with event_id, kind, name, thread, start_ns and end_ns: calls on the main thread; calls of modules have kind 'module'.
--   run, worker, span
-- columns
--   name      type     unit  meaning
--   level     BIGINT   key   0 for a pass; otherwise the number of modules around it, itself included.
--   name      VARCHAR  -     'backward', or the name of the module followed by '.backward'.
--   start_ns  BIGINT   ns    Start of the first node of the stretch.
--   end_ns    BIGINT   ns    End of the last node.
CREATE MACRO module_backwards(
    rel VARCHAR, run VARCHAR := NULL, worker VARCHAR := NULL, span VARCHAR := NULL
) AS TABLE
    WITH
    _operators AS MATERIALIZED (
        SELECT
            o.event_id,
            o.pid || chr(0) || o.tid AS thread,
            o.sequence_number AS number,
            starts_with(o.name, 'autograd::engine::evaluate_function: ')
            OR ends_with(o.name, 'AccumulateGrad')
            OR coalesce(o.forward_thread_id > 0, FALSE) AS is_backward,
            o.start_ns,
            o.start_ns + o.duration_ns AS end_ns
        FROM cpu_ops AS o
        INNER JOIN first_trace(run, worker, span) AS t
            ON o.run = t.run AND o.worker = t.worker AND o.span = t.span
        WHERE
            o.run = run
            AND (
                o.sequence_number IS NOT NULL
                OR starts_with(o.name, 'autograd::engine::evaluate_function: ')
                OR ends_with(o.name, 'AccumulateGrad')
            )
    ),

    -- Nodes of the graph as the engine runs them, without the operators inside them.
    _nodes AS MATERIALIZED (
        SELECT
            row_number() OVER (ORDER BY o.start_ns, o.event_id) AS node,
            o.number,
            o.start_ns,
            o.end_ns
        FROM (
            SELECT
                b.event_id,
                b.number,
                b.start_ns,
                b.end_ns,
                coalesce(max(b.end_ns) OVER (
                    PARTITION BY b.thread
                    ORDER BY b.start_ns ASC, b.end_ns DESC, b.event_id ASC
                    ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
                ) > b.start_ns, FALSE) AS is_inside
            FROM _operators AS b
            WHERE b.is_backward
        ) AS o
        WHERE NOT o.is_inside
    ),

    -- Calls that a node makes do not end a pass.
    _outer_calls AS (
        SELECT
            c.start_ns,
            c.end_ns
        FROM (
            SELECT
                e.node,
                e.start_ns,
                e.end_ns,
                coalesce(max(e.node_end_ns) OVER (
                    ORDER BY e.start_ns, e.node NULLS LAST ROWS UNBOUNDED PRECEDING
                ) > e.start_ns, FALSE) AS is_inside
            FROM (
                SELECT
                    n.node,
                    n.start_ns,
                    n.end_ns,
                    n.end_ns AS node_end_ns
                FROM _nodes AS n
                UNION ALL
                SELECT
                    NULL,
                    r.start_ns,
                    r.end_ns,
                    NULL
                FROM query_table(rel) AS r
            ) AS e
        ) AS c
        WHERE c.node IS NULL AND NOT c.is_inside
    ),

    _between AS (
        SELECT
            e.node,
            sum(e.bounds) OVER (
                ORDER BY e.at_ns, e.node NULLS FIRST ROWS UNBOUNDED PRECEDING
            ) AS bounds
        FROM (
            SELECT
                n.node,
                n.start_ns AS at_ns,
                0 AS bounds
            FROM _nodes AS n
            UNION ALL
            SELECT
                NULL,
                unnest([c.start_ns, c.end_ns]),
                1
            FROM _outer_calls AS c
        ) AS e
    ),

    _passes AS MATERIALIZED (
        SELECT
            s.node,
            s.number,
            s.start_ns,
            s.end_ns,
            sum(s.is_first::BIGINT) OVER (ORDER BY s.node ROWS UNBOUNDED PRECEDING) AS pass
        FROM (
            SELECT
                n.node,
                n.number,
                n.start_ns,
                n.end_ns,
                coalesce(b.bounds <> lag(b.bounds) OVER (ORDER BY n.node), TRUE)
                OR coalesce(n.number >= max(n.number) OVER (
                    ORDER BY n.node ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
                ), FALSE) AS is_first
            FROM _nodes AS n
            INNER JOIN _between AS b ON n.node = b.node
        ) AS s
    ),

    -- Where the forward operator of each node was called.
    _forwards AS (
        SELECT
            n.node,
            max(o.start_ns) AS at_ns
        FROM _nodes AS n
        INNER JOIN _operators AS o ON n.number = o.number AND n.start_ns > o.start_ns
        WHERE
            NOT o.is_backward
            AND o.thread IN (SELECT r.thread FROM query_table(rel) AS r WHERE r.kind = 'module')
        GROUP BY n.node
    ),

    -- How many modules are open then, and around each module.
    _opened AS MATERIALIZED (
        SELECT
            e.node,
            e.event_id,
            e.at_ns,
            sum(e.change) OVER (
                ORDER BY e.at_ns, e.step, e.event_id ROWS UNBOUNDED PRECEDING
            ) AS modules
        FROM (
            SELECT
                f.node,
                NULL AS event_id,
                f.at_ns,
                2 AS step,
                0 AS change
            FROM _forwards AS f
            UNION ALL
            SELECT
                NULL,
                CASE WHEN e.is_start THEN r.event_id END,
                CASE WHEN e.is_start THEN r.start_ns ELSE r.end_ns END,
                e.is_start::INTEGER,
                CASE WHEN e.is_start THEN 1 ELSE -1 END
            FROM query_table(rel) AS r
            CROSS JOIN (VALUES (TRUE), (FALSE)) AS e (is_start)
            WHERE r.kind = 'module' AND r.end_ns > r.start_ns
        ) AS e
    ),

    _modules AS (
        SELECT
            e.node,
            e.level,
            last_value(e.event_id IGNORE NULLS) OVER (
                PARTITION BY e.level ORDER BY e.at_ns, e.node NULLS FIRST ROWS UNBOUNDED PRECEDING
            ) AS event_id
        FROM (
            SELECT
                NULL AS node,
                o.event_id,
                o.at_ns,
                o.modules::BIGINT AS level
            FROM _opened AS o
            WHERE o.event_id IS NOT NULL
            UNION ALL
            SELECT
                o.node,
                NULL,
                o.at_ns,
                unnest(range(1, o.modules::BIGINT + 1))
            FROM _opened AS o
            WHERE o.node IS NOT NULL
        ) AS e
    ),

    _paths AS (
        SELECT
            m.node,
            list(m.event_id ORDER BY m.level) AS path
        FROM _modules AS m
        WHERE m.node IS NOT NULL
        GROUP BY m.node
    ),

    _nodes_with_paths AS (
        SELECT
            p.node,
            p.pass,
            p.start_ns,
            p.end_ns,
            coalesce(w.path, []) AS path
        FROM (
            SELECT
                s.node,
                s.pass,
                s.start_ns,
                s.end_ns,
                last_value(CASE WHEN s.number IS NOT NULL THEN s.node END IGNORE NULLS) OVER (
                    PARTITION BY s.pass ORDER BY s.node ROWS UNBOUNDED PRECEDING
                ) AS leader
            FROM _passes AS s
        ) AS p
        LEFT JOIN _paths AS w ON p.leader = w.node
    ),

    _stretches AS (
        SELECT
            l.level,
            l.path[l.level] AS event_id,
            l.start_ns,
            l.end_ns,
            sum((
                l.pass IS DISTINCT FROM l.last_pass
                OR l.path[:l.level] IS DISTINCT FROM l.last_path[:l.level]
            )::BIGINT) OVER (
                PARTITION BY l.level ORDER BY l.node ROWS UNBOUNDED PRECEDING
            ) AS stretch
        FROM (
            SELECT
                n.node,
                n.pass,
                n.path,
                n.start_ns,
                n.end_ns,
                lag(n.pass) OVER (ORDER BY n.node) AS last_pass,
                lag(n.path) OVER (ORDER BY n.node) AS last_path,
                unnest(range(0, len(n.path) + 1)) AS level
            FROM _nodes_with_paths AS n
        ) AS l
    )

    SELECT
        s.level,
        coalesce(any_value(r.name) || '.backward', 'backward') AS name,
        min(s.start_ns) AS start_ns,
        max(s.end_ns) AS end_ns
    FROM _stretches AS s
    LEFT JOIN query_table(rel) AS r ON s.event_id = r.event_id
    GROUP BY s.level, s.stretch;
