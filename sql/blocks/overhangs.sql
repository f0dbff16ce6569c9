-- block: overhangs
-- since: 0.1
-- summary: Where host events that last longer than the one in which they start are parted.
-- grain: one row per part but the first of such an event, and of an event inside one that is cut there too
--
-- Nearly all events of a thread nest. Where one does not, what runs in it after the end of its parent
-- is no longer inside the parent: a region of record_function, for one, starts inside Python frames of
-- the profiler and goes on without them. So a walk down the tree takes such an event in parts: one up
-- to the end of its parent, then one up to the end of the next event around that, and so on until what
-- is around lasts as long. And so it takes what is inside such an event on both sides of a cut.
--
-- params
--   name  type     unit  default  meaning
--   rel   VARCHAR  -     -        Name of a relation with id, parent_id, start_ns and end_ns columns.
-- columns
--   name       type    unit  meaning
--   id         BIGINT  key   The event.
--   part_id    BIGINT  key   A number for the part, below 0; the first part has that of the event.
--   start_ns   BIGINT  ns    Where the part begins; the first one of all ends the first part.
--   end_ns     BIGINT  ns    Where it ends.
--   around_id  BIGINT  key   The event, or its part, that the part is inside; NULL where there is none.
CREATE MACRO overhangs(rel VARCHAR) AS TABLE
    WITH RECURSIVE
    -- Few or none. Through a list, so that the planner expects few: it would take joins with them for
    -- joins with as many rows as the relation has, and hash that.
    _longer AS (
        SELECT
            list({
                'id': h.id,
                'start_ns': h.start_ns,
                'end_ns': h.end_ns,
                'outer_id': p.id,
                'outer_end_ns': p.end_ns,
                'next_id': p.parent_id
            }) AS rows
        FROM query_table(rel) AS h
        INNER JOIN query_table(rel) AS p ON h.parent_id = p.id
        WHERE h.end_ns > p.end_ns
    ),

    -- What is around them, up to the first that lasts as long.
    _around AS (
        SELECT
            l.row.id,
            l.row.start_ns,
            l.row.end_ns,
            l.row.outer_id,
            l.row.outer_end_ns,
            l.row.next_id,
            1 AS level
        FROM (
            SELECT unnest(r.rows) AS row
            FROM _longer AS r
        ) AS l
        UNION ALL
        SELECT
            a.id,
            a.start_ns,
            a.end_ns,
            p.id AS outer_id,
            p.end_ns AS outer_end_ns,
            p.parent_id AS next_id,
            a.level + 1
        FROM _around AS a
        INNER JOIN query_table(rel) AS p ON a.next_id = p.id
        WHERE a.end_ns > a.outer_end_ns
    ),

    -- A cut of an event cuts what it is the nearest to contain.
    _cuts AS (
        SELECT
            a.id,
            a.end_ns,
            NULL::BIGINT AS parent_id,
            a.outer_end_ns AS at_ns
        FROM _around AS a
        WHERE a.end_ns > a.outer_end_ns AND a.start_ns < a.outer_end_ns
        UNION
        SELECT
            i.id,
            i.end_ns,
            i.parent_id,
            i.at_ns
        FROM (
            -- Not ANTI JOIN, and a condition more that always holds: else the planner would ask the
            -- whole relation.
            SELECT
                f.id,
                f.end_ns,
                f.parent_id,
                f.at_ns
            FROM (
                SELECT
                    h.id,
                    h.end_ns,
                    h.parent_id,
                    c.id AS cut_id,
                    c.at_ns
                FROM _cuts AS c
                INNER JOIN query_table(rel) AS h
                    ON c.id = h.parent_id AND c.at_ns > h.start_ns AND c.at_ns < h.end_ns
            ) AS f
            LEFT JOIN _around AS a ON f.id = a.id AND f.cut_id <> a.id
            WHERE a.id IS NULL
            UNION ALL
            SELECT
                a.id,
                a.end_ns,
                NULL AS parent_id,
                c.at_ns
            FROM _cuts AS c
            INNER JOIN _around AS a
                ON
                    c.id = a.outer_id AND a.outer_end_ns >= a.end_ns
                    AND c.at_ns > a.start_ns AND c.at_ns < a.end_ns
        ) AS i
    ),

    _parts AS MATERIALIZED (
        SELECT
            c.id,
            -row_number() OVER () AS part_id,
            c.parent_id,
            c.at_ns AS start_ns,
            coalesce(lead(c.at_ns) OVER (PARTITION BY c.id ORDER BY c.at_ns), c.end_ns) AS end_ns
        FROM _cuts AS c
    ),

    _outer AS (
        SELECT
            p.id,
            p.part_id,
            p.start_ns,
            p.end_ns,
            coalesce(p.parent_id, arg_min(a.outer_id, a.level)) AS outer_id
        FROM _parts AS p
        LEFT JOIN _around AS a ON p.id = a.id AND p.start_ns < a.outer_end_ns
        GROUP BY p.id, p.part_id, p.start_ns, p.end_ns, p.parent_id
    )

    SELECT
        o.row.id,
        o.row.part_id,
        o.row.start_ns,
        o.row.end_ns,
        o.row.around_id
    FROM (
        SELECT unnest(r.rows) AS row
        FROM (
            SELECT
                list({
                    'id': u.id,
                    'part_id': u.part_id,
                    'start_ns': u.start_ns,
                    'end_ns': u.end_ns,
                    'around_id': coalesce(p.part_id, u.outer_id)
                }) AS rows
            FROM _outer AS u
            LEFT JOIN _parts AS p
                ON u.outer_id = p.id AND u.start_ns >= p.start_ns AND u.start_ns < p.end_ns
        ) AS r
    ) AS o;
