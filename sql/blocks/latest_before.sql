-- block: latest_before
-- since: 0.2
-- summary: For each row of a relation the latest row of another one, at the same time or before.
-- grain: one row per row of the relation that has one
--
-- Of rows of the same time, the one with the highest id counts. One sort puts the rows of both in order. DuckDB
-- compares all pairs of rows for an ASOF JOIN where it expects few rows, and after filters it expects too few.
--
-- params
--   name    type     unit  default  meaning
--   rows    VARCHAR  -     -        Name of a relation with lane, at_ns and id.
--   wanted  VARCHAR  -     -        Name of a relation with lane, at_ns and id.
-- columns
--   name         type    unit  meaning
--   id           BIGINT  key   The row of the relation.
--   lane         BIGINT  key   Lane of both.
--   latest_id    BIGINT  -     The latest row of the lane.
--   latest_ns    BIGINT  ns    Time of that row.
CREATE MACRO latest_before(rows VARCHAR, wanted VARCHAR) AS TABLE
    WITH
    -- Sorted before the window, not by it: then the window needs no memory.
    _in_order AS (
        SELECT r.lane, r.at_ns, r.id, r.wanted_id
        FROM (
            SELECT o.lane, o.at_ns, o.id, NULL AS wanted_id
            FROM query_table(rows) AS o
            UNION ALL
            SELECT a.lane, a.at_ns, NULL, a.id
            FROM query_table(wanted) AS a
        ) AS r
        ORDER BY r.lane ASC, r.at_ns ASC, r.wanted_id ASC NULLS FIRST, r.id ASC
    ),

    _found AS (
        SELECT
            o.lane,
            o.wanted_id,
            last_value(
                CASE
                    WHEN o.wanted_id IS NULL
                        THEN { 'lane': o.lane, 'id': o.id, 'at_ns': o.at_ns }
                END IGNORE NULLS
            ) OVER (ROWS UNBOUNDED PRECEDING) AS latest  -- noqa: PRS, CP02
        FROM _in_order AS o
    )

    SELECT f.wanted_id AS id, f.lane, f.latest.id AS latest_id, f.latest.at_ns AS latest_ns
    FROM _found AS f
    WHERE f.wanted_id IS NOT NULL AND f.latest.lane = f.lane;
