"""The rows of a query by column, as JSON and a browser keep them without a loss.

Numbers stay numbers where a browser has them exactly. Larger integers, DECIMAL, NaN and infinities
become text, and so does every type that JSON does not have, as DuckDB writes it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from tracewh.cli.output import NUMERIC

if TYPE_CHECKING:
    import duckdb

    from tracewh.views import Column

#: The largest integer up to which a browser, which counts in doubles, has all of them.
LARGEST = 2**53 - 1
#: Types whose values Python receives whole, and lists of them. All else comes as DuckDB's text.
PLAIN = re.compile(
    r"(U?(TINYINT|SMALLINT|INTEGER|BIGINT|HUGEINT)|FLOAT|DOUBLE|BOOLEAN|VARCHAR)(\[\d*\])*"
)


def by_column(relation: duckdb.DuckDBPyRelation, meanings: Mapping[str, Column]) -> dict[str, Any]:
    """The rows of a relation by column, with what is known of each column."""
    if len(set(relation.columns)) < len(relation.columns):
        relation = relation.project("*")  # numbers the names that occur twice
    kinds = [str(kind) for kind in relation.types]
    columns = [
        {
            "name": name,
            "unit": meanings[name].unit if name in meanings else _unit(name),
            "meaning": meanings[name].meaning if name in meanings else "",
            "numeric": NUMERIC.fullmatch(kind) is not None or kind == "BIGNUM",
        }
        for name, kind in zip(relation.columns, kinds, strict=True)
    ]
    rows = _plain(relation, kinds).fetchall()
    values = [[_exact(value) for value in column] for column in zip(*rows, strict=True)]
    return {"columns": columns, "values": values, "rows": len(rows)}


def _plain(relation: duckdb.DuckDBPyRelation, kinds: list[str]) -> duckdb.DuckDBPyRelation:
    """The relation with text in place of every type that is not plain."""
    if all(PLAIN.fullmatch(kind) for kind in kinds):
        return relation
    picked = ", ".join(
        f"_t.c{n}" if PLAIN.fullmatch(kind) else f"CAST(_t.c{n} AS VARCHAR)"
        for n, kind in enumerate(kinds)
    )
    names = ", ".join(f"c{n}" for n in range(len(kinds)))
    texts = relation.query("_result", f"SELECT {picked} FROM _result AS _t({names})")
    assert texts is not None
    return texts


def _exact(value: Any) -> Any:
    """A value as JSON, with text in place of numbers that JSON or a browser does not have."""
    if isinstance(value, list | tuple):
        return [_exact(each) for each in value]
    is_lost = (isinstance(value, int) and abs(value) > LARGEST) or (
        isinstance(value, float) and not math.isfinite(value)
    )
    return str(value) if is_lost else value


def _unit(name: str) -> str:
    """The unit that a name ends in."""
    ending = name.rpartition("_")[2]
    return ending if ending in ("us", "ms", "ns", "bytes", "pct") else "-"
