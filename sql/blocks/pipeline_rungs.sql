-- block: pipeline_rungs
-- since: 0.2
-- summary: Place of each group of operations in the order in which they can start.
-- grain: one row per operation
--
-- The groups that wait for nothing are on rung 0. Taken away, they leave others that wait for nothing, which
-- are on rung 1, and so on. So the rung of a group is the length of the longest path that leads to it. Groups
-- that wait for each other in a circle, and those that wait for such groups, are never taken and have no rung.
--
-- params
--   name    type     unit  default  meaning
--   edges   VARCHAR  -     -        Name of a relation with the rows of pipeline_edges.
--   groups  VARCHAR  -     -        Name of a relation with the rows of pipeline_groups.
-- columns
--   name             type     unit  meaning
--   job              BIGINT   key   Number of the trace.
--   node_id          BIGINT   key   The operation.
--   group_id         BIGINT   -     Its group.
--   is_synchronized  BOOLEAN  -     Whether it waits for all data-parallel ranks.
--   rung             INTEGER  -     Rung of its group, from 0; NULL if it is never taken.
CREATE MACRO pipeline_rungs(edges VARCHAR, groups VARCHAR) AS TABLE
    WITH RECURSIVE
    _edges AS MATERIALIZED (
        SELECT DISTINCT a.group_id, b.group_id AS next_id
        FROM query_table(edges) AS e
        INNER JOIN query_table(groups) AS a ON e.node_id = a.node_id
        INNER JOIN query_table(groups) AS b ON e.next_id = b.node_id
    ),

    _left AS (
        SELECT
            g.group_id,
            0 AS rung,
            count(e.group_id) AS waits_for
        FROM (SELECT DISTINCT a.group_id FROM query_table(groups) AS a) AS g
        LEFT JOIN _edges AS e ON g.group_id = e.next_id
        GROUP BY g.group_id
        UNION ALL
        (
            WITH
            _taken AS (
                SELECT e.next_id, count(*) AS edges
                FROM _left AS a
                INNER JOIN _edges AS e ON a.group_id = e.group_id
                WHERE a.waits_for = 0
                GROUP BY e.next_id
            )

            SELECT b.group_id, b.rung + 1, b.waits_for - coalesce(t.edges, 0)
            FROM _left AS b
            LEFT JOIN _taken AS t ON b.group_id = t.next_id
            WHERE b.waits_for > 0 AND EXISTS (FROM _left AS a WHERE a.waits_for = 0)
        )
    )

    SELECT
        g.job,
        g.node_id,
        g.group_id,
        g.is_synchronized,
        a.rung
    FROM query_table(groups) AS g
    LEFT JOIN _left AS a ON g.group_id = a.group_id AND a.waits_for = 0;
