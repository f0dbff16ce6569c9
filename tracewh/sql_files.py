"""Run the statements of sql/derive and sql/blocks."""

from __future__ import annotations

from pathlib import Path

import duckdb

from tracewh.schema import SQL

#: Statements by file: of a small trace, parsing them all would be a fifteenth of the work.
_PARSED: dict[Path, list[duckdb.Statement]] = {}


def derive(con: duckdb.DuckDBPyConnection, name: str) -> None:
    """Run a file of sql/derive."""
    _run(con, SQL / "derive" / f"{name}.sql")


def create_function(con: duckdb.DuckDBPyConnection, name: str) -> None:
    """Create a scalar macro of sql/functions."""
    _run(con, SQL / "functions" / f"{name}.sql")


def create_block(con: duckdb.DuckDBPyConnection, name: str) -> None:
    """Create a macro of sql/blocks; the functions and tables that it uses have to be there."""
    _run(con, SQL / "blocks" / f"{name}.sql")


def _run(con: duckdb.DuckDBPyConnection, path: Path) -> None:
    if path not in _PARSED:
        _PARSED[path] = con.extract_statements(path.read_text("utf-8"))
    for statement in _PARSED[path]:
        con.execute(statement)
