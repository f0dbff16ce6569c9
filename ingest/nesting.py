"""Which event encloses which, on every thread."""

from __future__ import annotations

import duckdb


def nest(con: duckdb.DuckDBPyConnection, rows: str, into: str, suspects: str = "") -> None:
    """Find the innermost candidate that is open at the start of every row.

    Args:
        con: Connection that holds the rows.
        rows: Relation (row_id, kind, thread, start_ns, end_ns, is_candidate), see
            sql/derive/enclosing.sql.
        into: Table to create: row_id, kind, start_ns, end_ns, depth (the number of candidates open
            there), parent_row_id, parent_kind, parent_end_ns (NULL at the top).
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
            f"CREATE TABLE {into} AS SELECT f.* EXCLUDE (thread, opens, position, parent_position)"
            " FROM found AS f"
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
    later = "coalesce(p.odds[-1].position > coalesce(p.parent_position, 0), FALSE)"
    return f"""
    CREATE TEMP TABLE odd AS
    SELECT f.row_id, f.kind, f.thread, f.start_ns, f.end_ns, f.position
    FROM found AS f SEMI JOIN odd_rows AS o ON f.row_id = o.row_id;
    CREATE TABLE {into} AS
    WITH
    edges AS (
        SELECT o.thread, o.start_ns AS at_ns FROM odd AS o
        UNION
        SELECT o.thread, o.end_ns FROM odd AS o
    ),
    open_odd AS (
        SELECT
            e.thread,
            e.at_ns,
            list(o ORDER BY o.position) FILTER (WHERE o.row_id IS NOT NULL) AS odds
        FROM edges AS e
        LEFT JOIN odd AS o ON e.thread = o.thread AND e.at_ns >= o.start_ns AND e.at_ns < o.end_ns
        GROUP BY e.thread, e.at_ns
    ),
    placed AS (
        SELECT
            f.*,
            CASE
                WHEN a.odds[-1].position < f.position THEN a.odds
                ELSE list_filter(a.odds, lambda o: o.position < f.position)
            END AS odds
        FROM found AS f
        ASOF LEFT JOIN open_odd AS a ON f.thread = a.thread AND f.start_ns >= a.at_ns
    )
    SELECT
        p.row_id, p.kind, p.start_ns, p.end_ns,
        (p.depth + coalesce(len(p.odds), 0))::INTEGER AS depth,
        CASE WHEN {later} THEN p.odds[-1].row_id ELSE p.parent_row_id END AS parent_row_id,
        CASE WHEN {later} THEN p.odds[-1].kind ELSE p.parent_kind END AS parent_kind,
        CASE WHEN {later} THEN p.odds[-1].end_ns ELSE p.parent_end_ns END AS parent_end_ns
    FROM placed AS p;
    DROP TABLE odd
    """


def _count(con: duckdb.DuckDBPyConnection, rows: str) -> int:
    row = con.execute(f"SELECT count(*) {rows}").fetchone()
    assert row is not None
    return int(row[0])
