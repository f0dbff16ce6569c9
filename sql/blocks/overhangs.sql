-- block: overhangs
-- since: 0.1
-- summary: Where host events that last longer than the one in which they start are parted.
-- grain: one row per such event, and per event inside one that has a part in both of its parts
--
-- Nearly all events of a thread nest. Where one does not, what runs in it after the end of its parent
-- is no longer inside the parent: the first step of a profile, for one, starts inside Python frames of
-- the profiler and goes on without them. So a walk down the tree takes such an event in two parts: one
-- up to the end of its parent, and the rest, inside the nearest event that lasts as long. And so it
-- takes what is inside such an event and lasts beyond that end: its rest is inside the other's rest.
--
-- params
--   name  type     unit  default  meaning
--   rel   VARCHAR  -     -        Name of a relation with id, parent_id, start_ns and end_ns columns.
-- columns
--   name      type    unit  meaning
--   id        BIGINT  key   The event.
--   limit_ns  BIGINT  ns    End of its first part, where the rest begins.
--   heir_id   BIGINT  key   What the rest is inside: the nearest event around it that does not end before it, or the rest of the event with the negative of this number; NULL where there is none.
CREATE MACRO overhangs(rel VARCHAR) AS TABLE
    WITH RECURSIVE
    -- Few or none. Through a list, so that the planner expects few: it would take joins with them for
    -- joins with as many rows as the relation has, and hash that.
    _longer AS (
        SELECT
            list({
                'id': h.id, 'end_ns': h.end_ns, 'limit_ns': p.end_ns, 'heir_id': p.parent_id
            }) AS rows
        FROM query_table(rel) AS h
        INNER JOIN query_table(rel) AS p ON h.parent_id = p.id
        WHERE h.end_ns > p.end_ns
    ),

    _around AS (
        SELECT
            l.row.id,
            l.row.end_ns,
            l.row.limit_ns,
            l.row.heir_id
        FROM (
            SELECT unnest(r.rows) AS row
            FROM _longer AS r
        ) AS l
        UNION ALL
        SELECT
            a.id,
            a.end_ns,
            a.limit_ns,
            p.parent_id AS heir_id
        FROM _around AS a
        INNER JOIN query_table(rel) AS p ON a.heir_id = p.id
        WHERE a.end_ns > p.end_ns
    ),

    _parted AS (
        SELECT
            a.id,
            a.limit_ns,
            a.heir_id
        FROM _around AS a
        LEFT JOIN query_table(rel) AS p ON a.heir_id = p.id
        WHERE a.heir_id IS NULL OR a.end_ns <= p.end_ns
        UNION ALL
        SELECT
            i.id,
            i.limit_ns,
            i.heir_id
        FROM (
            SELECT
                h.id,
                o.limit_ns,
                -o.id AS heir_id
            FROM _parted AS o
            INNER JOIN query_table(rel) AS h
                ON o.id = h.parent_id AND o.limit_ns > h.start_ns AND o.limit_ns < h.end_ns
        ) AS i
        LEFT JOIN _around AS a ON i.id = a.id
        WHERE a.id IS NULL
    )

    SELECT
        o.row.id,
        o.row.limit_ns,
        o.row.heir_id
    FROM (
        SELECT unnest(r.rows) AS row
        FROM (
            SELECT list({ 'id': p.id, 'limit_ns': p.limit_ns, 'heir_id': p.heir_id }) AS rows
            FROM _parted AS p
        ) AS r
    ) AS o;
