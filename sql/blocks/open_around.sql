-- block: open_around
-- since: 0.1
-- summary: What is open where events begin: the innermost of some others.
-- grain: one row per event that begins inside one of the others
--
-- Events of a thread are in the order of start, longer first, then of the ids: what is in that order
-- before another one, and has not ended when that begins, is around it.
--
-- params
--   name    type     unit  default  meaning
--   around  VARCHAR  -     -        Name of a relation with lane, id, start_ns, end_ns and until_ns, as cut_events gives: what may be around.
--   events  VARCHAR  -     -        Name of a relation with lane, id, start_ns and end_ns; may hold some of those too.
-- columns
--   name       type    unit  meaning
--   id         BIGINT  key   The event.
--   around_id  BIGINT  key   The innermost that is open where it begins, other than itself.
CREATE MACRO open_around(around VARCHAR, events VARCHAR) AS TABLE
    WITH
    -- In turn at one time: ends, then events in their order, of which each asks before it starts.
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

    _levels AS (
        SELECT
            b.lane,
            b.at_ns,
            b.turn,
            b.tie,
            b.id,
            b.part,
            sum(b.part - 1) OVER (
                PARTITION BY b.lane ORDER BY b.at_ns, b.turn, b.tie, b.id, b.part
                ROWS UNBOUNDED PRECEDING
            ) AS level
        FROM _bounds AS b
    ),

    -- What is around is what began last on the level that is open.
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
