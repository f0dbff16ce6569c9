-- block: replayed_events
-- since: 0.1
-- summary: Captured call of each device event that a graph launch caused.
-- grain: one row per device event of a launch of a graph
-- uses: replay_items, replay_matches, split_replays
--
-- In the chosen graph (see replay_matches), equal sequences are paired by position. If one is the other one
-- without a part, items are paired from both ends; those that can be either of two are not paired, and
-- neither are those of the missing part. On several streams split_replays gives the possible nodes.
--
-- An event whose node is not known still has a captured call if all its possible nodes have the same
-- operator, input shapes and types. These are then known, and nothing else.
--
-- params
--   run, worker, span
-- columns
--   run, worker, span
--   event_id        BIGINT   key  The event in device_events.
--   launch_id       BIGINT   -    The call that launched the graph.
--   position        BIGINT   -    Position in the launch, from 0.
--   stream          VARCHAR  -    Stream that it ran on.
--   start_ns        BIGINT   ns   Start.
--   duration_ns     BIGINT   ns   Duration.
--   uses_tensor_cores  BOOLEAN  -  As in replay_items.
--   basis           VARCHAR  -    As in replay_matches, or 'same in all candidates'; NULL if nothing is known.
--   capture_run     VARCHAR  -    Run of the captured call.
--   capture_worker  VARCHAR  -    Worker of the captured call.
--   capture_span    VARCHAR  -    Span of the captured call.
--   capture_id      BIGINT   -    The call that begins the capture; NULL if the node is not known.
--   node            BIGINT   -    Position of the node in its graph, from 0; NULL if the node is not known.
--   call_id         BIGINT   -    Captured call with its operator, shapes and types; NULL if they are not known.
--   operator        VARCHAR  -    Nearest operator around the captured call, or nearest annotation if there is no operator.
--   reason          VARCHAR  -    Why the captured call is not known.
CREATE MACRO replayed_events(
    run VARCHAR := NULL, worker VARCHAR := NULL, span VARCHAR := NULL
) AS TABLE
    WITH
    _matches AS MATERIALIZED (FROM replay_matches(run, worker, span)),

    _launches AS (
        SELECT m.run, m.worker, m.span, m.launch_id AS event_id
        FROM _matches AS m
        WHERE m.is_compared
    ),

    _other_launches AS (
        SELECT m.run, m.worker, m.span, m.launch_id AS event_id
        FROM _matches AS m
        WHERE NOT m.is_compared
    ),

    -- Positions of the first and the last node that an event can be.
    _placed AS (
        SELECT
            i.run,
            i.worker,
            i.span,
            i.launch_id,
            i.event_id,
            i.position,
            i.name,
            i.stream,
            i.start_ns,
            i.duration_ns,
            i.uses_tensor_cores,
            i.node_id,
            m.basis,
            m.reason,
            m.alignment,
            m.alike,
            m.rest IS NOT NULL AND NOT m.is_torn AS is_ambiguous,
            m.capture_run,
            m.capture_worker,
            m.capture_span,
            m.capture_id,
            CASE
                WHEN m.alignment = 'equal sequence' THEN i.position
                WHEN m.alignment = 'several streams' THEN s.low
                WHEN
                    i.position < least(m.events, m.nodes) - m.suffix THEN i.position
                WHEN least(i.position, i.position + m.nodes - m.events) >= m.prefix
                    THEN i.position + m.nodes - m.events
                WHEN
                    least(i.position, i.position + m.nodes - m.events)
                    >= least(m.events, m.nodes) - m.suffix
                    THEN least(i.position, i.position + m.nodes - m.events)
            END AS low,
            CASE
                WHEN m.alignment = 'equal sequence' THEN i.position
                WHEN m.alignment = 'several streams' THEN s.high
                WHEN
                    i.position < least(m.events, m.nodes) - m.suffix THEN i.position
                WHEN least(i.position, i.position + m.nodes - m.events) >= m.prefix
                    THEN i.position + m.nodes - m.events
                WHEN
                    least(i.position, i.position + m.nodes - m.events)
                    >= least(m.events, m.nodes) - m.suffix
                    THEN greatest(i.position, i.position + m.nodes - m.events)
            END AS high
        FROM replay_items('_launches') AS i
        INNER JOIN _matches AS m
            ON
                i.run = m.run AND i.worker = m.worker AND i.span = m.span
                AND i.launch_id = m.launch_id
        LEFT JOIN (
            SELECT
                r.run,
                r.worker,
                r.span,
                r.event_id,
                r.low,
                r.high,
                g.run AS capture_run,
                g.worker AS capture_worker,
                g.span AS capture_span,
                g.event_id AS capture_id
            FROM split_replays(run, worker, span) AS r
            INNER JOIN graphs AS g ON r.sequence = g.sequence AND g.role = 'capture'
        ) AS s
            ON
                i.run = s.run AND i.worker = s.worker AND i.span = s.span
                AND i.event_id = s.event_id AND m.capture_run = s.capture_run
                AND m.capture_worker = s.capture_worker AND m.capture_span = s.capture_span
                AND m.capture_id = s.capture_id
    ),

    -- Events that can be several nodes of the chosen graph, and positions in a set of candidates.
    _open AS (
        SELECT
            p.run,
            p.worker,
            p.span,
            p.event_id,
            NULL AS alike,
            NULL AS position,
            n.run AS capture_run,
            n.worker AS capture_worker,
            n.span AS capture_span,
            n.event_id AS call_id,
            n.op_id
        FROM _placed AS p
        INNER JOIN graph_nodes AS n
            ON
                p.capture_run = n.run AND p.capture_worker = n.worker
                AND p.capture_span = n.span AND p.capture_id = n.capture_id
                AND p.name = n.name
        WHERE p.low < p.high AND n.position >= p.low AND n.position <= p.high
        UNION ALL
        SELECT
            NULL,
            NULL,
            NULL,
            NULL,
            c.alike,
            n.position,
            n.run,
            n.worker,
            n.span,
            n.event_id,
            n.op_id
        FROM (
            SELECT m.alike, unnest(m.rest) AS graph
            FROM _matches AS m
            WHERE
                m.alike = { 'run': m.run, 'worker': m.worker, 'span': m.span, 'id': m.launch_id }
                AND m.alike IN (
                    SELECT p.alike FROM _placed AS p WHERE p.is_ambiguous AND p.capture_id IS NULL
                )
        ) AS c
        INNER JOIN graph_nodes AS n
            ON
                c.graph.run = n.run AND c.graph.worker = n.worker
                AND c.graph.span = n.span AND c.graph.id = n.capture_id
    ),

    _shared AS MATERIALIZED (
        SELECT
            o.run,
            o.worker,
            o.span,
            o.event_id,
            o.alike,
            o.position,
            min(
                {
                    'run': o.capture_run,
                    'worker': o.capture_worker,
                    'span': o.capture_span,
                    'id': o.call_id
                }
            ) AS call,
            min(h.name) AS operator
        FROM _open AS o
        INNER JOIN host_events AS h
            ON
                o.capture_run = h.run AND o.capture_worker = h.worker
                AND o.capture_span = h.span AND o.op_id = h.event_id
        WHERE h.category = 'cpu_op'
        GROUP BY o.run, o.worker, o.span, o.event_id, o.alike, o.position
        HAVING
            min(h.name) = max(h.name)
            AND min(coalesce(h.input_dims::VARCHAR, ''))
            = max(coalesce(h.input_dims::VARCHAR, ''))
            AND min(coalesce(array_to_string(h.input_types, ','), ''))
            = max(coalesce(array_to_string(h.input_types, ','), ''))
    ),

    _operators AS (
        SELECT h.run, h.worker, h.span, h.event_id, h.name
        FROM host_events AS h
        INNER JOIN (SELECT DISTINCT n.run, n.worker, n.span, n.op_id FROM graph_nodes AS n) AS w
            ON h.run = w.run AND h.worker = w.worker AND h.span = w.span AND h.event_id = w.op_id
    )

    SELECT
        p.run,
        p.worker,
        p.span,
        p.event_id,
        p.launch_id,
        p.position,
        p.stream,
        p.start_ns,
        p.duration_ns,
        p.uses_tensor_cores,
        CASE
            WHEN n.event_id IS NOT NULL THEN p.basis
            WHEN coalesce(s.call, a.call) IS NOT NULL THEN 'same in all candidates'
        END AS basis,
        coalesce(n.run, s.call.run, a.call.run) AS capture_run,
        coalesce(n.worker, s.call.worker, a.call.worker) AS capture_worker,
        coalesce(n.span, s.call.span, a.call.span) AS capture_span,
        n.capture_id,
        n.position AS node,
        coalesce(n.event_id, s.call.id, a.call.id) AS call_id,
        coalesce(o.name, s.operator, a.operator) AS operator,
        CASE
            WHEN coalesce(n.event_id, s.call.id, a.call.id) IS NOT NULL THEN NULL
            WHEN p.reason IS NOT NULL THEN p.reason
            WHEN p.alignment = 'node id' THEN 'Its name is not that of the node with its node id.'
            WHEN p.low IS NULL THEN 'The captured graph has no such node.'
            ELSE 'It can be several nodes of the captured graph.'
        END AS reason
    FROM _placed AS p
    LEFT JOIN graph_nodes AS n
        ON
            p.capture_run = n.run AND p.capture_worker = n.worker AND p.capture_span = n.span
            AND p.capture_id = n.capture_id AND p.name = n.name
            AND CASE
                WHEN p.alignment = 'node id' THEN p.node_id = n.node_id
                ELSE p.low = p.high AND p.low = n.position
            END
    LEFT JOIN _operators AS o
        ON
            n.run = o.run AND n.worker = o.worker AND n.span = o.span AND n.op_id = o.event_id
    LEFT JOIN _shared AS s
        ON p.run = s.run AND p.worker = s.worker AND p.span = s.span AND p.event_id = s.event_id
    LEFT JOIN _shared AS a
        ON
            p.is_ambiguous AND p.capture_id IS NULL AND p.alike = a.alike
            AND p.position = a.position
    UNION ALL
    SELECT
        i.run,
        i.worker,
        i.span,
        i.event_id,
        i.launch_id,
        i.position,
        i.stream,
        i.start_ns,
        i.duration_ns,
        i.uses_tensor_cores,
        NULL,
        NULL,
        NULL,
        NULL,
        NULL,
        NULL,
        NULL,
        NULL,
        m.reason
    FROM replay_items('_other_launches') AS i
    INNER JOIN _matches AS m
        ON
            i.run = m.run AND i.worker = m.worker AND i.span = m.span
            AND i.launch_id = m.launch_id;
