-- block: cut_events
-- since: 0.1
-- summary: Events of threads, each cut where another event starts inside it that ends after it.
-- grain: one row per event
--
-- After the cut, two events are nested or do not overlap, and the innermost event at an instant is the open
-- event that started last. Only the given events cut each other. Other events that start inside and
-- end later, such as a Python frame that is never closed, do not.
--
-- params
--   name    type     unit  default  meaning
--   events  VARCHAR  -     -        Name of a relation with lane, id, start_ns, end_ns and overlap_start_ns (as in host_events).
-- columns
--   name      type    unit  meaning
--   lane      BIGINT  key   As given.
--   id        BIGINT  key   As given.
--   start_ns  BIGINT  ns    As given.
--   end_ns    BIGINT  ns    As given.
--   until_ns  BIGINT  ns    Start of the first given event that starts inside it and ends after it, or else its end.
CREATE MACRO cut_events(events VARCHAR) AS TABLE
    SELECT
        e.lane,
        e.id,
        e.start_ns,
        e.end_ns,
        coalesce(c.at_ns, e.end_ns) AS until_ns
    FROM query_table(events) AS e
    LEFT JOIN (
        SELECT
            i.id,
            min(o.start_ns) AS at_ns
        FROM query_table(events) AS i
        INNER JOIN query_table(events) AS o
            ON
                i.lane = o.lane
                AND i.overlap_start_ns <= o.start_ns
                AND i.end_ns > o.start_ns
                AND i.end_ns < o.end_ns
        -- Few are: without this condition the join would pair all events of a thread.
        WHERE i.overlap_start_ns IS NOT NULL
        GROUP BY i.id
    ) AS c ON e.id = c.id;
