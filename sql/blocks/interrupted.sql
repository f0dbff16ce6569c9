-- block: interrupted
-- since: 0.1
-- summary: Host events in which another one starts that lasts longer, and when the first such one does.
-- grain: one row per such event
--
-- From there on no instant is the interrupted event's own: until it ends, what started later is open.
-- There are few, if any: nearly all events of a thread nest.
--
-- params
--   name  type     unit  default  meaning
--   rel   VARCHAR  -     -        Name of a relation with lane (a number for the thread), id, parent_id (as in host_events), start_ns and end_ns: all events of the threads.
-- columns
--   name      type    unit  meaning
--   id        BIGINT  key   The event.
--   lane      BIGINT  -     Its thread.
--   start_ns  BIGINT  ns    Its start.
--   end_ns    BIGINT  ns    Its end.
--   at_ns     BIGINT  ns    Start of the first one that begins in it and lasts longer.
CREATE MACRO interrupted(rel VARCHAR) AS TABLE
    WITH RECURSIVE
    -- What lasts longer than the event in which it starts is beside it, and next to it or to what
    -- contains it. Through a list, so that the planner expects few.
    _siblings AS (
        SELECT
            list({
                'id': n.id, 'lane': n.lane, 'start_ns': n.start_ns, 'end_ns': n.end_ns,
                'at_ns': n.next_ns
            }) AS rows
        FROM (
            SELECT
                s.id,
                s.lane,
                s.start_ns,
                s.end_ns,
                lead(s.start_ns) OVER (
                    PARTITION BY s.lane, s.parent_id
                    ORDER BY s.start_ns ASC, s.end_ns DESC, s.id ASC
                ) AS next_ns
            FROM query_table(rel) AS s
        ) AS n
        WHERE n.next_ns < n.end_ns
    ),

    _open AS (
        SELECT l.row.id, l.row.lane, l.row.start_ns, l.row.end_ns, l.row.at_ns
        FROM (
            SELECT unnest(s.rows) AS row
            FROM _siblings AS s
        ) AS l
        UNION ALL
        SELECT i.id, o.lane, i.start_ns, i.end_ns, o.at_ns
        FROM _open AS o
        INNER JOIN query_table(rel) AS i
            ON
                o.id = i.parent_id
                AND o.lane = i.lane
                AND o.at_ns > i.start_ns
                AND o.at_ns < i.end_ns
    )

    SELECT
        o.id,
        o.lane,
        o.start_ns,
        o.end_ns,
        min(o.at_ns) AS at_ns
    FROM _open AS o
    GROUP BY o.id, o.lane, o.start_ns, o.end_ns;
