"""Which event encloses which, on every thread."""

from __future__ import annotations

import duckdb


def nest(con: duckdb.DuckDBPyConnection, rows: str, into: str) -> None:
    """Find the innermost candidate that is open at the start of every row.

    Args:
        con: Connection that holds the rows.
        rows: Relation (row_id, thread, start_ns, end_ns, is_candidate), see sql/derive/enclosing.sql.
        into: Temporary table to create: row_id, parent_row_id (NULL at the top), depth.
    """
    con.execute(f"CREATE TEMP TABLE {into} AS FROM enclosing('{rows}')")
    if not _overlaps(con, into):
        return
    # Candidates that overlap others only in part, in the threads that have any. They are taken out
    # until the others nest, and put back as possible parents one by one: there are few of them.
    con.execute(f"""
        CREATE TEMP TABLE odd_threads AS
        SELECT DISTINCT n.thread FROM {into} AS n WHERE n.opens AND n.end_ns > n.parent_end_ns;
        CREATE TEMP TABLE odd_rows (row_id BIGINT);
        CREATE TEMP TABLE found AS
        SELECT n.* FROM {into} AS n SEMI JOIN odd_threads AS o ON n.thread = o.thread;
        DELETE FROM {into} AS n WHERE n.thread IN (SELECT o.thread FROM odd_threads AS o);
    """)
    while _overlaps(con, "found"):
        con.execute(f"""
            INSERT INTO odd_rows
            SELECT f.row_id FROM found AS f
            WHERE
                f.opens AND f.end_ns > f.parent_end_ns
                AND (
                    f.parent_end_ns > f.start_ns
                    OR NOT EXISTS (
                        FROM found AS g
                        WHERE g.opens AND g.end_ns > g.parent_end_ns AND g.parent_end_ns > g.start_ns
                    )
                );
            CREATE OR REPLACE TEMP TABLE nesting_rows AS
            SELECT
                r.row_id, r.thread, r.start_ns, r.end_ns,
                r.is_candidate AND o.row_id IS NULL AS is_candidate
            FROM {rows} AS r
            SEMI JOIN odd_threads AS t ON r.thread = t.thread
            LEFT JOIN odd_rows AS o ON r.row_id = o.row_id;
            CREATE OR REPLACE TEMP TABLE found AS FROM enclosing('nesting_rows');
        """)
    con.execute(f"""
        INSERT INTO {into}
        WITH RECURSIVE
        odd AS (SELECT f.* FROM found AS f SEMI JOIN odd_rows AS o ON f.row_id = o.row_id),
        inside AS (
            SELECT f.row_id, arg_max(o.row_id, o.position) AS row_id_odd, max(o.position) AS position
            FROM odd AS o
            INNER JOIN found AS f
                ON o.thread = f.thread AND o.position < f.position AND f.start_ns < o.end_ns
            GROUP BY f.row_id
        ),
        linked AS (
            SELECT
                f.* REPLACE (
                    CASE
                        WHEN i.position > coalesce(f.parent_position, 0) THEN i.row_id_odd
                        ELSE f.parent_row_id
                    END AS parent_row_id
                )
            FROM found AS f
            LEFT JOIN inside AS i ON f.row_id = i.row_id
        ),
        -- The count of open candidates leaves the odd ones out, so below them it is made anew.
        below AS (
            SELECT l.row_id, l.depth FROM linked AS l SEMI JOIN odd_rows AS o ON l.row_id = o.row_id
            UNION
            SELECT l.row_id, b.depth + 1
            FROM below AS b INNER JOIN linked AS l ON l.parent_row_id = b.row_id
        ),
        deepest AS (SELECT b.row_id, max(b.depth) AS depth FROM below AS b GROUP BY b.row_id)
        SELECT l.* REPLACE (coalesce(d.depth, l.depth) AS depth)
        FROM linked AS l LEFT JOIN deepest AS d ON l.row_id = d.row_id;
        DROP TABLE odd_threads; DROP TABLE odd_rows; DROP TABLE found; DROP TABLE nesting_rows;
    """)


def _overlaps(con: duckdb.DuckDBPyConnection, found: str) -> bool:
    """Whether a candidate ends after its parent."""
    row = con.execute(
        f"SELECT count(*) FROM {found} AS f WHERE f.opens AND f.end_ns > f.parent_end_ns"
    ).fetchone()
    assert row is not None
    return bool(row[0])
