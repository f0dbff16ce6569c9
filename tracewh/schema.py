"""The tables of a warehouse and their columns, read from sql/tables.

The comment at the end of its line documents a column::

    device_id INTEGER,  -- [device] Device the event ran on.

The brackets contain the keys of the event's arguments from which ingest reads the column: the current key, then
older ones. `[Collective ranks as text]` marks a list that trace files write as text.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

#: The folder of SQL files, next to this module in a checkout and in a wheel.
SQL = Path(__file__).resolve().parent / "sql"

#: Columns that are in the path of a Parquet file, not in the file.
PARTITION_KEYS = ("run", "worker", "span")

#: Units. The name of a column ends with one of these if and only if the column has that unit.
MEASURED = ("ns", "us", "bytes", "pct", "gbps")

_COLUMN = re.compile(
    r"^ +(?P<name>\w+) (?P<type>[A-Z][A-Z ]*(?:\[\])*),?  -- (?:\[(?P<keys>[^\]]+)\] )?(?P<meaning>.+)$"
)
_AS_TEXT = " as text"
#: The header line of a table that not all warehouses have: those of version 0.1 have no files of it.
_LATER = re.compile(r"^-- since: (?!0\.1$)", re.MULTILINE)


class ColumnError(ValueError):
    """A line of a CREATE TABLE statement is not a column with a comment.

    Attributes:
        line: Number of the line, from 1.
    """

    def __init__(self, line: int, message: str) -> None:
        super().__init__(message)
        self.line = line


@dataclass(frozen=True, slots=True)
class Column:
    """One column of a table, or of the result of a view.

    Attributes:
        unit: ``ns``, ``us``, ``bytes``, ``pct``, ..., ``key`` for a column that identifies a row, or ``-``.
        keys: Keys of the event's arguments that contain the value, for a column of a table: the current
            key, then older ones.
        as_text: Whether trace files write the list as text, for a column of a table.
    """

    name: str
    type: str
    unit: str
    meaning: str
    keys: tuple[str, ...] = ()
    as_text: bool = False


@dataclass(frozen=True, slots=True)
class Table:
    """A table: its name, and the columns of its Parquet files.

    Attributes:
        is_later: Whether a trace may have no file of it, because an older version of tracewh ingested it. The
            trace then has no rows in the table.
    """

    name: str
    columns: tuple[Column, ...]
    is_later: bool = False

    @property
    def arguments(self) -> tuple[Column, ...]:
        """The columns that are read from an event's arguments."""
        return tuple(column for column in self.columns if column.keys)


@cache
def tables() -> dict[str, Table]:
    """All tables by name, without the partition keys."""
    found = {}
    for path in sorted((SQL / "tables").glob("*.sql")):
        sql = path.read_text("utf-8")
        columns = table_columns(sql)
        kept = tuple(column for column in columns if column.name not in PARTITION_KEYS)
        found[path.stem] = Table(path.stem, kept, bool(_LATER.search(sql)))
    return found


def later_tables() -> list[str]:
    """The tables of which a trace may have no file."""
    return [name for name, table in tables().items() if table.is_later]


def table_columns(sql: str) -> tuple[Column, ...]:
    """Parse the columns of a CREATE TABLE statement, in order.

    Raises:
        ColumnError: A line of the statement is not a column with a comment.
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
    """The unit at the end of a column's name; None if there is none."""
    return next((unit for unit in MEASURED if name == unit or name.endswith("_" + unit)), None)
