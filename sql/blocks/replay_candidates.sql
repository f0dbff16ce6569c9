-- block: replay_candidates
-- since: 0.1
-- summary: Captured graphs that a launch may have replayed.
-- grain: one row per launch of a graph and captured graph whose names fit
-- uses: is_wanted, replay_items, replaying_run, split_replays
--
-- Captured graphs are those of the same run, and of the runs RUN/capture_traces and below. If the ranks of
-- both traces are known, they are the same. A graph whose kernels have no names is no candidate.
--
-- The names must be equal and in the same order. If no graph has them all, a graph is a candidate if one of the
-- two sequences is the other one without a part in one place, and not more than twice as long. A launch that
-- ran on several streams is compared as split_replays says.
--
-- params
--   run, worker, span
-- columns
--   run, worker, span
--   launch_id       BIGINT   key  The call that launched the graph.
--   capture_run     VARCHAR  key  Run of the captured graph.
--   capture_worker  VARCHAR  key  Worker of the captured graph.
--   capture_span    VARCHAR  key  Span of the captured graph.
--   capture_id      BIGINT   key  The call that begins the capture.
--   alignment       VARCHAR  -    'equal sequence', 'replay is a part', 'capture is a part' or 'several streams'.
--   prefix          BIGINT   -    Number of items that are equal from the start; NULL unless one is a part of the other.
--   suffix          BIGINT   -    Number of items that are equal from the end.
CREATE MACRO replay_candidates(
    run VARCHAR := NULL, worker VARCHAR := NULL, span VARCHAR := NULL
) AS TABLE
    WITH
    _launches AS MATERIALIZED (
        SELECT
            g.run,
            g.worker,
            g.span,
            g.event_id,
            g.items,
            g.sequence,
            replaying_run(g.run) AS owner,
            t.rank
        FROM graphs AS g
        LEFT JOIN traces AS t ON g.run = t.run AND g.worker = t.worker AND g.span = t.span
        WHERE
            g.role = 'launch'
            AND g.is_named
            AND is_wanted(g.run, g.worker, g.span, run, worker, span)
    ),

    _captures AS MATERIALIZED (
        SELECT
            g.run,
            g.worker,
            g.span,
            g.event_id,
            g.items,
            g.sequence,
            replaying_run(g.run) AS owner,
            t.rank
        FROM graphs AS g
        LEFT JOIN traces AS t ON g.run = t.run AND g.worker = t.worker AND g.span = t.span
        WHERE
            g.role = 'capture'
            AND g.is_named
            AND (run IS NULL OR replaying_run(g.run) = replaying_run(run))
    ),

    _equal AS MATERIALIZED (
        SELECT
            l.run,
            l.worker,
            l.span,
            l.event_id AS launch_id,
            c.run AS capture_run,
            c.worker AS capture_worker,
            c.span AS capture_span,
            c.event_id AS capture_id
        FROM _launches AS l
        INNER JOIN _captures AS c ON l.owner = c.owner AND l.sequence = c.sequence
        WHERE l.rank IS NULL OR c.rank IS NULL OR l.rank = c.rank
    ),

    _alone AS MATERIALIZED (
        SELECT l.*
        FROM _launches AS l
        ANTI JOIN _equal AS e
            ON
                l.run = e.run AND l.worker = e.worker AND l.span = e.span
                AND l.event_id = e.launch_id
        WHERE l.sequence IS NOT NULL
    ),

    -- Each pair of unequal sequences is compared once.
    _pairs AS MATERIALIZED (
        SELECT
            a.owner,
            a.sequence AS launched,
            c.sequence AS captured,
            a.items AS events,
            c.items AS nodes,
            min({ 'run': a.run, 'worker': a.worker, 'span': a.span, 'id': a.event_id }) AS launch,
            min({ 'run': c.run, 'worker': c.worker, 'span': c.span, 'id': c.event_id }) AS graph
        FROM _alone AS a
        INNER JOIN _captures AS c ON a.owner = c.owner
        WHERE
            a.items <> c.items
            AND 2 * least(a.items, c.items) >= greatest(a.items, c.items)
        GROUP BY a.owner, a.sequence, c.sequence, a.items, c.items
    ),

    _compared AS (
        SELECT a.run, a.worker, a.span, a.event_id
        FROM _alone AS a
        SEMI JOIN _pairs AS p
            ON p.launch = { 'run': a.run, 'worker': a.worker, 'span': a.span, 'id': a.event_id }
    ),

    _items AS MATERIALIZED (
        SELECT p.owner, p.launched, i.position, i.name
        FROM replay_items('_compared') AS i
        INNER JOIN (SELECT DISTINCT w.owner, w.launched, w.launch FROM _pairs AS w) AS p
            ON
                i.run = p.launch.run AND i.worker = p.launch.worker AND i.span = p.launch.span
                AND i.launch_id = p.launch.id
    ),

    _from_start AS (
        SELECT p.owner, p.launched, p.captured, min(i.position) AS prefix
        FROM _pairs AS p
        INNER JOIN _items AS i ON p.owner = i.owner AND p.launched = i.launched
        INNER JOIN graph_nodes AS n
            ON
                p.graph.run = n.run AND p.graph.worker = n.worker AND p.graph.span = n.span
                AND p.graph.id = n.capture_id AND i.position = n.position
        WHERE i.name <> n.name
        GROUP BY p.owner, p.launched, p.captured
    ),

    _from_end AS (
        SELECT p.owner, p.launched, p.captured, min(p.events - 1 - i.position) AS suffix
        FROM _pairs AS p
        INNER JOIN _items AS i ON p.owner = i.owner AND p.launched = i.launched
        INNER JOIN graph_nodes AS n
            ON
                p.graph.run = n.run AND p.graph.worker = n.worker AND p.graph.span = n.span
                AND p.graph.id = n.capture_id AND p.events - i.position = p.nodes - n.position
        WHERE i.name <> n.name
        GROUP BY p.owner, p.launched, p.captured
    ),

    _parts AS (
        SELECT
            p.owner,
            p.launched,
            p.captured,
            CASE WHEN p.events < p.nodes THEN 'replay is a part' ELSE 'capture is a part' END
                AS alignment,
            least(p.events, p.nodes) AS shorter,
            coalesce(s.prefix, least(p.events, p.nodes)) AS prefix,
            coalesce(e.suffix, least(p.events, p.nodes)) AS suffix
        FROM _pairs AS p
        LEFT JOIN _from_start AS s
            ON p.owner = s.owner AND p.launched = s.launched AND p.captured = s.captured
        LEFT JOIN _from_end AS e
            ON p.owner = e.owner AND p.launched = e.launched AND p.captured = e.captured
    ),

    _split AS (
        SELECT DISTINCT s.run, s.worker, s.span, s.launch_id, s.sequence
        FROM split_replays(run, worker, span) AS s
        WHERE s.is_sound
    )

    SELECT
        e.run,
        e.worker,
        e.span,
        e.launch_id,
        e.capture_run,
        e.capture_worker,
        e.capture_span,
        e.capture_id,
        'equal sequence' AS alignment,
        NULL::BIGINT AS prefix,
        NULL::BIGINT AS suffix
    FROM _equal AS e
    UNION ALL
    SELECT
        a.run,
        a.worker,
        a.span,
        a.event_id AS launch_id,
        c.run AS capture_run,
        c.worker AS capture_worker,
        c.span AS capture_span,
        c.event_id AS capture_id,
        p.alignment,
        p.prefix,
        p.suffix
    FROM _alone AS a
    INNER JOIN _parts AS p ON a.owner = p.owner AND a.sequence = p.launched
    INNER JOIN _captures AS c ON a.owner = c.owner AND p.captured = c.sequence
    WHERE
        p.prefix + p.suffix >= p.shorter
        AND (a.rank IS NULL OR c.rank IS NULL OR a.rank = c.rank)
    UNION ALL
    SELECT
        l.run,
        l.worker,
        l.span,
        l.event_id AS launch_id,
        c.run AS capture_run,
        c.worker AS capture_worker,
        c.span AS capture_span,
        c.event_id AS capture_id,
        'several streams',
        NULL,
        NULL
    FROM _launches AS l
    INNER JOIN _split AS s
        ON
            l.run = s.run AND l.worker = s.worker AND l.span = s.span
            AND l.event_id = s.launch_id
    INNER JOIN _captures AS c ON l.owner = c.owner AND s.sequence = c.sequence
    WHERE l.rank IS NULL OR c.rank IS NULL OR l.rank = c.rank;
