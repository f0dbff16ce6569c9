-- block: range_launches
-- since: 0.1
-- summary: Operators and annotations with the calls inside them that launched device work.
-- grain: one row per operator or annotation with such a call
-- uses: first_id, is_wanted, launch_order, trace_names
--
-- A call is inside a range if it is on the same thread, starts no earlier than the range and ends no later. So
-- of two ranges that overlap in part, both have a call in the part that they share, and a call that ends
-- after a range is not in it. The calls of a range follow one another in the order of its thread.
--
-- No range is joined with the calls inside it: two ASOF joins find the first and the last of them. Both sort the
-- ranges. So the first one leaves out the ranges without a call, and what is sorted has few columns.
--
-- params
--   run, worker, span
-- columns
--   name         type    unit  meaning
--   id           BIGINT  key   The operator or annotation, numbered as in trace_names.
--   parent_id    BIGINT  key   Nearest operator or annotation around it, numbered in the same way.
--   first_place  BIGINT  -     First call inside it, numbered as in launch_order.
--   last_place   BIGINT  -     Last call inside it.
CREATE MACRO range_launches(
    run VARCHAR := NULL, worker VARCHAR := NULL, span VARCHAR := NULL
) AS TABLE
    WITH
    _calls AS MATERIALIZED (
        SELECT c.place, c.trace, c.pid, c.tid, c.start_ns, c.end_ns
        FROM launch_order(run, worker, span) AS c
    ),

    _threads AS MATERIALIZED (
        SELECT
            c.trace,
            c.pid,
            c.tid,
            row_number() OVER (ORDER BY c.trace, c.pid, c.tid)::INTEGER AS lane
        FROM _calls AS c
        GROUP BY c.trace, c.pid, c.tid
    ),

    _in_lanes AS MATERIALIZED (
        SELECT c.place, t.lane, c.start_ns, c.end_ns
        FROM _calls AS c
        INNER JOIN _threads AS t
            ON
                c.trace = t.trace
                AND c.pid IS NOT DISTINCT FROM t.pid AND c.tid IS NOT DISTINCT FROM t.tid
    ),

    -- Also the first end of the calls that start then or later.
    _starts AS (
        SELECT
            s.lane,
            s.start_ns,
            s.place,
            min(s.end_ns) OVER (
                PARTITION BY s.lane ORDER BY s.start_ns DESC ROWS UNBOUNDED PRECEDING
            ) AS first_end_ns
        FROM (
            SELECT c.lane, c.start_ns, min(c.place) AS place, min(c.end_ns) AS end_ns
            FROM _in_lanes AS c
            GROUP BY c.lane, c.start_ns
        ) AS s
    ),

    _ends AS (
        SELECT c.lane, c.end_ns, max(c.place) AS place
        FROM _in_lanes AS c
        GROUP BY c.lane, c.end_ns
    ),

    _events AS (
        SELECT
            first_id(t.names, h.run, h.worker, h.span) AS first_id,
            h.event_id,
            h.parent_op_id,
            h.pid,
            h.tid,
            h.start_ns,
            h.start_ns + h.duration_ns AS end_ns
        FROM host_events AS h
        CROSS JOIN trace_names(run, worker, span) AS t
        WHERE
            h.category IN ('cpu_op', 'user_annotation')
            AND is_wanted(h.run, h.worker, h.span, run, worker, span)
    ),

    -- The second part has no rows. DuckDB cannot know, and expects 2000: for 64 rows or less it would compare each range
    -- with each call.
    _ranges AS (
        SELECT
            e.first_id + e.event_id AS id,
            e.first_id + e.parent_op_id AS parent_id,
            t.lane,
            e.start_ns,
            e.end_ns
        FROM _events AS e
        INNER JOIN _threads AS t
            ON
                e.first_id >> 40 = t.trace
                AND e.pid IS NOT DISTINCT FROM t.pid AND e.tid IS NOT DISTINCT FROM t.tid
        UNION ALL
        SELECT n.i AS id, n.i AS parent_id, n.i::INTEGER AS lane, n.i AS start_ns, n.i AS end_ns
        FROM range(10000) AS n (i)
        WHERE n.i < 0
    ),

    _with_calls AS (
        SELECT r.id, r.parent_id, r.lane, r.end_ns, s.place AS first_place
        FROM _ranges AS r
        ASOF INNER JOIN _starts AS s ON r.lane = s.lane AND r.start_ns <= s.start_ns
        WHERE r.end_ns >= s.first_end_ns
    )

    SELECT r.id, r.parent_id, r.first_place, e.place AS last_place
    FROM _with_calls AS r
    ASOF INNER JOIN _ends AS e ON r.lane = e.lane AND r.end_ns >= e.end_ns
    WHERE r.first_place <= e.place;
