"""The tables that ingest writes, read from the one place where they are typed: sql/tables."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import duckdb

#: Beside this package, in a checkout and in a wheel alike.
SQL = Path(__file__).resolve().parents[1] / "sql"

#: Told by the path of a Parquet file, not by its contents.
PARTITION_KEYS = ("run", "worker", "span")

#: Statements by file: of a small trace, parsing them all would be a fifteenth of the work.
_PARSED: dict[Path, list[duckdb.Statement]] = {}

_COLUMN = re.compile(r"^    (\w+) ([A-Z][A-Z ]*(?:\[\])?),?  -- (?:\[([^\]]+)\] )?", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Column:
    """A column, and the keys of a trace file that hold its value: today's first, then older ones.

    `as_text` marks lists that the file writes as the text of a list.
    """

    name: str
    type: str
    keys: tuple[str, ...]
    as_text: bool


@dataclass(frozen=True, slots=True)
class Table:
    """One Parquet file of a trace."""

    name: str
    columns: tuple[Column, ...]

    @property
    def arguments(self) -> tuple[Column, ...]:
        """The columns that are read from an event's arguments."""
        return tuple(column for column in self.columns if column.keys)

    @property
    def ddl(self) -> str:
        """The column definitions of a CREATE TABLE."""
        return ", ".join(f"{column.name} {column.type}" for column in self.columns)


@cache
def tables() -> dict[str, Table]:
    """Every table by name, without the partition keys."""
    found = {}
    for path in sorted((SQL / "tables").glob("*.sql")):
        columns = tuple(
            Column(
                name,
                type_,
                tuple(keys.removesuffix(" as text").split(", ")) if keys else (),
                keys.endswith(" as text"),
            )
            for name, type_, keys in _COLUMN.findall(path.read_text("utf-8"))
            if name not in PARTITION_KEYS
        )
        found[path.stem] = Table(path.stem, columns)
    return found


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
