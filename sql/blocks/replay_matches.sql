-- block: replay_matches
-- since: 0.1
-- summary: Captured graph that each launch of a graph replayed, and how it was recognised.
-- grain: one row per launch of a graph
-- uses: is_wanted, replay_candidates, replaying_run
--
-- The first of these that leaves one captured graph decides:
--
-- - node id: the profiler wrote the same graph id on both sides, and node ids.
-- - content: one candidate (see replay_candidates).
-- - compiled graph: one candidate has the hash of the Inductor graph that is called around the launch.
-- - size and mode: one candidate was captured for the size and mode of the step. The size is the smallest
--   captured size that is at least the number of tokens of the step. A step with one launch replays a
--   graph of mode FULL or DECODE, a step with many launches those of mode PIECEWISE.
-- - order in the step: the step has as many launches on its thread as the thread of the capture has
--   graphs of one size and mode, and every i-th launch has the i-th graph as a candidate. If one pair does
--   not fit, or a launch also has candidates of another size or mode, order decides nothing in this step.
-- - graph id: launches with the same graph id replay the same graph. If they do not, none of them is
--   matched.
--
-- Otherwise no graph is chosen, and reason says why.
--
-- params
--   run, worker, span
-- columns
--   run, worker, span
--   launch_id       BIGINT   key  The call that launched the graph.
--   capture_run     VARCHAR  -    Run of the captured graph; NULL if none was chosen.
--   capture_worker  VARCHAR  -    Worker of the captured graph.
--   capture_span    VARCHAR  -    Span of the captured graph.
--   capture_id      BIGINT   -    The call that begins the capture.
--   basis           VARCHAR  -    'node id', 'content', 'compiled graph', 'size and mode', 'order in the step' or 'graph id'; NULL if none was chosen.
--   alignment       VARCHAR  -    As in replay_candidates.
--   prefix          BIGINT   -    As in replay_candidates.
--   suffix          BIGINT   -    As in replay_candidates.
--   candidates      BIGINT   -    Number of candidates by content.
--   events          BIGINT   -    Number of device events of the launch.
--   nodes           BIGINT   -    Number of nodes of the captured graph.
--   rest            STRUCT(run VARCHAR, worker VARCHAR, span VARCHAR, id BIGINT)[]  -  Candidates that size and mode leave, if several with an equal sequence; otherwise NULL.
--   alike           STRUCT(run VARCHAR, worker VARCHAR, span VARCHAR, id BIGINT)  -  One of the launches that all have the same candidates as this one.
--   is_torn         BOOLEAN  -    Whether launches with its graph id fit different captured graphs.
--   is_compared     BOOLEAN  -    Whether its events are compared with a captured graph: the chosen one, or several that may say the same.
--   reason          VARCHAR  -    Why no graph was chosen.
CREATE MACRO replay_matches(
    run VARCHAR := NULL, worker VARCHAR := NULL, span VARCHAR := NULL
) AS TABLE
    WITH
    _graphs AS MATERIALIZED (
        SELECT
            g.*,
            replaying_run(g.run) AS owner,
            t.rank
        FROM graphs AS g
        LEFT JOIN traces AS t ON g.run = t.run AND g.worker = t.worker AND g.span = t.span
        WHERE
            CASE g.role
                WHEN 'launch' THEN is_wanted(g.run, g.worker, g.span, run, worker, span)
                ELSE run IS NULL OR replaying_run(g.run) = replaying_run(run)
            END
    ),

    _annotated AS (
        SELECT g.run, g.worker, g.span, g.event_id, unnest(g.annotation_ids) AS annotation_id
        FROM _graphs AS g
    ),

    -- What the annotations around a call say. A graph is captured in capture_<size>_<mode>.
    _annotations AS MATERIALIZED (
        SELECT
            a.run,
            a.worker,
            a.span,
            a.event_id,
            a.annotation_id,
            h.start_ns,
            regexp_matches(h.name, '^(ProfilerStep#|execute_|step[[]|prefill[[]|decode[[])')
                AS is_step,
            regexp_extract(h.name, 'CompiledFxGraph ([0-9a-z]+)', 1) AS compiled,
            try_cast(regexp_extract(h.name, '^capture_([0-9]+)_[A-Za-z]+$', 1) AS BIGINT) AS size,
            regexp_extract(h.name, '^capture_[0-9]+_([A-Za-z]+)$', 1) AS mode,
            coalesce(
                try_cast(
                    regexp_extract(h.name, 'context_[0-9]+[(](sq)?([0-9]+)', 2) AS BIGINT
                )
                + try_cast(
                    regexp_extract(h.name, 'generation_[0-9]+[(](sq)?([0-9]+)', 2) AS BIGINT
                ),
                try_cast(regexp_extract(h.name, '[ []toks?=([0-9]+)', 1) AS BIGINT),
                try_cast(regexp_extract(h.name, '[ []bs=([0-9]+)', 1) AS BIGINT)
            ) AS tokens
        FROM _annotated AS a
        INNER JOIN host_events AS h
            ON
                a.run = h.run AND a.worker = h.worker AND a.span = h.span
                AND a.annotation_id = h.event_id
    ),

    _said AS (
        SELECT
            a.run,
            a.worker,
            a.span,
            a.event_id,
            nullif(max(a.compiled), '') AS compiled,
            max(a.size) AS size,
            nullif(max(a.mode), '') AS mode,
            max(CASE WHEN a.is_step THEN a.tokens END) AS tokens,
            min(CASE WHEN a.is_step AND a.tokens IS NOT NULL THEN a.start_ns END) AS step_ns
        FROM _annotations AS a
        GROUP BY a.run, a.worker, a.span, a.event_id
    ),

    _launches AS MATERIALIZED (
        SELECT
            g.run,
            g.worker,
            g.span,
            g.event_id,
            g.pid,
            g.tid,
            g.start_ns,
            g.owner,
            g.rank,
            g.graph_id,
            g.has_nodes,
            g.is_named,
            g.items,
            g.sequence,
            s.compiled,
            s.tokens,
            count(*) OVER (
                PARTITION BY g.run, g.worker, g.span, g.pid, g.tid, s.step_ns
            ) > 1 AS is_piecewise
        FROM _graphs AS g
        LEFT JOIN _said AS s
            ON
                g.run = s.run AND g.worker = s.worker AND g.span = s.span
                AND g.event_id = s.event_id
        WHERE g.role = 'launch'
    ),

    _captures AS MATERIALIZED (
        SELECT
            g.run,
            g.worker,
            g.span,
            g.event_id,
            g.pid,
            g.tid,
            g.owner,
            g.rank,
            g.graph_id,
            g.has_nodes,
            g.is_named,
            g.items,
            s.compiled,
            s.size,
            s.mode,
            row_number() OVER (
                PARTITION BY g.run, g.worker, g.span, g.pid, g.tid, s.size, s.mode
                ORDER BY g.start_ns, g.event_id
            ) AS turn,
            count(*) OVER (
                PARTITION BY g.run, g.worker, g.span, g.pid, g.tid, s.size, s.mode
            ) AS turns
        FROM _graphs AS g
        LEFT JOIN _said AS s
            ON
                g.run = s.run AND g.worker = s.worker AND g.span = s.span
                AND g.event_id = s.event_id
        WHERE g.role = 'capture'
    ),

    _sizes AS (
        SELECT l.run, l.worker, l.span, l.event_id, min(c.size) AS size
        FROM _launches AS l
        INNER JOIN (
            SELECT DISTINCT k.owner, k.size, k.mode = 'PIECEWISE' AS is_piecewise
            FROM _captures AS k
            WHERE k.size IS NOT NULL AND k.mode IS NOT NULL
        ) AS c ON l.owner = c.owner AND l.is_piecewise = c.is_piecewise AND l.tokens <= c.size
        GROUP BY l.run, l.worker, l.span, l.event_id
    ),

    _fitting AS (
        SELECT
            k.*,
            coalesce(l.compiled = c.compiled, FALSE) AS is_compiled,
            coalesce(c.size = z.size AND (c.mode = 'PIECEWISE') = l.is_piecewise, FALSE)
                AS is_declared,
            c.pid,
            c.tid,
            c.size,
            c.mode,
            c.turn,
            c.turns,
            concat_ws(chr(0), c.run, c.worker, c.span, c.pid, c.tid, c.size, c.mode) AS turns_of,
            c.items AS nodes
        FROM replay_candidates(run, worker, span) AS k
        INNER JOIN _launches AS l
            ON
                k.run = l.run AND k.worker = l.worker AND k.span = l.span
                AND k.launch_id = l.event_id
        INNER JOIN _captures AS c
            ON
                k.capture_run = c.run AND k.capture_worker = c.worker
                AND k.capture_span = c.span AND k.capture_id = c.event_id
        LEFT JOIN _sizes AS z
            ON
                k.run = z.run AND k.worker = z.worker AND k.span = z.span
                AND k.launch_id = z.event_id
    ),

    _counted AS (
        SELECT
            f.*,
            count(*) OVER of_launch AS candidates,
            bool_or(f.is_compiled) OVER of_launch AS has_compiled,
            bool_or(f.is_declared) OVER of_launch AS has_declared
        FROM _fitting AS f
        WINDOW of_launch AS (PARTITION BY f.run, f.worker, f.span, f.launch_id)
    ),

    _kept AS MATERIALIZED (
        SELECT
            c.*,
            count(*) OVER of_launch AS left_over,
            min(c.turns_of) OVER of_launch = max(c.turns_of) OVER of_launch AS is_one_series
        FROM _counted AS c
        WHERE
            CASE
                WHEN c.has_compiled THEN c.is_compiled
                WHEN c.has_declared THEN c.is_declared
                ELSE TRUE
            END
        WINDOW of_launch AS (PARTITION BY c.run, c.worker, c.span, c.launch_id)
    ),

    -- Launches of a step in order. A step may have several annotations, one inside the other.
    _turns AS (
        SELECT
            l.run,
            l.worker,
            l.span,
            l.event_id,
            a.annotation_id,
            l.pid,
            l.tid,
            row_number() OVER (
                PARTITION BY l.run, l.worker, l.span, l.pid, l.tid, a.annotation_id
                ORDER BY l.start_ns, l.event_id
            ) AS turn,
            count(*) OVER (
                PARTITION BY l.run, l.worker, l.span, l.pid, l.tid, a.annotation_id
            ) AS turns
        FROM _launches AS l
        INNER JOIN _annotations AS a
            ON
                l.run = a.run AND l.worker = a.worker AND l.span = a.span
                AND l.event_id = a.event_id
        WHERE a.is_step
    ),

    _in_order AS (
        SELECT
            k.run,
            k.worker,
            k.span,
            k.launch_id,
            k.capture_run,
            k.capture_worker,
            k.capture_span,
            k.capture_id,
            t.turns,
            count(*) OVER (
                PARTITION BY
                    k.run, k.worker, k.span, t.annotation_id, t.pid, t.tid,
                    k.capture_run, k.capture_worker, k.capture_span, k.pid, k.tid, k.size, k.mode
            ) AS pairs
        FROM _turns AS t
        INNER JOIN _kept AS k
            ON
                t.run = k.run AND t.worker = k.worker AND t.span = k.span
                AND t.event_id = k.launch_id AND t.turn = k.turn AND t.turns = k.turns
        WHERE k.is_one_series
    ),

    _ordered AS (
        SELECT
            o.run,
            o.worker,
            o.span,
            o.launch_id,
            max(
                {
                    'run': o.capture_run,
                    'worker': o.capture_worker,
                    'span': o.capture_span,
                    'id': o.capture_id
                }
            ) AS graph
        FROM (
            SELECT DISTINCT
                i.run, i.worker, i.span, i.launch_id,
                i.capture_run, i.capture_worker, i.capture_span, i.capture_id
            FROM _in_order AS i
            WHERE i.pairs = i.turns
        ) AS o
        GROUP BY o.run, o.worker, o.span, o.launch_id
        HAVING count(*) = 1
    ),

    _chosen AS MATERIALIZED (
        SELECT
            k.run,
            k.worker,
            k.span,
            k.launch_id,
            k.capture_run,
            k.capture_worker,
            k.capture_span,
            k.capture_id,
            CASE
                WHEN k.candidates = 1 THEN 'content'
                WHEN k.left_over = 1 AND k.is_compiled THEN 'compiled graph'
                WHEN k.left_over = 1 THEN 'size and mode'
                ELSE 'order in the step'
            END AS basis,
            k.alignment,
            k.prefix,
            k.suffix,
            k.nodes
        FROM _kept AS k
        LEFT JOIN _ordered AS o
            ON
                k.run = o.run AND k.worker = o.worker AND k.span = o.span
                AND k.launch_id = o.launch_id
                AND k.capture_run = o.graph.run AND k.capture_worker = o.graph.worker
                AND k.capture_span = o.graph.span AND k.capture_id = o.graph.id
        WHERE k.left_over = 1 OR o.launch_id IS NOT NULL
    ),

    _by_node AS MATERIALIZED (
        SELECT
            l.run,
            l.worker,
            l.span,
            l.event_id,
            max({ 'run': c.run, 'worker': c.worker, 'span': c.span, 'id': c.event_id }) AS graph,
            max(c.items) AS nodes
        FROM _launches AS l
        INNER JOIN _captures AS c ON l.owner = c.owner AND l.graph_id = c.graph_id
        WHERE
            l.has_nodes AND c.has_nodes
            AND (l.rank IS NULL OR c.rank IS NULL OR l.rank = c.rank)
        GROUP BY l.run, l.worker, l.span, l.event_id
        HAVING count(*) = 1
    ),

    -- The graph of all launches with one graph id.
    _by_graph AS MATERIALIZED (
        SELECT
            l.run,
            l.worker,
            l.span,
            l.graph_id,
            max(
                {
                    'run': c.capture_run,
                    'worker': c.capture_worker,
                    'span': c.capture_span,
                    'id': c.capture_id
                }
            ) AS graph,
            min(
                {
                    'run': c.capture_run,
                    'worker': c.capture_worker,
                    'span': c.capture_span,
                    'id': c.capture_id
                }
            ) AS other
        FROM _chosen AS c
        INNER JOIN _launches AS l
            ON
                c.run = l.run AND c.worker = l.worker AND c.span = l.span
                AND c.launch_id = l.event_id
        WHERE l.graph_id IS NOT NULL
        GROUP BY l.run, l.worker, l.span, l.graph_id
    ),

    _left AS (
        SELECT
            k.run,
            k.worker,
            k.span,
            k.launch_id,
            max(k.candidates) AS candidates,
            CASE
                WHEN bool_and(k.alignment = 'equal sequence') AND count(*) > 1
                    THEN
                        list(
                            {
                                'run': k.capture_run,
                                'worker': k.capture_worker,
                                'span': k.capture_span,
                                'id': k.capture_id
                            }
                            ORDER BY
                                k.capture_run, k.capture_worker, k.capture_span, k.capture_id
                        )
            END AS rest
        FROM _kept AS k
        GROUP BY k.run, k.worker, k.span, k.launch_id
    ),

    _scope AS (
        SELECT c.owner, bool_or(NOT c.is_named) AS has_unnamed
        FROM _captures AS c
        GROUP BY c.owner
    ),

    _decided AS (
        SELECT
            l.run,
            l.worker,
            l.span,
            l.event_id,
            l.owner,
            l.items,
            CASE
                WHEN n.event_id IS NOT NULL THEN n.graph
                WHEN g.graph <> g.other THEN NULL
                WHEN c.launch_id IS NOT NULL
                    THEN
                        {
                            'run': c.capture_run,
                            'worker': c.capture_worker,
                            'span': c.capture_span,
                            'id': c.capture_id
                        }
                ELSE g.graph
            END AS graph,
            CASE
                WHEN n.event_id IS NOT NULL THEN 'node id'
                WHEN c.launch_id IS NOT NULL THEN c.basis
                ELSE 'graph id'
            END AS basis,
            CASE WHEN n.event_id IS NOT NULL THEN n.nodes END AS nodes,
            coalesce(g.graph <> g.other, FALSE) AS is_torn,
            min({ 'run': l.run, 'worker': l.worker, 'span': l.span, 'id': l.event_id }) OVER (
                PARTITION BY
                    l.owner, l.rank, l.sequence, l.compiled, l.is_piecewise, z.size
            ) AS alike
        FROM _launches AS l
        LEFT JOIN _sizes AS z
            ON
                l.run = z.run AND l.worker = z.worker AND l.span = z.span
                AND l.event_id = z.event_id
        LEFT JOIN _by_node AS n
            ON
                l.run = n.run AND l.worker = n.worker AND l.span = n.span
                AND l.event_id = n.event_id
        LEFT JOIN _chosen AS c
            ON
                l.run = c.run AND l.worker = c.worker AND l.span = c.span
                AND l.event_id = c.launch_id
        LEFT JOIN _by_graph AS g
            ON
                l.run = g.run AND l.worker = g.worker AND l.span = g.span
                AND l.graph_id = g.graph_id
    )

    SELECT
        d.run,
        d.worker,
        d.span,
        d.event_id AS launch_id,
        CASE WHEN k.launch_id IS NOT NULL OR d.basis = 'node id' THEN d.graph.run END
            AS capture_run,
        CASE WHEN k.launch_id IS NOT NULL OR d.basis = 'node id' THEN d.graph.worker END
            AS capture_worker,
        CASE WHEN k.launch_id IS NOT NULL OR d.basis = 'node id' THEN d.graph.span END
            AS capture_span,
        CASE WHEN k.launch_id IS NOT NULL OR d.basis = 'node id' THEN d.graph.id END
            AS capture_id,
        CASE WHEN k.launch_id IS NOT NULL OR d.basis = 'node id' THEN d.basis END AS basis,
        CASE WHEN d.basis = 'node id' THEN 'node id' ELSE k.alignment END AS alignment,
        k.prefix,
        k.suffix,
        coalesce(f.candidates, 0) AS candidates,
        d.items AS events,
        coalesce(d.nodes, k.nodes) AS nodes,
        f.rest,
        d.alike,
        d.is_torn,
        k.launch_id IS NOT NULL
        OR (d.basis = 'node id' AND d.graph IS NOT NULL)
        OR (f.rest IS NOT NULL AND NOT d.is_torn) AS is_compared,
        CASE
            WHEN k.launch_id IS NOT NULL OR d.basis = 'node id' AND d.graph IS NOT NULL THEN NULL
            WHEN d.items = 0 THEN 'No device work of this launch was recorded.'
            WHEN d.is_torn THEN 'Launches with its graph id fit different captured graphs.'
            WHEN f.candidates > 1 THEN 'Several captured graphs have these kernels in this order.'
            WHEN s.owner IS NULL THEN 'No capture of a graph belongs to this run.'
            WHEN s.has_unnamed
                THEN
                    'No captured graph with kernel names has these kernels in this order, and '
                    || 'some have no names.'
            ELSE 'No captured graph has these kernels in this order.'
        END AS reason
    FROM _decided AS d
    LEFT JOIN _kept AS k
        ON
            d.run = k.run AND d.worker = k.worker AND d.span = k.span
            AND d.event_id = k.launch_id AND d.graph.run = k.capture_run
            AND d.graph.worker = k.capture_worker AND d.graph.span = k.capture_span
            AND d.graph.id = k.capture_id
    LEFT JOIN _left AS f
        ON
            d.run = f.run AND d.worker = f.worker AND d.span = f.span
            AND d.event_id = f.launch_id
    LEFT JOIN _scope AS s ON d.owner = s.owner;
