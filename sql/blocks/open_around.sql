-- block: open_around
-- since: 0.1
-- summary: Innermost of some events that is open where other events start.
-- grain: one row per event that starts inside one of the others
--
-- The events of a thread are ordered by start, longer first, then by id. An event is around another one if
-- it comes before it in this order and has not ended when the other starts.
--
-- params
--   name    type     unit  default  meaning
--   around  VARCHAR  -     -        Name of a relation with lane, id, start_ns, end_ns and until_ns, as in cut_events: the possible outer events.
--   events  VARCHAR  -     -        Name of a relation with lane, id, start_ns and end_ns; may include some of the outer events.
-- columns
--   name       type    unit  meaning
--   id         BIGINT  key   The event.
--   around_id  BIGINT  key   Innermost outer event that is open where it starts, other than itself.
CREATE MACRO open_around(around VARCHAR, events VARCHAR) AS TABLE
    WITH
    -- The order at one time: ends, then events in their order; each is looked up before it starts.
    _bounds AS (
        SELECT o.lane, o.until_ns AS at_ns, 0 AS turn, 0 AS tie, o.id, 0 AS part
        FROM query_table(around) AS o
        WHERE o.until_ns > o.start_ns
        UNION ALL
        SELECT e.lane, e.start_ns, 1, -e.end_ns, e.id, 1
        FROM query_table(events) AS e
        UNION ALL
        SELECT o.lane, o.start_ns, 1, -o.end_ns, o.id, 2
        FROM query_table(around) AS o
        WHERE o.until_ns > o.start_ns
    ),

    -- Sorted before the window, not by it: then the window needs no memory. The level is back at 0 where a lane ends.
    _in_order AS (
        SELECT b.lane, b.at_ns, b.turn, b.tie, b.id, b.part
        FROM _bounds AS b
        ORDER BY b.lane, b.at_ns, b.turn, b.tie, b.id, b.part
    ),

    _levels AS (
        SELECT
            o.lane,
            o.at_ns,
            o.turn,
            o.tie,
            o.id,
            o.part,
            sum(o.part - 1) OVER (ROWS UNBOUNDED PRECEDING) AS level  -- noqa: PRS, CP02
        FROM _in_order AS o
    ),

    -- The event around is the one that started last on the open level.
    _found AS (
        SELECT
            v.id,
            v.part,
            v.level,
            last_value(CASE WHEN v.part = 2 THEN v.id END IGNORE NULLS) OVER (
                PARTITION BY v.lane, v.level ORDER BY v.at_ns, v.turn, v.tie, v.id, v.part
                ROWS UNBOUNDED PRECEDING
            ) AS around_id
        FROM _levels AS v
    )

    SELECT f.id, f.around_id
    FROM _found AS f
    WHERE f.part = 1 AND f.level > 0;
