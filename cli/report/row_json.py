"""Convert the rows of a query to columns of values that JSON and a browser keep without loss.

Numbers stay numbers if a browser can represent them exactly. Larger integers, DECIMAL, NaN, infinities
and all types that JSON does not have become DuckDB's text.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import orjson

from tracewh.cli import diagnostics
from tracewh.cli.output.column_types import NUMERIC
from tracewh.cli.report.panels import MOST_ROWS

if TYPE_CHECKING:
    import duckdb

    from tracewh.views import Column

#: The largest safe integer of a browser, whose numbers are doubles.
LARGEST = 2**53 - 1
#: Limits of the result of a query: bytes of all rows, and characters of one text.
MOST_BYTES, MOST_CHARACTERS = 8_000_000, 10_000
#: Types whose values are fetched as Python values, and lists of them. Others are fetched as text.
PLAIN = re.compile(
    r"(U?(TINYINT|SMALLINT|INTEGER|BIGINT|HUGEINT)|FLOAT|DOUBLE|BOOLEAN|VARCHAR)(\[\d*\])*"
)
#: Types whose values are always short.
SHORT = re.compile(r"U?(TINYINT|SMALLINT|INTEGER|BIGINT|HUGEINT)|FLOAT|DOUBLE|BOOLEAN")


def embedded(value: Any) -> str:
    """Return JSON for a page; in JSON, "<" occurs only within text."""
    return orjson.dumps(value, default=str).decode().replace("<", "\\u003c")


def by_column(relation: duckdb.DuckDBPyRelation, meanings: Mapping[str, Column]) -> dict[str, Any]:
    """Return the rows of a relation by column, with name, unit and meaning of each column."""
    relation = _distinct(relation)
    kinds = [str(kind) for kind in relation.types]
    picked = [None if PLAIN.fullmatch(kind) else "CAST({} AS VARCHAR)" for kind in kinds]
    rows = _picked(relation, picked).fetchall()
    return _found(relation, meanings, [[_exact(value) for value in row] for row in rows])


def bounded(relation: duckdb.DuckDBPyRelation) -> dict[str, Any]:
    """Return the first rows like `by_column`, and `said`: a note on their number and on cuts.

    The number of rows, their bytes and the characters of a text are limited. Lists become text.
    """
    relation = _distinct(relation)
    kinds = [str(kind) for kind in relation.types]
    text = f"left(CAST({{}} AS VARCHAR), {MOST_CHARACTERS + 1})"
    picked = [None if SHORT.fullmatch(kind) else text for kind in kinds]
    rows: list[list[Any]] = []
    size, has_more, has_long = 0, False, False
    for values in _picked(relation.limit(MOST_ROWS + 1), picked).iter_rows(100):
        row = [_shortened(_exact(value)) for value in values]
        size += len(orjson.dumps(row))
        has_more = len(rows) == MOST_ROWS or size > MOST_BYTES
        if has_more:
            break
        rows.append(row)
        has_long = has_long or any(map(_is_long, row))
    megabytes = f"{MOST_BYTES // 10**6} MB"
    if has_more and not rows:
        diagnostics.usage_error(f"one row is larger than {megabytes}; select fewer columns")
    note = f"{len(rows):,} row{'' if len(rows) == 1 else 's'}."
    if has_more:
        of = f", {megabytes}" if size > MOST_BYTES else ""
        note = f"The first {note[:-1]}{of}; the query has more."
    if has_long:
        note += f" Texts are cut after {MOST_CHARACTERS:,} characters."
    return {**_found(relation, {}, rows), "said": note}


def _distinct(relation: duckdb.DuckDBPyRelation) -> duckdb.DuckDBPyRelation:
    """Return the relation with duplicate column names made unique."""
    is_distinct = len(set(relation.columns)) == len(relation.columns)
    return relation if is_distinct else relation.project("*")


def _picked(
    relation: duckdb.DuckDBPyRelation, expressions: list[str | None]
) -> duckdb.DuckDBPyRelation:
    """Replace each column that has an expression by it; {} in it stands for the column.

    Columns have their numbers, since names may differ in case only. `relation.query` would plan the query three
    times more, which takes as long as most queries of a page.
    """
    if not any(expressions):
        return relation
    return relation.project(
        ", ".join((text or "{}").format(f"#{n}") for n, text in enumerate(expressions, 1))
    )


def _found(
    relation: duckdb.DuckDBPyRelation, meanings: Mapping[str, Column], rows: list[list[Any]]
) -> dict[str, Any]:
    columns = [
        {
            "name": name,
            "unit": meanings[name].unit if name in meanings else _unit(name),
            "meaning": meanings[name].meaning if name in meanings else "",
            "numeric": NUMERIC.fullmatch(str(kind)) is not None or str(kind) == "BIGNUM",
        }
        for name, kind in zip(relation.columns, relation.types, strict=True)
    ]
    values = [list(column) for column in zip(*rows, strict=True)]
    return {"columns": columns, "values": values, "rows": len(rows)}


def _is_long(value: Any) -> bool:
    return isinstance(value, str) and len(value) > MOST_CHARACTERS


def _shortened(value: Any) -> Any:
    return value[:MOST_CHARACTERS] + "…" if _is_long(value) else value


def _exact(value: Any) -> Any:
    """Return a value for JSON: numbers that JSON or a browser cannot represent become text."""
    if isinstance(value, list | tuple):
        return [_exact(each) for each in value]
    is_lost = (isinstance(value, int) and abs(value) > LARGEST) or (
        isinstance(value, float) and not math.isfinite(value)
    )
    return str(value) if is_lost else value


def _unit(name: str) -> str:
    """Return the unit at the end of a column name."""
    ending = name.rpartition("_")[2]
    return ending if ending in ("us", "ms", "ns", "bytes", "pct") else "-"
