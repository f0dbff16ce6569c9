"""Which SQL statements only read."""

from __future__ import annotations

import contextlib

import duckdb

from tracewh.views.registry import ViewError

#: DESCRIBE, SHOW, SUMMARIZE, VALUES and FROM are SELECT to DuckDB.
READS = ("SELECT", "EXPLAIN")


class StatementError(ViewError):
    """A text that is not one statement that only reads. The message is meant for a person."""


def check_reads_only(sql: str) -> bool:
    """Refuse what does not read, and say whether it is an EXPLAIN.

    DuckDB's own parser says what a statement is; a list of words would be fooled by a CTE.
    """
    statements = duckdb.extract_statements(sql)
    if not statements:
        raise StatementError("there is no statement to run")
    if len(statements) > 1:
        raise StatementError(f"{len(statements)} statements; query takes one at a time")
    kind = statements[0].type.name
    if kind == "MULTI":
        raise StatementError(
            "a PIVOT takes its values from a second query; list them: PIVOT t ON x IN (...)"
        )
    if kind not in READS:
        raise StatementError(
            f"{kind} is refused: query only reads. It takes SELECT, FROM, DESCRIBE, SHOW, SUMMARIZE, "
            "VALUES and EXPLAIN; `tracewh shell` opens a session with all of SQL"
        )
    if kind == "EXPLAIN":
        check_reads_only(_explained(statements[0].query))
    return kind == "EXPLAIN"


def _explained(sql: str) -> str:
    """The statement that an EXPLAIN is about.

    Between the two are ANALYZE, options and comments: it is the first rest of the text, from one token
    to the end, that DuckDB parses.
    """
    text = sql.encode()  # tokens are counted in bytes
    for start, _ in duckdb.tokenize(sql)[1:]:
        rest = text[start:].decode()
        with contextlib.suppress(duckdb.Error):
            if duckdb.extract_statements(rest):
                return rest
    return ""
