"""The tables of a warehouse and their columns, read from sql/tables.

A column is documented where it is typed, by the comment that ends its line::

    device_id INTEGER,  -- [device] Device the event ran on.

The words in brackets are the keys of a trace event's arguments that ingest reads the column from. Today's
key comes first, older ones follow. `[Collective ranks as text]` marks a list that the trace file writes as
the text of a list.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

#: Beside this module, in a checkout and in a wheel alike.
SQL = Path(__file__).resolve().parent / "sql"

#: Columns that the path of a Parquet file holds, not the file itself.
PARTITION_KEYS = ("run", "worker", "span")

#: A column measured in one of these carries the unit as the end of its name, and a column with such
#: an ending is measured in it.
MEASURED = ("ns", "us", "bytes", "pct", "gbps")

_COLUMN = re.compile(
    r"^ +(?P<name>\w+) (?P<type>[A-Z][A-Z ]*(?:\[\])*),?  -- (?:\[(?P<keys>[^\]]+)\] )?(?P<meaning>.+)$"
)
_AS_TEXT = " as text"


class ColumnError(ValueError):
    """A line of a CREATE TABLE statement that is no column with its comment.

    Attributes:
        line: Its number, from 1.
    """

    def __init__(self, line: int, message: str) -> None:
        super().__init__(message)
        self.line = line


@dataclass(frozen=True, slots=True)
class Column:
    """One column of a table, or of the result of a view.

    Attributes:
        unit: ``ns``, ``us``, ``bytes``, ``pct``, ..., ``key`` for what names a row, or ``-``.
        keys: Of a table, the keys of an event's arguments that hold the value: today's first, then
            older ones.
        as_text: Of a table, whether the trace file writes the list as the text of a list.
    """

    name: str
    type: str
    unit: str
    meaning: str
    keys: tuple[str, ...] = ()
    as_text: bool = False


@dataclass(frozen=True, slots=True)
class Table:
    """One Parquet file of a trace; `columns` are those that the file holds."""

    name: str
    columns: tuple[Column, ...]

    @property
    def arguments(self) -> tuple[Column, ...]:
        """The columns that are read from an event's arguments."""
        return tuple(column for column in self.columns if column.keys)


@cache
def tables() -> dict[str, Table]:
    """Every table by name, without the partition keys."""
    found = {}
    for path in sorted((SQL / "tables").glob("*.sql")):
        columns = table_columns(path.read_text("utf-8"))
        kept = tuple(column for column in columns if column.name not in PARTITION_KEYS)
        found[path.stem] = Table(path.stem, kept)
    return found


def table_columns(sql: str) -> tuple[Column, ...]:
    """The columns of a file that holds a CREATE TABLE statement, in order.

    Raises:
        ColumnError: A line inside the statement is no column with its comment.
    """
    found: list[Column] = []
    is_inside = False
    for number, line in enumerate(sql.splitlines(), start=1):
        if line.startswith("CREATE TABLE"):
            is_inside = True
        elif line.startswith(")"):
            is_inside = False
        elif is_inside:
            match = _COLUMN.match(line)
            if not match:
                raise ColumnError(number, f"{line.strip()!r} is not 'name TYPE,  -- Meaning.'")
            name, keys = match["name"], match["keys"] or ""
            found.append(
                Column(
                    name,
                    match["type"],
                    "key" if name in PARTITION_KEYS else measured_unit(name) or "-",
                    match["meaning"],
                    tuple(keys.removesuffix(_AS_TEXT).split(", ")) if keys else (),
                    keys.endswith(_AS_TEXT),
                )
            )
    return tuple(found)


def measured_unit(name: str) -> str | None:
    """The unit that the name of a column ends in, if it ends in one."""
    return next((unit for unit in MEASURED if name == unit or name.endswith("_" + unit)), None)
