"""Run the queries of sql/queries, which the command line uses.

A query has placeholders: `$name`. `query_text` replaces them by literals, so that the report can show a query that
the user can run.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Any

from tracewh.quoting import quote_literal
from tracewh.schema import SQL

if TYPE_CHECKING:
    import duckdb

    from tracewh.views.warehouse import Warehouse

_PARAMETER = re.compile(r"'(?:[^']|'')*'|\$(\w+)")


def run_query(
    warehouse: Warehouse, name: str, **values: str | int | list[str] | None
) -> duckdb.DuckDBPyRelation:
    """Run a query of sql/queries.

    Args:
        warehouse: The warehouse to run it on.
        name: Name of the file, without `.sql`.
        **values: A value for each parameter.
    """
    return warehouse.sql(query_text(name, **values))


def query_rows(
    warehouse: Warehouse, name: str, **values: str | int | list[str] | None
) -> list[tuple[Any, ...]]:
    """Return the rows of a query of sql/queries, which is planned only once; see `run_query`."""
    return warehouse.rows(query_text(name, **values))


def query_text(name: str, **values: str | int | list[str] | None) -> str:
    """Return the text of a query with literals instead of placeholders.

    Raises:
        KeyError: A parameter has no value.
    """

    def value(match: re.Match[str]) -> str:
        return _literal(values[match[1]]) if match[1] else match[0]

    return _PARAMETER.sub(value, _text(name))


def _literal(value: Any) -> str:
    if value is None:
        return "NULL"
    if isinstance(value, list):
        return f"[{', '.join(map(_literal, value))}]"
    return quote_literal(value) if isinstance(value, str) else str(value)


@cache
def _text(name: str) -> str:
    """Read a query, without the comment at its top and the semicolon at its end."""
    lines = (SQL / "queries" / f"{name}.sql").read_text("utf-8").splitlines()
    first = next(number for number, line in enumerate(lines) if not line.startswith("--"))
    return "\n".join(lines[first:]).rstrip(";")
