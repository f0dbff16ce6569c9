-- block: host_slices
-- since: 0.1
-- summary: Innermost event of each thread at each instant, as pieces of time.
-- grain: one row per piece of the time of a thread, without gaps between the pieces
--
-- An event that ends after the event in which it started is innermost until its own end: the innermost
-- event is the open event that started last.
--
-- Where an operator ends and the next event starts at the same time, or the time of the thread ends, there is an idle
-- piece without a duration. It has after_op.
--
-- params
--   name    type     unit  default  meaning
--   cuts    VARCHAR  -     -        Name of a relation with lane and at_ns: times at which a piece always ends, from the first to the last of a thread.
--   events  VARCHAR  -     -        Name of a relation with lane, event_id, start_ns, end_ns, until_ns (as in cut_events) and is_op: the events of the threads.
-- columns
--   name      type     unit  meaning
--   lane      BIGINT   key   Number of the thread.
--   start_ns  BIGINT   ns    Start of the piece.
--   end_ns    BIGINT   ns    End of the piece, later than its start unless it has after_op.
--   event_id  BIGINT   key   Innermost event; NULL while the thread is idle.
--   after_op  BOOLEAN  -     Whether an idle thread was in an operator until the start of the piece.
CREATE MACRO host_slices(cuts VARCHAR, events VARCHAR) AS TABLE
    WITH
    -- The order at one time: cuts, then ends from the inside out, then starts from the outside in.
    _bounds AS (
        SELECT c.lane, c.at_ns, 0 AS turn, 0 AS tie, NULL::BIGINT AS event_id, FALSE AS ends_op
        FROM query_table(cuts) AS c
        UNION ALL
        SELECT e.lane, e.until_ns, 1, -e.start_ns, -e.event_id, e.is_op
        FROM query_table(events) AS e
        UNION ALL
        SELECT e.lane, e.start_ns, 2, -e.end_ns, e.event_id, FALSE
        FROM query_table(events) AS e
    ),

    -- Sorted before the windows, not by them: then the windows need no memory.
    _in_order AS (
        SELECT b.lane, b.at_ns, b.turn, b.tie, b.event_id, b.ends_op
        FROM _bounds AS b
        ORDER BY b.lane, b.at_ns, b.turn, b.tie, b.event_id
    ),

    -- The level is back at 0 where a lane ends.
    _levels AS (
        SELECT
            o.lane,
            o.at_ns,
            o.turn,
            o.tie,
            o.event_id,
            o.ends_op,
            sum(CASE o.turn WHEN 1 THEN -1 WHEN 2 THEN 1 ELSE 0 END)
                OVER (ROWS UNBOUNDED PRECEDING) AS level,  -- noqa: PRS, CP02
            CASE WHEN lead(o.lane) OVER () = o.lane THEN lead(o.at_ns) OVER () END AS next_ns
        FROM _in_order AS o
    ),

    -- After an end, the innermost event is the one that started last on the remaining level.
    _innermost AS (
        SELECT
            v.lane,
            v.at_ns,
            v.next_ns,
            v.level,
            v.ends_op,
            last_value(CASE WHEN v.turn = 2 THEN v.event_id END IGNORE NULLS) OVER (
                PARTITION BY v.lane, v.level ORDER BY v.at_ns, v.turn, v.tie, v.event_id
                ROWS UNBOUNDED PRECEDING
            ) AS event_id
        FROM _levels AS v
    )

    SELECT
        i.lane,
        i.at_ns AS start_ns,
        coalesce(i.next_ns, i.at_ns) AS end_ns,
        i.event_id,
        i.level = 0 AND i.ends_op AS after_op
    FROM _innermost AS i
    WHERE i.next_ns > i.at_ns OR (i.level = 0 AND i.ends_op);
