"""`tracewh query`: one statement of the caller's own, which can read the warehouse and nothing else."""

from __future__ import annotations

import contextlib
import sys

from tracewh.cli import diagnostics
from tracewh.cli.output.output import Output

#: DESCRIBE, SHOW, SUMMARIZE, VALUES and FROM are SELECT to DuckDB.
READS = ("SELECT", "EXPLAIN")


def ask(sql: str, warehouse: str, output: Output) -> None:
    """Run one statement and write its answer."""
    import tracewh

    sql = sys.stdin.read() if sql == "-" else sql
    readable_errors = check(sql)
    output.check()

    def tidy() -> None:
        opened.abandon()
        output.abandon()

    with tracewh.open(warehouse) as opened, diagnostics.killable(tidy):
        opened.confine()
        if readable_errors:
            print(opened.sql(sql).fetchall()[-1][-1])
        elif not output.write(opened.sql(sql)):
            diagnostics.note("no rows")


def check(sql: str) -> bool:
    """Refuse what does not read, and say whether it is an EXPLAIN.

    DuckDB's own parser says what a statement is; a list of words would be fooled by a CTE.
    """
    import duckdb

    statements = duckdb.extract_statements(sql)
    if not statements:
        diagnostics.refuse("there is no statement to run")
    if len(statements) > 1:
        diagnostics.refuse(f"{len(statements)} statements; query takes one at a time")
    kind = statements[0].type.name
    if kind == "MULTI":
        diagnostics.refuse(
            "a PIVOT takes its values from a second query; list them: PIVOT t ON x IN (...)"
        )
    if kind not in READS:
        diagnostics.refuse(
            f"{kind} is refused: query only reads. It takes SELECT, FROM, DESCRIBE, SHOW, SUMMARIZE, "
            "VALUES and EXPLAIN; `tracewh shell` opens a session with all of SQL"
        )
    if kind == "EXPLAIN":
        check(_explained(statements[0].query))
    return kind == "EXPLAIN"


def _explained(sql: str) -> str:
    """The statement that an EXPLAIN is about.

    Between the two are ANALYZE, options and comments: it is the first rest of the text, from one token
    to the end, that DuckDB parses.
    """
    import duckdb

    text = sql.encode()  # tokens are counted in bytes
    for start, _ in duckdb.tokenize(sql)[1:]:
        rest = text[start:].decode()
        with contextlib.suppress(duckdb.Error):
            if duckdb.extract_statements(rest):
                return rest
    return ""
