-- block: split_replays
-- since: 0.1
-- summary: Nodes that the events of a launch can be, where it ran on several streams.
-- grain: one row per launch on several streams, captured sequence with the same names, and event
-- uses: is_wanted, replay_items, replaying_run
--
-- No field says on which stream a captured node runs. A launch fits a captured sequence if it has the same
-- number of events of each name, and if the events of each stream are in the order of the capture. A name that
-- runs on one stream only is paired in this order. Another event lies between two such nodes. Of the nodes of its
-- name in between, the first k are those of the k events of its name before it in the same place, and as
-- many are left for those after it.
--
-- params
--   run, worker, span
-- columns
--   run, worker, span
--   launch_id  BIGINT   key  The call that launched the graph.
--   event_id   BIGINT   key  The event in device_events.
--   sequence   VARCHAR  key  The captured sequence, as in graphs.
--   low        BIGINT   -    Position of the first node that the event can be.
--   high       BIGINT   -    Position of the last one; of the nodes in between, those with its name can be it.
--   is_sound   BOOLEAN  -    Whether all events of the launch can be nodes of this sequence.
CREATE MACRO split_replays(
    run VARCHAR := NULL, worker VARCHAR := NULL, span VARCHAR := NULL
) AS TABLE
    WITH
    _launches AS (
        SELECT g.run, g.worker, g.span, g.event_id, g.names, replaying_run(g.run) AS owner
        FROM graphs AS g
        WHERE
            g.role = 'launch'
            AND g.streams > 1
            AND g.sequence IS NULL
            AND g.is_named
            AND is_wanted(g.run, g.worker, g.span, run, worker, span)
    ),

    -- One captured graph of each sequence.
    _sequences AS (
        SELECT
            replaying_run(g.run) AS owner,
            g.sequence,
            g.names,
            g.items,
            min({ 'run': g.run, 'worker': g.worker, 'span': g.span, 'id': g.event_id }) AS graph
        FROM graphs AS g
        WHERE g.role = 'capture' AND g.is_named
        GROUP BY replaying_run(g.run), g.sequence, g.names, g.items
    ),

    _pairs AS MATERIALIZED (
        SELECT l.run, l.worker, l.span, l.event_id, l.owner, s.sequence, s.items
        FROM _launches AS l
        INNER JOIN _sequences AS s ON l.owner = s.owner AND l.names = s.names
    ),

    _nodes AS (
        SELECT
            s.owner,
            s.sequence,
            n.name,
            n.position,
            row_number() OVER (PARTITION BY s.owner, s.sequence, n.name ORDER BY n.position) AS turn
        FROM (
            SELECT q.* FROM _sequences AS q
            INNER JOIN (SELECT DISTINCT p.owner, p.sequence FROM _pairs AS p) AS w
                ON q.owner = w.owner AND q.sequence = w.sequence
        ) AS s
        INNER JOIN graph_nodes AS n
            ON
                s.graph.run = n.run AND s.graph.worker = n.worker AND s.graph.span = n.span
                AND s.graph.id = n.capture_id
    ),

    _split AS (
        SELECT DISTINCT p.run, p.worker, p.span, p.event_id
        FROM _pairs AS p
    ),

    _events AS (
        SELECT
            p.owner,
            p.sequence,
            p.items,
            i.run,
            i.worker,
            i.span,
            i.launch_id,
            i.event_id,
            i.position,
            i.name,
            i.stream,
            min(i.stream) OVER same = max(i.stream) OVER same AS is_alone,
            row_number() OVER (
                PARTITION BY i.run, i.worker, i.span, i.launch_id, p.sequence, i.name
                ORDER BY i.position
            ) AS turn
        FROM replay_items('_split') AS i
        INNER JOIN _pairs AS p
            ON
                i.run = p.run AND i.worker = p.worker AND i.span = p.span
                AND i.launch_id = p.event_id
        WINDOW same AS (
            PARTITION BY i.run, i.worker, i.span, i.launch_id, p.sequence, i.name
        )
    ),

    _anchored AS (
        SELECT
            e.*,
            n.position AS node,
            max(n.position) OVER (
                PARTITION BY e.run, e.worker, e.span, e.launch_id, e.sequence, e.stream
                ORDER BY e.position
                ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
            ) AS after_node,
            min(n.position) OVER (
                PARTITION BY e.run, e.worker, e.span, e.launch_id, e.sequence, e.stream
                ORDER BY e.position
                ROWS BETWEEN 1 FOLLOWING AND UNBOUNDED FOLLOWING
            ) AS before_node
        FROM _events AS e
        LEFT JOIN _nodes AS n
            ON
                e.is_alone AND e.owner = n.owner AND e.sequence = n.sequence
                AND e.name = n.name AND e.turn = n.turn
    ),

    _placed AS (
        SELECT
            a.*,
            row_number() OVER (
                PARTITION BY
                    a.run, a.worker, a.span, a.launch_id, a.sequence, a.stream,
                    a.after_node, a.before_node, a.name
                ORDER BY a.position
            ) AS place,
            count(*) OVER (
                PARTITION BY
                    a.run, a.worker, a.span, a.launch_id, a.sequence, a.stream,
                    a.after_node, a.before_node, a.name
            ) AS places
        FROM _anchored AS a
    ),

    _possible AS (
        SELECT
            p.run,
            p.worker,
            p.span,
            p.launch_id,
            p.event_id,
            p.sequence,
            p.place,
            p.places,
            n.position,
            row_number() OVER (
                PARTITION BY p.run, p.worker, p.span, p.launch_id, p.sequence, p.event_id
                ORDER BY n.position
            ) AS rank,
            count(*) OVER (
                PARTITION BY p.run, p.worker, p.span, p.launch_id, p.sequence, p.event_id
            ) AS ranks
        FROM _placed AS p
        INNER JOIN _nodes AS n
            ON p.owner = n.owner AND p.sequence = n.sequence AND p.name = n.name
        WHERE
            NOT p.is_alone
            AND n.position > coalesce(p.after_node, -1)
            AND n.position < coalesce(p.before_node, p.items)
    ),

    _bounds AS (
        SELECT
            b.run,
            b.worker,
            b.span,
            b.launch_id,
            b.event_id,
            b.sequence,
            min(b.position) AS low,
            max(b.position) AS high
        FROM _possible AS b
        WHERE b.rank >= b.place AND b.rank <= b.ranks - b.places + b.place
        GROUP BY b.run, b.worker, b.span, b.launch_id, b.event_id, b.sequence
    )

    SELECT
        p.run,
        p.worker,
        p.span,
        p.launch_id,
        p.event_id,
        p.sequence,
        coalesce(p.node, b.low) AS low,
        coalesce(p.node, b.high) AS high,
        bool_and(
            CASE
                WHEN p.is_alone
                    THEN
                        p.node > coalesce(p.after_node, -1)
                        AND p.node < coalesce(p.before_node, p.items)
                ELSE b.low IS NOT NULL
            END
        ) OVER (PARTITION BY p.run, p.worker, p.span, p.launch_id, p.sequence) AS is_sound
    FROM _placed AS p
    LEFT JOIN _bounds AS b
        ON
            p.run = b.run AND p.worker = b.worker AND p.span = b.span
            AND p.launch_id = b.launch_id AND p.event_id = b.event_id
            AND p.sequence = b.sequence;
