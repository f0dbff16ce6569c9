"""`tracewh query`: run one SQL statement that can read the warehouse and nothing else."""

from __future__ import annotations

import contextlib
import sys

from tracewh.cli import diagnostics
from tracewh.cli.output.output import Output

#: Statement types that only read. To DuckDB, DESCRIBE, SHOW, SUMMARIZE, VALUES and FROM are SELECT.
READ_ONLY = ("SELECT", "EXPLAIN")


def run_query(sql: str, warehouse: str, output: Output) -> None:
    """Run one statement and write its result."""
    import tracewh

    sql = sys.stdin.read() if sql == "-" else sql
    is_explain = check(sql)
    output.check()

    def tidy() -> None:
        opened.abandon()
        output.abandon()

    with tracewh.open(warehouse) as opened, diagnostics.killable(tidy):
        opened.confine()
        if is_explain:
            print(opened.sql(sql).fetchall()[-1][-1])
        elif not output.write(opened.sql(sql)):
            diagnostics.note("no rows")


def check(sql: str) -> bool:
    """Refuse a statement that is not read-only, and return whether it is an EXPLAIN.

    DuckDB's own parser classifies the statement: a comparison of its first word would misread a CTE.
    """
    import duckdb

    statements = duckdb.extract_statements(sql)
    if not statements:
        diagnostics.refuse("the SQL has no statement")
    if len(statements) > 1:
        diagnostics.refuse(f"found {len(statements)} statements; a query is one statement")
    kind = statements[0].type.name
    if kind == "MULTI":
        diagnostics.refuse(
            "a PIVOT without a list of values needs a second query; write PIVOT t ON x IN (...)"
        )
    if kind not in READ_ONLY:
        diagnostics.refuse(
            f"{kind} is not allowed: a query is read-only. Use SELECT, FROM, DESCRIBE, SHOW, SUMMARIZE, "
            "VALUES or EXPLAIN; `tracewh shell` opens a session with all of SQL"
        )
    if kind == "EXPLAIN":
        check(_explained(statements[0].query))
    return kind == "EXPLAIN"


def _explained(sql: str) -> str:
    """Return the statement that an EXPLAIN explains.

    ANALYZE, options and comments may stand before it, so this tries the text from each token to the
    end and returns the first that DuckDB parses.
    """
    import duckdb

    text = sql.encode()  # the positions of tokens are bytes
    for start, _ in duckdb.tokenize(sql)[1:]:
        rest = text[start:].decode()
        with contextlib.suppress(duckdb.Error):
            if duckdb.extract_statements(rest):
                return rest
    return ""
