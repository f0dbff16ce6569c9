"""Rewrite a DuckDB query so that its translation to Spark SQL gives the same results.

    100.0 * a.ns / b.ns            ->  CAST(100.0 * a.ns AS DOUBLE) / b.ns
    (t.weight >> 24) & 255         ->  t.weight % 4294967296 DIV 16777216
    t.names[1]                     ->  TRY_ELEMENT_AT(t.names, 1)

sqlglot then translates the query. This module covers only what sqlglot gets wrong, and only the expressions
that occur in views with `carries: spark`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import sqlglot
from sqlglot import exp

#: A function that replaces a node of the class that it is listed with.
Rewrite = Callable[[Any], exp.Expression]


class RewriteError(Exception):
    """A query contains an expression that cannot be translated to Spark SQL."""


def to_spark_sql(query: exp.Query) -> exp.Query:
    """Rewrite a DuckDB query for translation to Spark SQL.

    Args:
        query: The query; it is changed in place.

    Raises:
        RewriteError: It contains an expression that cannot be translated.
    """
    holder = exp.Subquery(this=query)  # sqlglot can only replace nodes that have a parent
    _order_windows(holder)
    for kind, rewrite in _REWRITES:
        for node in reversed(list(holder.find_all(kind))):  # the inner ones first
            if (new := rewrite(node)) is not node:
                node.replace(new)
    found: exp.Query = holder.this
    return found


def _order_windows(holder: exp.Subquery) -> None:
    """Give an order to windows without one, where DuckDB reads rows in the order of their CTE.

    If the first column is called key, as in blocks, it is the partition of the windows. If rows are
    numbered in any order, they are numbered by their GROUP BY columns: Spark computes a CTE again for
    each query that reads it, and all have to see the same numbers.
    """
    ordered = _ordered(holder)
    for window in list(holder.find_all(exp.Window)):
        if any(window.args.get(part) for part in ("order", "partition_by", "alias")):
            continue
        select = window.find_ancestor(exp.Select)
        assert select is not None
        source = select.args["from_"].this
        if source.name in ordered and not select.args.get("joins"):
            keys = [by.copy() for by in ordered[source.name]]
            for by in keys:
                by.set("this", exp.column(by.this.name, table=source.alias_or_name))
            if keys[0].this.name == "key":
                window.set("partition_by", [keys.pop(0).this])
        elif isinstance(window.this, exp.RowNumber) and select.args.get("group"):
            keys = [exp.Ordered(this=key.copy()) for key in select.args["group"].expressions]
        elif isinstance(window.this, (exp.RowNumber, exp.Lead, exp.Lag)):
            raise _refused("a window without an order", window)
        else:
            continue
        window.set("order", exp.Order(expressions=keys))


def _ordered(holder: exp.Subquery) -> dict[str, list[exp.Ordered]]:
    """The sort keys of each CTE: those of its ORDER BY, or those of the CTE that it reads if it selects them."""
    ctes = {cte.alias: cte.this for cte in holder.find_all(exp.CTE)}
    ordered = {
        name: cte.args["order"].expressions for name, cte in ctes.items() if cte.args.get("order")
    }
    for _ in ctes:  # each may read another
        for name, cte in ctes.items():
            source = cte.args.get("from_")
            keys = ordered.get(source.this.name) if source else None
            mixes = any(cte.args.get(part) for part in ("joins", "group", "distinct"))
            if name not in ordered and keys and not mixes:
                handed_on = {
                    column.name for column in cte.expressions if isinstance(column, exp.Column)
                }
                if handed_on >= {by.this.name for by in keys}:
                    ordered[name] = keys
    return ordered


def _spark(template: str, *values: exp.Expression) -> exp.Expression:
    """An expression in Spark's SQL, with values for $0, $1, ..."""
    tree = exp.Paren(this=sqlglot.parse_one(template, dialect="spark"))
    for place in list(tree.find_all(exp.Parameter)):
        place.replace(values[int(place.name)].copy())
    for size in list(
        tree.find_all(exp.ArraySize)
    ):  # the SIZE that sqlglot writes may return -1 for NULL
        size.replace(exp.Anonymous(this="ARRAY_SIZE", expressions=[size.this]))
    found: exp.Expression = tree.this
    return found


def _refused(what: str, node: exp.Expression) -> RewriteError:
    return RewriteError(f"{what}: {node.sql('duckdb')}")


def _integer(node: exp.Expression) -> int:
    """The value of a constant integer expression."""
    if isinstance(node, (exp.Paren, exp.Cast)):
        return _integer(node.this)
    if isinstance(node, exp.Literal) and node.is_int:
        return int(node.this)
    if isinstance(node, exp.BitwiseLeftShift):
        return _integer(node.this) << _integer(node.expression)
    if isinstance(node, exp.Sub):
        return _integer(node.this) - _integer(node.expression)
    raise _refused("not a constant", node)


def _number(value: int) -> exp.Expression:
    return exp.cast(exp.Literal.number(value), "BIGINT" if value < 2**63 else "DECIMAL(38, 0)")


def _power(node: exp.Expression) -> exp.Expression:
    return _number(1 << _integer(node))


def _shift_left(node: exp.Expression) -> exp.Expression:
    """Multiply instead of shifting: a HUGEINT of DuckDB is a DECIMAL in Spark, which cannot be shifted."""
    return _spark("($0 * $1)", exp.paren(node.this), _power(node.expression))


def _shift_right(node: exp.Expression) -> exp.Expression:
    return _spark("($0 DIV $1)", exp.paren(node.this), _power(node.expression))


def _low_bits(node: exp.Expression) -> exp.Expression:
    """Rewrite `(x >> 24) & 255`. The modulo comes first, because the result of DIV is a BIGINT."""
    count = _integer(node.expression) + 1
    if count & (count - 1):
        raise _refused("not a mask of low bits", node)
    whole = node.this.unnest()
    if not isinstance(whole, exp.BitwiseRightShift):
        return _spark("($0 % $1)", exp.paren(whole), _number(count))
    shift = 1 << _integer(whole.expression)
    return _spark("($0 % $1 DIV $2)", exp.paren(whole.this), _number(count * shift), _number(shift))


def _type(node: exp.Cast) -> exp.Expression:
    if node.to.is_type(exp.DType.INT128):  # a DECIMAL of 38 digits holds 126 bits
        node.set("to", exp.DataType.build("DECIMAL(38, 0)"))
    elif isinstance(node, exp.TryCast) and node.to.is_type(exp.DType.ARRAY):
        return _spark("FROM_JSON($0, $1)", node.this, exp.Literal.string(node.to.sql("spark")))
    return node


def _quotient(node: exp.Div) -> exp.Expression:
    """Divide as DOUBLE: the quotient of two decimals is a decimal in Spark."""
    node.set("this", exp.cast(node.this, "DOUBLE"))
    return node


def _list(node: exp.ArrayAgg) -> exp.Expression:
    """Sort a list after it is collected, as COLLECT_LIST has no order: collect structs with the sort keys."""
    value, order = node.this, []
    if isinstance(value, exp.Order):
        value, order = value.this, value.expressions
    if isinstance(value, exp.Distinct) and (not order or order[0].this == value.expressions[0]):
        return _spark("ARRAY_SORT(COLLECT_SET($0))", value.expressions[0])
    partial = isinstance(node.parent, (exp.Filter, exp.Window))
    if not order or partial or any(by.args.get("desc") for by in order):
        raise _refused("a list", node)
    # In DuckDB NULL sorts last; in a struct of Spark it sorts first.
    fields = [field for by in order for field in (_spark("$0 IS NULL", by.this), by.this)] + [value]
    names = [f"f{number}" for number in range(len(fields))]
    struct = ", ".join(f"'{name}', ${number}" for number, name in enumerate(names))
    return _spark(
        f"TRANSFORM(ARRAY_SORT(COLLECT_LIST(NAMED_STRUCT({struct}))), row -> row.{names[-1]})",
        *fields,
    )


def _joined(node: exp.GroupConcat) -> exp.Expression:
    """Join a set instead: in Spark, LISTAGG(DISTINCT) fails next to other aggregates of distinct values."""
    order = node.this
    if not isinstance(order, exp.Order) or not isinstance(order.this, exp.Distinct):
        return node
    joined = "ARRAY_JOIN(ARRAY_SORT(COLLECT_SET($0)), $1)"
    return _spark(
        f"CASE WHEN COUNT($0) > 0 THEN {joined} END",
        order.this.expressions[0],
        node.args["separator"],
    )


def _element(node: exp.Bracket) -> exp.Expression:
    """Index a list from 1 (sqlglot stores the index from 0); an index outside the list gives NULL."""
    (index,) = node.expressions
    if not index.is_int:
        raise _refused("an element", node)
    return _spark("TRY_ELEMENT_AT($0, $1)", node.this, exp.Literal.number(int(index.name) + 1))


def _message(node: exp.Format) -> exp.Expression:
    """Use CONCAT, which is NULL if a value is NULL, as in DuckDB; FORMAT_STRING would write 'null'."""
    first, *texts = node.this.name.split("{}")
    if "{" in first.join(texts) or len(texts) != len(node.expressions):
        raise _refused("a format", node)
    parts = [exp.Literal.string(first)]
    for value, text in zip(node.expressions, texts, strict=True):
        parts += [value, exp.Literal.string(text)]
    return exp.Anonymous(
        this="CONCAT", expressions=[part for part in parts if part.name or not part.is_string]
    )


def _series(node: exp.GenerateSeries) -> exp.Expression:
    if not isinstance(node.parent, exp.Table):
        return node
    return exp.Anonymous(this="RANGE", expressions=[node.args["start"], node.args["end"]])


def _folded(start: int, merge: str) -> str:
    """Fold the values of a list into one DOUBLE; NULL for an empty list."""
    values = "ARRAY_COMPACT($0)"
    folded = f"AGGREGATE({values}, DOUBLE({start}), (a, b) -> {merge})"
    return f"CASE WHEN ARRAY_SIZE({values}) > 0 THEN {folded} END"


#: Functions that sqlglot does not know.
_CALLS = {
    "error": "RAISE_ERROR($0)",
    "isfinite": "($0 > DOUBLE('-Infinity') AND $0 < DOUBLE('Infinity'))",
    "json_array_length": "JSON_ARRAY_LENGTH(GET_JSON_OBJECT($0, $1))",
    "list_count": "ARRAY_SIZE(ARRAY_COMPACT($0))",
    "list_extract": "TRY_ELEMENT_AT($0, CAST($1 AS INT))",
    "list_position": "NULLIF(ARRAY_POSITION($0, $1), 0)",
    "list_product": _folded(1, "a * b"),
    "list_sum": _folded(0, "a + b"),
}


def _call(node: exp.Anonymous) -> exp.Expression:
    name = node.name.lower()
    return _spark(_CALLS[name], *node.expressions) if name in _CALLS else node


def _as(template: str) -> Rewrite:
    return lambda node: _spark(template, *node.iter_expressions())


_REWRITES: tuple[tuple[type[exp.Expression], Rewrite], ...] = (
    (exp.BitwiseAnd, _low_bits),
    (exp.BitwiseRightShift, _shift_right),
    (exp.BitwiseLeftShift, _shift_left),
    (exp.Cast, _type),
    (exp.Div, _quotient),
    (exp.ArrayAgg, _list),
    (exp.GroupConcat, _joined),
    (exp.Bracket, _element),
    (exp.Anonymous, _call),
    (exp.Format, _message),
    (exp.GenerateSeries, _series),
    (exp.Length, _as("ARRAY_SIZE($0)")),
    (exp.ArrayDistinct, _as("ARRAY_DISTINCT(ARRAY_COMPACT($0))")),
    (exp.PercentileCont, _as("PERCENTILE($0, $1)")),
)
