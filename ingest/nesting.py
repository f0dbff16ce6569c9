"""Which event encloses which, on every thread."""

from __future__ import annotations

import duckdb


def nest(con: duckdb.DuckDBPyConnection, rows: str, into: str, suspects: str = "") -> None:
    """Find the innermost candidate that is open at the start of every row.

    Args:
        con: Connection that holds the rows.
        rows: Relation (row_id, thread, start_ns, end_ns, is_candidate), see sql/derive/enclosing.sql.
        into: Table to create: row_id, parent_row_id (NULL at the top), depth.
        suspects: Query for the row_ids of candidates that may overlap others only in part. Naming
            them saves a search, and costs one where they nest.
    """
    con.execute(
        f"CREATE OR REPLACE TEMP TABLE odd_rows AS {suspects or 'SELECT 0::BIGINT AS row_id LIMIT 0'}"
    )
    _enclose(con, rows)
    # Candidates that overlap others in part are taken out until the others nest, and put back as
    # possible parents: there are few of them.
    while _count(con, "FROM found AS f WHERE f.opens AND f.end_ns > f.parent_end_ns"):
        con.execute("""
            INSERT INTO odd_rows
            SELECT f.row_id
            FROM found AS f
            WHERE
                f.opens AND f.end_ns > f.parent_end_ns
                AND (
                    f.parent_end_ns > f.start_ns
                    OR NOT EXISTS (
                        FROM found AS g
                        WHERE g.opens AND g.end_ns > g.parent_end_ns AND g.parent_end_ns > g.start_ns
                    )
                )
        """)
        _enclose(con, rows)
    if not _count(con, "FROM odd_rows"):
        con.execute(
            f"CREATE TABLE {into} AS SELECT f.row_id, f.parent_row_id, f.depth FROM found AS f"
        )
    else:
        con.execute(_with_odd_rows(into))
    con.execute("DROP TABLE found; DROP TABLE odd_rows")


def _enclose(con: duckdb.DuckDBPyConnection, rows: str) -> None:
    con.execute("DROP TABLE IF EXISTS found")
    if _count(con, "FROM odd_rows"):
        con.execute(f"""
            CREATE OR REPLACE TEMP VIEW nesting_rows AS
            SELECT r.* REPLACE (r.is_candidate AND o.row_id IS NULL AS is_candidate)
            FROM {rows} AS r LEFT JOIN odd_rows AS o ON r.row_id = o.row_id
        """)
        rows = "nesting_rows"
    con.execute(f"CREATE TEMP TABLE found AS FROM enclosing('{rows}')")


def _with_odd_rows(into: str) -> str:
    # The odd rows that are open change only where one of them starts or ends. A row takes the last
    # of them before it, where that one comes after the parent it has.
    return f"""
    CREATE TEMP TABLE odd AS SELECT f.* FROM found AS f SEMI JOIN odd_rows AS o ON f.row_id = o.row_id;
    CREATE TABLE {into} AS
    WITH RECURSIVE
    edges AS (
        SELECT o.thread, o.start_ns AS at_ns FROM odd AS o
        UNION
        SELECT o.thread, o.end_ns FROM odd AS o
    ),
    open_odd AS (
        SELECT
            e.thread,
            e.at_ns,
            list({{'position': o.position, 'row_id': o.row_id}} ORDER BY o.position)
                FILTER (WHERE o.row_id IS NOT NULL) AS odds
        FROM edges AS e
        LEFT JOIN odd AS o ON e.thread = o.thread AND e.at_ns >= o.start_ns AND e.at_ns < o.end_ns
        GROUP BY e.thread, e.at_ns
    ),
    placed AS (
        SELECT
            f.row_id, f.parent_row_id, f.parent_position, f.depth,
            CASE
                WHEN a.odds[-1].position < f.position THEN a.odds[-1]
                ELSE list_filter(a.odds, lambda o: o.position < f.position)[-1]
            END AS last_odd
        FROM found AS f
        ASOF LEFT JOIN open_odd AS a ON f.thread = a.thread AND f.start_ns >= a.at_ns
    ),
    linked AS (
        SELECT
            p.row_id,
            CASE
                WHEN p.last_odd.position > coalesce(p.parent_position, 0) THEN p.last_odd.row_id
                ELSE p.parent_row_id
            END AS parent_row_id,
            p.depth
        FROM placed AS p
    ),
    -- The count of open candidates leaves the odd ones out, so below them it is made anew.
    below AS (
        SELECT l.row_id, l.depth FROM linked AS l SEMI JOIN odd AS o ON l.row_id = o.row_id
        UNION
        SELECT l.row_id, b.depth + 1
        FROM below AS b INNER JOIN linked AS l ON l.parent_row_id = b.row_id
    ),
    deepest AS (SELECT b.row_id, max(b.depth) AS depth FROM below AS b GROUP BY b.row_id)
    SELECT l.row_id, l.parent_row_id, coalesce(d.depth, l.depth) AS depth
    FROM linked AS l LEFT JOIN deepest AS d ON l.row_id = d.row_id;
    DROP TABLE odd
    """


def _count(con: duckdb.DuckDBPyConnection, rows: str) -> int:
    row = con.execute(f"SELECT count(*) {rows}").fetchone()
    assert row is not None
    return int(row[0])
