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
    _sorted AS (
        SELECT
            r.lane,
            r.wanted_id,
            last_value(
                CASE WHEN r.wanted_id IS NULL THEN { 'id': r.id, 'at_ns': r.at_ns } END IGNORE NULLS
            ) OVER (
                PARTITION BY r.lane ORDER BY r.at_ns ASC, r.wanted_id ASC NULLS FIRST, r.id ASC
                ROWS UNBOUNDED PRECEDING
            ) AS latest
        FROM (
            SELECT o.lane, o.at_ns, o.id, NULL AS wanted_id
            FROM query_table(rows) AS o
            UNION ALL
            SELECT a.lane, a.at_ns, NULL, a.id
            FROM query_table(wanted) AS a
        ) AS r
    )

    SELECT s.wanted_id AS id, s.lane, s.latest.id AS latest_id, s.latest.at_ns AS latest_ns
    FROM _sorted AS s
    WHERE s.wanted_id IS NOT NULL AND s.latest IS NOT NULL;
