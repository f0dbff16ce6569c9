-- block: host_slices
-- since: 0.1
-- summary: What each thread does at each instant: its time, cut where what is innermost changes.
-- grain: one row per piece of the time of a thread, without gaps between the pieces
--
-- Where an event lasts longer than the one in which it starts, its time is its own, also after the end
-- of that one: innermost is what started last and is still open.
--
-- params
--   name    type     unit  default  meaning
--   cuts    VARCHAR  -     -        Name of a relation with lane and at_ns: times that end a piece in any case, from the first to the last of a thread.
--   events  VARCHAR  -     -        Name of a relation with lane, event_id, start_ns, end_ns, until_ns (as cut_events gives) and is_op: what the threads are busy with.
-- columns
--   name      type     unit  meaning
--   lane      BIGINT   key   The thread.
--   start_ns  BIGINT   ns    Start of the piece.
--   end_ns    BIGINT   ns    Its end, later than that.
--   event_id  BIGINT   key   The innermost event; NULL where the thread is busy with none.
--   after_op  BOOLEAN  -     Whether a thread that is busy with none was busy with an operator up to here.
CREATE MACRO host_slices(cuts VARCHAR, events VARCHAR) AS TABLE
    WITH
    -- In turn at one time: cuts, ends from the inside out, starts from the outside in.
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

    _levels AS (
        SELECT
            b.lane,
            b.at_ns,
            b.turn,
            b.tie,
            b.event_id,
            b.ends_op,
            sum(CASE b.turn WHEN 1 THEN -1 WHEN 2 THEN 1 ELSE 0 END) OVER sweep AS level,
            lead(b.at_ns) OVER sweep AS next_ns
        FROM _bounds AS b
        WINDOW sweep AS (
            PARTITION BY b.lane ORDER BY b.at_ns, b.turn, b.tie, b.event_id
            ROWS UNBOUNDED PRECEDING
        )
    ),

    -- Behind an end the innermost is what began last on the level that is left.
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
        i.next_ns AS end_ns,
        i.event_id,
        i.level = 0 AND i.ends_op AS after_op
    FROM _innermost AS i
    WHERE i.next_ns > i.at_ns;
