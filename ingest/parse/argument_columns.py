"""Build the SQL that reads the arguments of events into the columns of a table.

The query is sql/derive/argument_columns.sql, which calls the macros of full_parse.sql. This module generates
the lists of columns and keys for one kind of events.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from tracewh.ingest.parse.event_layout import EventLayout
from tracewh.schema import Column
from tracewh.sql_files import query


@dataclass(frozen=True, slots=True)
class _Key:
    """One key of an argument, and the column that it fills.

    Attributes:
        position: Its number among all keys of the kind, from 1.
    """

    column: Column
    name: str
    position: int

    @property
    def is_current(self) -> bool:
        return self.name == self.column.keys[0]

    @property
    def kind(self) -> str:
        """The JSON type of its value."""
        return f"r.k[{self.position}]"

    @property
    def value(self) -> str:
        """Its value in the type of the column."""
        return f"r.v{self.position}"

    @property
    def path(self) -> str:
        return f"""'$."{self.name}"'"""

    @property
    def typed(self) -> str:
        """Its value as from_json returns it."""
        return f'r.a."{self.name}"'

    @property
    def null(self) -> str:
        """The member of a JSON merge patch that removes it from the arguments."""
        return f"""'"{self.name}":null'"""


def is_number(column: Column) -> bool:
    """Whether a column holds whole numbers."""
    return column.type in ("BIGINT", "INTEGER")


def typed_select(layout: EventLayout, kind: str, older_keys: bool) -> str:
    """Return SQL for the rows of one kind from `base`: one column per argument, and the rest in `args`.

    Args:
        layout: The layout of events.
        kind: A kind that has columns for its arguments.
        older_keys: Whether arguments may have their older keys.
    """
    columns = layout.kinds[kind]
    names = [(c, name) for c in columns for name in c.keys[: None if older_keys else 1]]
    keys = [_Key(*found, position) for position, found in enumerate(names, start=1)]
    current = {key.column: key for key in keys if key.is_current}
    older = [(key, current[key.column]) for key in keys if not key.is_current]
    exact = {key: _is_exact(key) for key in keys}
    # A column stores the value of one key. If an event has two spellings of the key, both stay in args.
    for key, new in older:
        exact[key] += f" AND {new.kind} IS NULL"
        exact[new] += f" AND {key.kind} IS NULL"
    numbers = [key for key in keys if is_number(key.column)]
    usual = [f"({key.kind} IS NULL OR {new.kind} IS NULL)" for key, new in older]
    usual += [
        f"({key.value} IS NULL OR NOT has_device_as_process(r.category))"
        for key in keys
        if key.column.name == "device_id"
    ]
    return query(
        "argument_columns",
        kind=f"'{kind}'",
        fields=_comma_separated(f"r.{name}" for name in layout.fields),
        types="'{" + ",".join(f'"{c.keys[0]}":{_json_type(c)}' for c in columns) + "}'",
        paths=_comma_separated(key.path for key in keys),
        values_by_key=_comma_separated(f"{_value(key, layout)} AS v{key.position}" for key in keys),
        number_kinds=_comma_separated(key.kind for key in numbers),
        number_values=_comma_separated(key.value for key in numbers),
        held_others=" + ".join(
            [
                "0",
                *(f"coalesce({exact[key]}, false)::INTEGER" for key in keys if key not in numbers),
            ]
        ),
        no_exception=" AND ".join(["true", *usual]),
        all_keys=_comma_separated(key.null for key in keys),
        held_keys=_comma_separated(f"CASE WHEN {exact[key]} THEN {key.null} END" for key in keys),
        held_older_keys=_comma_separated(
            f"CASE WHEN {exact[key]} THEN {key.null} END" for key, _ in older
        )
        or "NULL",
        values=_comma_separated(
            f"coalesce({_comma_separated(key.value for key in keys if key.column == column)}, NULL)"
            for column in columns
        ),
    )


def _comma_separated(parts: Iterable[str]) -> str:
    return ", ".join(parts)


def _json_type(column: Column) -> str:
    if column.as_text:
        return '"VARCHAR"'
    return '"JSON"' if column.type.endswith("[]") else f'"{column.type}"'


def _value(key: _Key, layout: EventLayout) -> str:
    """Return SQL for the value of a key: NULL if it is missing, has another type, or means 'none'."""
    column, value = key.column, key.typed
    if not key.is_current:
        value = f"try_cast(json_extract_string(r.args, {key.path}) AS {column.type})"
        if column.type == "JSON":
            value = f"CASE WHEN {key.kind} <> 'NULL' THEN json_extract(r.args, {key.path}) END"
    if column.as_text:
        return f"complete_list(try_cast({value} AS {column.type}))"
    if column.type.endswith("[]"):
        return f"""from_json({value}, '["{column.type[:-2]}"]')"""
    if column.type == "DOUBLE":
        return f"CASE WHEN isfinite({value}) THEN {value} END"
    if is_number(column):
        if column.name in layout.argument_bounds:
            least, most = layout.argument_bounds[column.name]
            value = f"bounded({value}, {least}, {most})"
        return f"whole_number({key.kind}, {value}, r.args, {key.path})"
    # An empty text means that nothing was recorded.
    empty = {"VARCHAR": "''", "JSON": "'\"\"'"}.get(column.type)
    return f"nullif({value}, {empty})" if empty else value


def _is_exact(key: _Key) -> str:
    """Return SQL that tests whether the column stores the value of a key exactly."""
    column, given = key.column, f"{key.kind}, {key.value}"
    if column.type == "JSON":
        return f"{key.kind} <> 'NULL' AND {key.value} IS NOT NULL"
    if column.as_text:
        return f"holds_list_in_text({given}, {key.typed})"
    if column.type.endswith("[]"):
        return f"holds_list({given}, {key.typed})"
    if column.type == "DOUBLE":
        return f"holds_decimal_number({given})"
    if is_number(column):
        # If the process id is the device, the export could not tell that there was an argument, too.
        own = " AND NOT has_device_as_process(r.category)" if column.name == "device_id" else ""
        return f"is_whole_kind({key.kind}) AND {key.value} IS NOT NULL{own}"
    return f"{key.kind} = '{column.type}' AND {key.value} IS NOT NULL"
