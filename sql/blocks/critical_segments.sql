-- block: critical_segments
-- since: 0.1
-- summary: Critical path of each step, as critical_path defines it, in no particular order.
-- grain: one row per piece of the chain of a step; the pieces of a step follow each other without gaps
-- uses: critical_pieces, is_wanted, path_bound
--
-- params
--   run, worker, span
--   name  type    unit  default  meaning
--   step  BIGINT  -     NULL     Number of a step; NULL for all.
-- columns
--   run, worker, span
--   step         BIGINT   key  Number of the step; NULL where the trace has no steps.
--   chain        BIGINT   -    Number of the step among all steps, in the order of run, worker, span and step.
--   event_id     BIGINT   key  The event; for a delay, the work that was late; NULL where none was recorded.
--   name         VARCHAR  -    Name of the event.
--   start_ns     BIGINT   ns   Start of the piece, nanoseconds since the epoch.
--   duration_ns  BIGINT   ns   Length of the piece.
--   bound        VARCHAR  -    As in critical_path.
CREATE MACRO critical_segments(
    run VARCHAR := NULL, worker VARCHAR := NULL, span VARCHAR := NULL, step BIGINT := NULL
) AS TABLE
    WITH
    _windows AS MATERIALIZED (
        SELECT
            s.run,
            s.worker,
            s.span,
            s.step,
            s.event_id,
            s.end_ns,
            s.extended_start_ns AS from_ns,
            s.extended_end_ns AS to_ns,
            dense_rank() OVER (ORDER BY s.run, s.worker, s.span)::INTEGER AS trace,
            row_number() OVER (
                ORDER BY s.run, s.worker, s.span, s.step, s.extended_start_ns, s.event_id
            ) AS chain
        FROM steps AS s
        WHERE
            s.extended_end_ns > s.extended_start_ns
            AND is_wanted(s.run, s.worker, s.span, run, worker, span)
            AND (step IS NULL OR s.step = step)
    ),

    -- Sorted before the windows, not by them: then the windows need no memory.
    _in_order AS (
        SELECT b.chain, b.start_ns, b.end_ns, b.event_id, b.bound, b.is_piece
        FROM (
            SELECT p.chain, p.start_ns, p.end_ns, p.event_id, p.bound, TRUE AS is_piece
            FROM critical_pieces('_windows') AS p
            UNION ALL
            SELECT w.chain, w.from_ns AS start_ns, w.from_ns AS end_ns, NULL, NULL, FALSE
            FROM _windows AS w
            UNION ALL
            SELECT w.chain, w.to_ns AS start_ns, w.to_ns AS end_ns, NULL, NULL, FALSE
            FROM _windows AS w
        ) AS b
        ORDER BY b.chain, b.start_ns, b.is_piece
    ),

    _reached AS (
        SELECT
            o.*,
            lead(o.chain) OVER () = o.chain AND lead(o.start_ns) OVER () > o.end_ns
                AS is_before_gap
        FROM _in_order AS o
    ),

    -- Time that the chain leaves out is 'other', too, and follows the piece before it.
    _parts AS (
        SELECT
            r.chain,
            CASE WHEN r.is_gap THEN NULL ELSE r.event_id END AS event_id,
            CASE WHEN r.is_gap THEN r.end_ns ELSE r.start_ns END AS start_ns,
            CASE WHEN r.is_gap THEN path_bound('other') ELSE r.bound END AS bound
        FROM (
            SELECT
                u.*,
                unnest(
                    CASE
                        WHEN u.is_piece AND u.is_before_gap THEN [FALSE, TRUE]
                        WHEN u.is_before_gap THEN [TRUE]
                        WHEN u.is_piece THEN [FALSE]
                    END
                ) AS is_gap
            FROM _reached AS u
        ) AS r
    ),

    _marked AS (
        SELECT
            p.chain,
            p.event_id,
            p.start_ns,
            p.bound,
            lag(p.chain) OVER () AS chain_before,
            lag(p.event_id) OVER () AS event_before,
            lag(p.bound) OVER () AS bound_before
        FROM _parts AS p
    ),

    -- Adjacent pieces of one event are merged. A chain has no gaps now, so a segment lasts until the next one.
    _begun AS (
        SELECT m.chain, m.event_id, m.bound, m.start_ns
        FROM _marked AS m
        WHERE
            m.chain_before IS DISTINCT FROM m.chain
            OR m.event_before IS DISTINCT FROM m.event_id
            OR m.bound_before IS DISTINCT FROM m.bound
    ),

    _followed AS (
        SELECT
            b.chain,
            b.event_id,
            b.bound,
            b.start_ns,
            lead(b.chain) OVER () AS next_chain,
            lead(b.start_ns) OVER () AS next_ns
        FROM _begun AS b
    ),

    _segments AS (
        SELECT
            w.trace,
            f.chain,
            f.event_id,
            f.bound,
            f.start_ns,
            CASE WHEN f.next_chain = f.chain THEN f.next_ns ELSE w.to_ns END - f.start_ns
                AS duration_ns
        FROM _followed AS f
        INNER JOIN _windows AS w ON f.chain = w.chain
    ),

    _trace_numbers AS (
        SELECT DISTINCT w.run, w.worker, w.span, w.trace
        FROM _windows AS w
    ),

    _events AS (
        SELECT
            t.trace,
            h.event_id,
            h.name,
            CASE h.category WHEN 'user_annotation' THEN 'data_loading' ELSE 'cpu' END AS bound
        FROM host_events AS h
        INNER JOIN
            _trace_numbers AS t
            ON h.run = t.run AND h.worker = t.worker AND h.span = t.span
        UNION ALL
        SELECT
            t.trace,
            d.event_id,
            d.name,
            CASE d.kind
                WHEN 'compute' THEN 'device_compute' WHEN
                    'communication'
                    THEN 'device_communication'
                ELSE 'device_memory'
            END
        FROM device_events AS d
        INNER JOIN
            _trace_numbers AS t
            ON d.run = t.run AND d.worker = t.worker AND d.span = t.span
    ),

    -- The planner hashes the segments, which are numbers so far, and not the names of all events.
    _named AS (
        SELECT
            s.chain,
            s.event_id,
            e.name,
            s.start_ns,
            s.duration_ns,
            coalesce(s.bound::VARCHAR, e.bound) AS bound
        FROM _segments AS s
        LEFT JOIN _events AS e ON s.trace = e.trace AND s.event_id = e.event_id
    )

    SELECT
        w.run,
        w.worker,
        w.span,
        w.step,
        n.chain,
        n.event_id,
        n.name,
        n.start_ns,
        n.duration_ns,
        n.bound
    FROM _named AS n
    INNER JOIN _windows AS w ON n.chain = w.chain;
