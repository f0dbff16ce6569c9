"""What a view needs of each trace alone, and how the rows of all traces make up its result.

The line `combines:` in the header of a view names its partial queries: tables, and calls of blocks and views, that can
run on each trace alone. The view then reads their rows instead of the files of traces, with the same SQL.
"""

from __future__ import annotations

import re

import duckdb

from tracewh.storage.layout import KEYS
from tracewh.views.registry import Call, Registry
from tracewh.views.spec import Spec
from tracewh.views.values import literal

#: The column of the partial rows with the group of a row.
KEY = "key"


def partial_queries(call: Call) -> tuple[str, ...]:
    """Return the queries to run on each trace alone. None if the call compares one block of two traces."""
    return () if call.values.get("block") is not None else call.view.combines


def partial_sql(call: Call) -> str:
    """Return a query of the partial rows: those of all partial queries over the traces that are open.

    Each row has the row of one query in the column part_N, and its group in the column `key`.
    """
    key = "''" if call.distributes == "warehouse" else f"r.{call.distributes}"
    # A row without a part: without any row, Spark would run no task that combines the parts.
    queries = [f"SELECT '' AS {KEY}"] if call.distributes == "warehouse" else []
    queries += [
        f"SELECT {key} AS {KEY}, r AS part_{number} FROM (FROM {_with_values(text, call)}) AS r"
        for number, text in enumerate(call.view.combines)
    ]
    return " UNION ALL BY NAME ".join(queries)


def combined_names(call: Call) -> list[str]:
    """Return the tables, blocks and views that the partial queries of a call read."""
    return [re.split(r"\W", text, maxsplit=1)[0] for text in call.view.combines]


def create_combined(con: duckdb.DuckDBPyConnection, registry: Registry, call: Call) -> None:
    """Create what the partial queries read, with the rows of the table `parts.rows` as its contents."""
    for number, name in enumerate(combined_names(call)):
        con.execute(_create_from_parts(registry.named(name), f"part_{number}"))


def _with_values(text: str, call: Call) -> str:
    """Return a partial query with the values of the parameters of the view in the place of their names."""
    values = {param.name: param.default for param in call.view.params}
    types = {param.name: param.type for param in call.view.params}
    values |= {name: literal(value, types[name]) for name, value in call.values.items()}
    # Texts stay as they are, and so do columns and the names of the parameters of what is called.
    names = rf"'[^']*'|(?<!\.)\b({'|'.join(values)})\b(?!\s*:=)"
    return re.sub(names, lambda found: values.get(found[1], found[0]), text)


def _create_from_parts(spec: Spec, part: str) -> str:
    columns = ", ".join(f"CAST(r.{part}.{c.name} AS {c.type}) AS {c.name}" for c in spec.columns)
    rows = f"SELECT {columns} FROM parts.rows AS r WHERE r.{part} IS NOT NULL"
    if spec.kind == "table":
        return f"CREATE TABLE {spec.name} AS {rows}"
    wanted = " AND ".join(f"({key} IS NULL OR p.{key} = {key})" for key in KEYS)
    return f"{spec.signature} SELECT p.* FROM ({rows}) AS p WHERE {wanted}"
