"""Whether an SQL statement only reads, and where it ends."""

from __future__ import annotations

import contextlib
import re

import duckdb

from tracewh.views.registry import ViewError

#: Statement types that only read. To DuckDB, DESCRIBE, SHOW, SUMMARIZE, VALUES and FROM are SELECT.
READS = ("SELECT", "EXPLAIN")
#: Matches a statement that writes in a syntax tree, as JSON. A text of the query has a backslash before each quote there.
_WRITES = re.compile(r'"type":\s*"(\w+)_QUERY_NODE"')


_NO_STATEMENT = "the SQL has no statement"


class StatementError(ViewError):
    """The SQL is not one read-only statement. The message is meant for a person."""


def check_reads_only(sql: str, con: duckdb.DuckDBPyConnection) -> bool:
    """Refuse a statement that is not read-only, and return whether it is an EXPLAIN.

    DuckDB's own parser classifies the statement: a comparison of its first word would misread a CTE.

    Args:
        sql: The query.
        con: Any connection. Opening one takes longer than parsing.
    """
    statements = con.extract_statements(sql)
    if not statements:
        raise StatementError(_NO_STATEMENT)
    if len(statements) > 1:
        raise StatementError(f"found {len(statements)} statements; a query is one statement")
    kind = _type(statements[0])
    if kind == "MULTI":
        raise StatementError(
            "a PIVOT without a list of values needs a second query; write PIVOT t ON x IN (...)"
        )
    if kind == "SELECT":
        kind = _written(sql, con) or kind
    elif kind not in READS and (word := _first_word(sql)) != "WITH":
        kind = word
    if kind not in READS:
        raise StatementError(
            f"{kind} is not allowed: a query is read-only. Use SELECT, FROM, DESCRIBE, SHOW, SUMMARIZE, "
            "VALUES or EXPLAIN; `tracewh shell` opens a session with all of SQL"
        )
    if kind == "EXPLAIN":
        check_reads_only(_explained(statements[0].query, con), con)
    return kind == "EXPLAIN"


def _type(statement: duckdb.Statement) -> str:
    """Return the type of a statement; '' for one that DuckDB has and its Python does not name."""
    with contextlib.suppress(ValueError):
        return statement.type.name
    return ""


def _first_word(sql: str) -> str:
    """Return the first word of a statement in capitals: to DuckDB, CHECKPOINT is a CALL, and INSTALL is a LOAD."""
    text = sql.encode()  # the positions of tokens are bytes
    starts = [at for at, kind in duckdb.tokenize(sql) if kind != duckdb.token_type.comment]
    words = (re.match(r"\w+", text[at:].decode()) for at in starts)
    return next((word[0].upper() for word in words if word), "")


def _written(sql: str, con: duckdb.DuckDBPyConnection) -> str:
    """Return the type of a statement in a WITH clause that writes, such as DELETE; '' if there is none."""
    [(tree,)] = con.cursor().execute("SELECT json_serialize_sql(?::VARCHAR)", [sql]).fetchall()
    if tree.startswith('{"error":true'):
        raise StatementError("DuckDB cannot tell whether the SQL is read-only")
    found = _WRITES.search(tree)
    return found[1] if found else ""


def _explained(sql: str, con: duckdb.DuckDBPyConnection) -> str:
    """Return the statement that an EXPLAIN explains.

    ANALYZE, options and comments may stand before it, so this tries the text from each token to the
    end and returns the first that DuckDB parses.
    """
    text = sql.encode()  # the positions of tokens are bytes
    for start, _ in duckdb.tokenize(sql)[1:]:
        rest = text[start:].decode()
        with contextlib.suppress(duckdb.Error):
            if con.extract_statements(rest):
                return rest
    return ""


def without_end(sql: str) -> str:
    """Return a statement without the semicolons at its end, and the comments beside them.

    DuckDB puts the text of a relation into a subquery as it is.

    Raises:
        StatementError: There is nothing else: DuckDB would return None.
    """
    text = sql.encode()  # the positions of tokens are bytes
    end = len(text)
    for start, kind in reversed(duckdb.tokenize(sql)):
        if kind != duckdb.token_type.comment and text[start : start + 1] != b";":
            break
        end = start
    else:
        raise StatementError(_NO_STATEMENT)
    return sql if b";" not in text[end:] else text[:end].decode()
