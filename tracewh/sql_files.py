"""Run the SQL files of sql/derive, sql/functions, sql/blocks and sql/tables."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import duckdb

from tracewh.schema import SQL

#: A placeholder for a list of columns or keys.
_PLACE = re.compile(r'"<(\w+)>"')

#: Parsed statements by text. For a small trace, parsing takes 7 percent of the ingest time.
_PARSED: dict[str, list[duckdb.Statement]] = {}


def derive(con: duckdb.DuckDBPyConnection, name: str) -> None:
    """Run a file of sql/derive."""
    _run(con, SQL / "derive" / f"{name}.sql")


def create_function(con: duckdb.DuckDBPyConnection, name: str) -> None:
    """Create a scalar macro of sql/functions."""
    _run(con, SQL / "functions" / f"{name}.sql")


def create_block(con: duckdb.DuckDBPyConnection, name: str) -> None:
    """Create a macro of sql/blocks; the functions and tables that it uses must exist."""
    _run(con, SQL / "blocks" / f"{name}.sql")


def create_table(con: duckdb.DuckDBPyConnection, name: str) -> None:
    """Create an empty table of sql/tables."""
    _run(con, SQL / "tables" / f"{name}.sql")


def run(con: duckdb.DuckDBPyConnection, sql: str) -> None:
    """Run statements that are the same for many traces: their text is parsed once.

    This is as fast as a prepared statement, because DuckDB plans a prepared statement again for each run.
    """
    if sql not in _PARSED:
        _PARSED[sql] = con.extract_statements(sql)
    for statement in _PARSED[sql]:
        con.execute(statement)


def _run(con: duckdb.DuckDBPyConnection, path: Path) -> None:
    run(con, _read(path))


@cache
def _read(path: Path) -> str:
    return path.read_text("utf-8")


def query(name: str, **lists: str) -> str:
    """Return the query in a file of sql/derive.

    Args:
        name: Name of the file, which contains one query.
        lists: SQL for each placeholder of the query: `columns` replaces `"<columns>"`.
    """
    return _PLACE.sub(lambda place: lists[place[1]], _query(name))


@cache
def _query(name: str) -> str:
    """Read a query, without the comments at its top."""
    lines = (SQL / "derive" / f"{name}.sql").read_text("utf-8").splitlines()
    first = next(number for number, line in enumerate(lines) if not line.startswith("--"))
    return "\n".join(lines[first:]).rstrip(";")
