"""The SQL for plain events: those that one typed parse reads whole.

Nearly every event of a trace holds only keys that have columns, each with a value of the column's
type. One parse reads it, and three things prove that nothing was lost: the parse found as many
values as the text has keys (`scan`), no key has a value of another type (`odd_pattern`), and the
numbers give back what was written. Every other event is left to the full parse in `flatten`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache

import pyarrow as pa
import pyarrow.compute as pc

from tracewh.ingest.arguments import NOT_NONE
from tracewh.ingest.scan import HINTS, NO_TIME
from tracewh.ingest.tables import Column, tables

_FIELDS = {
    "ph": "VARCHAR",
    "cat": "VARCHAR",
    "name": "VARCHAR",
    "pid": "VARCHAR",
    "tid": "VARCHAR",
    "ts": "DOUBLE",
    "dur": "DOUBLE",
    "id": "BIGINT",
    "bp": "VARCHAR",
    "s": "VARCHAR",
}
_WHOLE_FIELDS = ("pid", "tid", "id")
_TABLES = {"host": "host_events", "device": "device_events", "memory": "memory_records"}
#: Arguments without a column that every event of a kind has; they go back into args.
_EXTRA = {"memory": ("Device Type",)}
#: What is in `raw`, for kinds that always have it.
_RAW = {
    "flow": """CASE WHEN p.f_bp = 'e' THEN '{"bp":"e"}' END""",
    "memory": """'{"s":"t"}'""",
}
KINDS = ("host", "device", "memory", "flow")


def insert_sql(kind: str) -> str:
    """Append the plain events of a kind to its raw table.

    Reads `pieces`: event_id, text, hint, keys, is_odd, ts_ns.
    """
    columns = _columns(kind)
    extra = _EXTRA.get(kind, ())
    fields = ",".join(f'"{field}":"{type_}"' for field, type_ in _FIELDS.items())
    arguments = [f'"{c.keys[0]}":{_json_type(c)}' for c in columns]
    arguments += [f'"{key}":"BIGINT"' for key in extra]
    read = [f"p.f.{field} AS f_{field}" for field in _FIELDS]
    read += [f'p.f.args."{c.keys[0]}" AS {c.name}' for c in columns]
    read += [f'p.f.args."{key}" AS "{key}"' for key in extra]
    args = f',"args":{{{",".join(arguments)}}}' if arguments else ',"args":"JSON"'
    has_stream = "p.stream_id IS NOT NULL" if kind == "device" else "false"
    values = [
        "p.event_id",
        "p.f_ph",
        "p.category",
        "p.f_cat",
        "p.f_name",
        "p.f_pid",
        "p.f_tid",
        "p.ts_ns",
        "p.dur_ns",
        "p.f_id",
        *(_value(column) for column in columns),
        _left_over(kind),
        _RAW.get(kind, "NULL"),
    ]
    return f"""
    INSERT INTO raw_{kind}
    SELECT {", ".join(values)}
    FROM (
        SELECT
            p.*,
            current_category(p.f_cat, p.f_name) AS category,
            CASE WHEN is_duration(p.f_dur) THEN duration_nanoseconds('', p.f_dur) END AS dur_ns
        FROM (
            SELECT
                p.event_id, p.keys, p.ts_ns, p.f.args IS NOT NULL AS has_args,
                {", ".join(read)}
            FROM (
                SELECT p.*, from_json(p.text, '{{{fields}{args}}}') AS f
                FROM pieces AS p
                WHERE p.hint = {HINTS[kind]} AND NOT p.is_odd AND p.ts_ns <> {NO_TIME}
            ) AS p
        ) AS p
    ) AS p
    WHERE
        '{kind}' = event_table(p.f_ph, p.category, p.f_name, p.dur_ns IS NOT NULL, {has_stream})
        AND {_is_plain(kind)}
    """


def _columns(kind: str) -> tuple[Column, ...]:
    return tables()[_TABLES[kind]].arguments if kind in _TABLES else ()


def _is_plain(kind: str) -> str:
    """Whether the columns of a kind hold all that the text of an event says."""
    fields = _count(f"f_{field}" for field in _FIELDS) + " + p.has_args::INTEGER"
    columns = _columns(kind)
    arguments = _count([*(c.name for c in columns), *(f'"{key}"' for key in _EXTRA.get(kind, ()))])
    checks = [
        f"p.keys = {fields} + {arguments}",
        "is_time(p.f_ts)",
        # Longer ones may be beyond 64 bits.
        "coalesce(length(p.f_pid) < 19 AND length(p.f_tid) < 19, false)",
        *(check for column in columns if (check := _is_exact(column))),
    ]
    if kind in ("host", "device"):
        checks += [
            "p.f_cat IS NOT NULL",
            "p.f_name IS NOT NULL",
            "are_exact(p.dur_ns, p.f_dur)",
            "p.f_dur >= 0",
            *("p.f_id IS NULL", "p.f_bp IS NULL", "p.f_s IS NULL"),
        ]
    if kind == "device":
        # Where the process is the device, nothing would tell that an argument said it as well.
        checks.append("(p.device_id IS NULL OR NOT has_device_as_process(p.category))")
    if kind == "memory":
        checks += ["p.f_ph = 'i'", "p.f_s = 't'"]
        checks += [f"p.f_{field} IS NULL" for field in ("dur", "id", "bp")]
    if kind == "flow":
        checks += ["p.f_cat IS NOT NULL", "p.f_id IS NOT NULL", "coalesce(p.f_bp = 'e', true)"]
        checks += ["NOT p.has_args", "p.f_dur IS NULL", "p.f_s IS NULL"]
    else:
        # Empty arguments are something else than none.
        checks.append(f"(NOT p.has_args OR {arguments} > 0)")
    return " AND ".join(checks)


def _left_over(kind: str) -> str:
    """What the columns do not hold: values that mean 'none', and arguments without a column."""
    members = [
        f"""CASE WHEN NOT (p.{c.name} {NOT_NONE[c.name]}) THEN '"{c.keys[0]}":' || p.{c.name} END"""
        for c in _columns(kind)
        if c.name in NOT_NONE
    ]
    members += [f"""'"{key}":' || p."{key}\"""" for key in _EXTRA.get(kind, ())]
    return (
        f"'{{' || nullif(concat_ws(',', {', '.join(members)}), '') || '}}'" if members else "NULL"
    )


def _value(column: Column) -> str:
    if column.name in NOT_NONE:
        return f"CASE WHEN p.{column.name} {NOT_NONE[column.name]} THEN p.{column.name} END"
    return _as_list(column) if column.as_text else f"p.{column.name}"


def _is_exact(column: Column) -> str:
    """What has to hold of a value of the right type so that the column gives it back."""
    name = f"p.{column.name}"
    if column.as_text:
        text = f"'[' || array_to_string({_as_list(column)}, ', ') || ']'"
        return f"CASE WHEN {name} IS NULL THEN true ELSE coalesce({text} = {name}, false) END"
    if column.type == "DOUBLE":
        return f"coalesce(abs({name}) < 9e15, true)"
    if column.type == "JSON":  # DuckDB takes NaN and Infinity for numbers
        return f"NOT coalesce(contains({name}, 'n') OR contains({name}, 'N'), false)"
    if column.type == "INTEGER[]":
        return f"coalesce(list_count({name}) = len({name}), true)"
    return ""


def _as_list(column: Column) -> str:
    name = f"p.{column.name}"
    return f"CASE WHEN {name} IS NOT NULL THEN try_cast({name} AS {column.type}) END"


def _count(names: Iterable[str]) -> str:
    return " + ".join([*(f"(p.{name} IS NOT NULL)::INTEGER" for name in names), "0"])


def _json_type(column: Column) -> str:
    if column.as_text:
        return '"VARCHAR"'
    return f'["{column.type[:-2]}"]' if column.type.endswith("[]") else f'"{column.type}"'


#: What is written with escapes is known to the parse as a key, and to no pattern.
_ESCAPED_KEY = r'\\[^"]*":'


def are_odd(texts: pa.StringArray) -> pa.BooleanArray:
    """Whether a key of an event has a value of an unexpected type.

    True for others too, where a string holds what looks like a key.
    """
    # Not one pattern: what all of one begin with is skipped to, not looked for byte by byte.
    patterns = (_odd_pattern(), _ESCAPED_KEY)
    return pc.or_(*(pc.match_substring_regex(texts, pattern) for pattern in patterns))


@cache
def _odd_pattern() -> str:
    keys: dict[str, set[str]] = {}
    for column in (column for kind in KINDS for column in _columns(kind)):
        type_ = "VARCHAR" if column.as_text else column.type
        keys.setdefault("BIGINT" if type_ == "INTEGER" else type_, set()).add(column.keys[0])
    for field, type_ in _FIELDS.items():
        keys.setdefault("BIGINT" if field in _WHOLE_FIELDS else type_, set()).add(field)
    keys["BIGINT"].update(key for extra in _EXTRA.values() for key in extra)
    keys["args"] = {"args"}
    string = r'"(?:[^"\\]|\\.)*"'
    odd = {
        "BIGINT": r"-?[0-9]*[^-0-9,}\s]",
        "VARCHAR": r'[^"\s]',
        "DOUBLE": r"(?:[^-0-9\s]|-[^0-9])",
        "BOOLEAN": r"[^tf\s]",
        "JSON": r"[^\[\s]",
        "VARCHAR[]": rf'(?:[^\[\s]|\[(?:\s*{string}\s*,)*\s*[^"\]\s])',
        "INTEGER[]": r"(?:[^\[\s]|\[(?:\s*-?[0-9]+\s*,)*\s*-?[0-9]*[^-0-9,\]\s])",
        "args": r"[^{\s]",
    }
    groups = "|".join(
        rf'(?:{"|".join(re.escape(key) for key in sorted(names))})":\s*{odd[type_]}'
        for type_, names in keys.items()
    )
    return rf'"(?:{groups})'
