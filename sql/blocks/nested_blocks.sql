-- block: nested_blocks
-- since: 0.1
-- summary: Parent of each interval, by start and end alone.
-- grain: one row per interval
--
-- The parent of an interval is the last interval before it that is open where it starts. The interval ends
-- with its parent at the latest. An interval that starts where another ends is not inside it.
--
-- params
--   name  type     unit  default  meaning
--   rel   VARCHAR  -     -        Name of a relation with id, start_ns and end_ns; ids are in order of the starts, outer intervals first.
-- columns
--   name       type    unit  meaning
--   id         BIGINT  key   As given.
--   parent_id  BIGINT  -     Parent interval; NULL if there is none.
--   position   BIGINT  -     Position among the children of the parent, from 1.
--   start_ns   BIGINT  ns    Start.
--   end_ns     BIGINT  ns    End, at the latest that of the parent.
CREATE MACRO nested_blocks(rel VARCHAR) AS TABLE
    WITH RECURSIVE
    -- Repeated until none ends after the one in which it starts: mostly once.
    _nested AS (
        SELECT
            0 AS round,
            b.id,
            NULL::BIGINT AS parent_id,
            b.start_ns,
            b.end_ns,
            TRUE AS is_cut
        FROM query_table(rel) AS b
        UNION ALL
        SELECT
            p.round + 1 AS round,
            p.id,
            p.parent_id,
            p.start_ns,
            CASE
                WHEN o.end_ns > p.start_ns THEN least(p.end_ns, o.end_ns) ELSE p.end_ns
            END AS end_ns,
            coalesce(o.end_ns > p.start_ns AND o.end_ns < p.end_ns, FALSE) AS is_cut
        FROM (
            SELECT
                l.round,
                l.id,
                l.start_ns,
                l.end_ns,
                l.is_inside,
                last_value(CASE WHEN NOT l.is_inside THEN l.id END IGNORE NULLS) OVER (
                    PARTITION BY l.level
                    ORDER BY l.id ASC, l.is_inside DESC ROWS UNBOUNDED PRECEDING
                ) AS parent_id
            FROM (
                SELECT
                    d.round,
                    d.id,
                    d.start_ns,
                    d.end_ns,
                    e.is_inside,
                    d.depth - e.is_inside::BIGINT AS level
                FROM (
                    SELECT
                        c.round,
                        c.id,
                        c.start_ns,
                        c.end_ns,
                        c.is_start,
                        sum(CASE WHEN c.is_start THEN 1 ELSE -1 END) OVER (
                            ORDER BY
                                CASE WHEN c.is_start THEN c.start_ns ELSE c.end_ns END ASC,
                                (c.is_start OR c.start_ns = c.end_ns) ASC,
                                c.id ASC,
                                c.is_start DESC
                            ROWS UNBOUNDED PRECEDING
                        ) AS depth
                    FROM (
                        SELECT
                            n.round,
                            n.id,
                            n.start_ns,
                            n.end_ns,
                            e.is_start
                        FROM _nested AS n
                        CROSS JOIN (VALUES (TRUE), (FALSE)) AS e (is_start)
                        WHERE (SELECT bool_or(a.is_cut) FROM _nested AS a)
                    ) AS c
                ) AS d
                CROSS JOIN (VALUES (TRUE), (FALSE)) AS e (is_inside)
                WHERE d.is_start
            ) AS l
        ) AS p
        LEFT JOIN _nested AS o ON p.parent_id = o.id
        WHERE p.is_inside
    )

    SELECT
        n.id,
        n.parent_id,
        row_number() OVER (PARTITION BY n.parent_id ORDER BY n.id) AS position,
        n.start_ns,
        n.end_ns
    FROM _nested AS n
    WHERE n.round = (SELECT max(r.round) FROM _nested AS r);
