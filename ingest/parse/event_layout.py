"""The kinds of events, their columns and their bounds, read from sql/derive/event_layout.sql.

The SQL parser and the compiled reader both use them, so that they agree.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import duckdb

from tracewh.schema import Column, tables
from tracewh.sql_files import query

#: The layout, once it was read: it is the same for every trace.
_LAYOUTS: list[EventLayout] = []


@dataclass(frozen=True, slots=True, eq=False)
class EventLayout:
    """The layout of events.

    Attributes:
        kinds: The columns for arguments of each kind of events.
        compiled: The kinds that the compiled reader can write.
        fields: The columns before the arguments, in every raw table, with their types.
        remainders: The columns after the arguments, with their types.
        argument_bounds: The smallest and largest value of the column of an argument.
        compiled_bounds: The largest time and duration of an event that the compiled reader writes, in
            nanoseconds, and the bound of its decimals.
    """

    kinds: Mapping[str, tuple[Column, ...]]
    compiled: tuple[str, ...]
    fields: Mapping[str, str]
    remainders: Mapping[str, str]
    argument_bounds: Mapping[str, tuple[int, int]]
    compiled_bounds: tuple[int, int, float]

    @property
    def older_keys(self) -> list[str]:
        """Older spellings of the keys of arguments."""
        columns = [column for columns in self.kinds.values() for column in columns]
        return sorted({key for column in columns for key in column.keys[1:]})

    def raw_columns(self, kind: str) -> str:
        """The columns of the raw table of a kind, for CREATE TABLE."""
        columns = [
            *self.fields.items(),
            *((column.name, column.type) for column in self.kinds[kind]),
            *self.remainders.items(),
        ]
        return ", ".join(f"{name} {type_}" for name, type_ in columns)


def event_layout(con: duckdb.DuckDBPyConnection) -> EventLayout:
    """Read the layout of events.

    Args:
        con: A connection to a database with the macros of sql/derive/event_kinds.sql.
    """
    if not _LAYOUTS:
        [(kinds, fields, remainders, bounds)] = con.execute(query("event_layout")).fetchall()
        # Below the bound, because a double may round a time up to it.
        time_ns = int(bounds["time_us"]) * 1000 - 1000
        columns = {
            kind["name"]: tables()[kind["columns_of"]].arguments if kind["columns_of"] else ()
            for kind in kinds
        }
        _LAYOUTS.append(
            EventLayout(
                columns,
                tuple(kind["name"] for kind in kinds if kind["is_compiled"]),
                fields,
                remainders,
                {name: (least, most) for name, (least, most) in bounds["arguments"].items()},
                (time_ns, int(bounds["compiled_ns"]), bounds["decimal"]),
            )
        )
    return _LAYOUTS[0]
