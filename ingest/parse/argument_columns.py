"""The SQL that reads the arguments of events into the columns of a table.

The query is sql/derive/argument_columns.sql, what it calls full_parse.sql. Written here are the lists of
columns and keys that it needs for a kind of events.
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
        position: Among all keys of the kind, from 1.
    """

    column: Column
    name: str
    position: int

    @property
    def is_todays(self) -> bool:
        return self.name == self.column.keys[0]

    @property
    def kind(self) -> str:
        """The JSON type of its value."""
        return f"r.k[{self.position}]"

    @property
    def value(self) -> str:
        """Its value, as the column takes it."""
        return f"r.v{self.position}"

    @property
    def path(self) -> str:
        return f"""'$."{self.name}"'"""

    @property
    def typed(self) -> str:
        """Its value as from_json reads it."""
        return f'r.a."{self.name}"'

    @property
    def null(self) -> str:
        """The member of a patch that takes it out of the arguments."""
        return f"""'"{self.name}":null'"""


def is_number(column: Column) -> bool:
    """Whether a column holds whole numbers."""
    return column.type in ("BIGINT", "INTEGER")


def typed_select(layout: EventLayout, kind: str, older_keys: bool) -> str:
    """Rows of one kind from `base`, with a column per argument and the rest in args.

    Args:
        layout: The layout of events.
        kind: A kind that has columns for its arguments.
        older_keys: Whether arguments may stand under keys that are not today's.
    """
    columns = layout.kinds[kind]
    names = [(c, name) for c in columns for name in c.keys[: None if older_keys else 1]]
    keys = [_Key(*found, position) for position, found in enumerate(names, start=1)]
    todays = {key.column: key for key in keys if key.is_todays}
    older = [(key, todays[key.column]) for key in keys if not key.is_todays]
    held = {key: _held(key) for key in keys}
    # A column can hold one key only: where a file has two spellings of it, both stay in args.
    for key, today in older:
        held[key] += f" AND {today.kind} IS NULL"
        held[today] += f" AND {key.kind} IS NULL"
    numbers = [key for key in keys if is_number(key.column)]
    usual = [f"({key.kind} IS NULL OR {today.kind} IS NULL)" for key, today in older]
    usual += [
        f"({key.value} IS NULL OR NOT has_device_as_process(r.category))"
        for key in keys
        if key.column.name == "device_id"
    ]
    return query(
        "argument_columns",
        kind=f"'{kind}'",
        fields=_listed(f"r.{name}" for name in layout.fields),
        types="'{" + ",".join(f'"{c.keys[0]}":{_json_type(c)}' for c in columns) + "}'",
        paths=_listed(key.path for key in keys),
        values_by_key=_listed(f"{_value(key, layout)} AS v{key.position}" for key in keys),
        number_kinds=_listed(key.kind for key in numbers),
        number_values=_listed(key.value for key in numbers),
        held_others=" + ".join(
            ["0", *(f"coalesce({held[key]}, false)::INTEGER" for key in keys if key not in numbers)]
        ),
        no_exception=" AND ".join(["true", *usual]),
        all_keys=_listed(key.null for key in keys),
        held_keys=_listed(f"CASE WHEN {held[key]} THEN {key.null} END" for key in keys),
        held_older_keys=_listed(f"CASE WHEN {held[key]} THEN {key.null} END" for key, _ in older)
        or "NULL",
        values=_listed(
            f"coalesce({_listed(key.value for key in keys if key.column == column)}, NULL)"
            for column in columns
        ),
    )


def _listed(parts: Iterable[str]) -> str:
    return ", ".join(parts)


def _json_type(column: Column) -> str:
    if column.as_text:
        return '"VARCHAR"'
    return '"JSON"' if column.type.endswith("[]") else f'"{column.type}"'


def _value(key: _Key, layout: EventLayout) -> str:
    """The value under one key, or NULL where it is missing, of another kind, or means 'none'."""
    column, value = key.column, key.typed
    if not key.is_todays:
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
    # Whoever writes an empty text recorded nothing.
    empty = {"VARCHAR": "''", "JSON": "'\"\"'"}.get(column.type)
    return f"nullif({value}, {empty})" if empty else value


def _held(key: _Key) -> str:
    """Whether the column gives the value under a key back exactly."""
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
        # Where the process is the device, nothing would tell that an argument said it as well.
        own = " AND NOT has_device_as_process(r.category)" if column.name == "device_id" else ""
        return f"is_whole_kind({key.kind}) AND {key.value} IS NOT NULL{own}"
    return f"{key.kind} = '{column.type}' AND {key.value} IS NOT NULL"
