"""What each column of a table adds up to, as each of the engines that read its files finds it.

A number adds up as it is, an instant as microseconds since the epoch, a text or a list as its length;
and then it counts how many are NULL. Whole numbers are exact, others are text of twelve digits.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from typing import TYPE_CHECKING, Any

from tracewh.storage.layout import KEYS
from tracewh.views import Column, Spec

if TYPE_CHECKING:
    import duckdb
    from pyspark.sql import DataFrame

#: By column.
Sums = dict[str, tuple[int | str | None, int]]


def by_duckdb(rows: duckdb.DuckDBPyRelation, table: Spec) -> Sums:
    sums = {
        "whole": "sum({}::HUGEINT)",
        "number": "sum({})",
        "text": "sum(length({}::VARCHAR))",
        "list": "sum(len({}))",
        "instant": "sum(epoch_us({}))",
    }
    added = [sums[_kind(column)].format(f'"{column.name}"') for column in table.columns]
    missing = [f'count(*) - count("{column.name}")' for column in table.columns]
    (row,) = rows.aggregate(", ".join(added + missing)).fetchall()
    return _sums(table, row)


def by_spark(frames: Sequence[DataFrame], tables: Sequence[Spec]) -> list[Sums]:
    """All tables in one job."""
    from pyspark.sql import functions as f

    sums: dict[str, Callable[[Any], Any]] = {
        "whole": lambda c: f.sum(c.cast("decimal(20,0)")),
        "number": f.sum,
        "text": lambda c: f.sum(f.length(c)),
        "list": lambda c: f.sum(f.size(c)),
        "instant": lambda c: f.sum(f.unix_micros(c).cast("decimal(20,0)")),
    }
    rows = []
    for number, (frame, table) in enumerate(zip(frames, tables, strict=True)):
        columns = [(f.col(column.name), _kind(column)) for column in table.columns]
        added = [sums[kind](column).cast("string") for column, kind in columns]
        missing = [f.count_if(column.isNull()).cast("string") for column, _ in columns]
        rows.append(frame.select(f.lit(number), f.array(*added, *missing)))
    found = reduce(lambda one, other: one.unionAll(other), rows).collect()
    return [_sums(table, [_number(text) for text in found[n][1]]) for n, table in enumerate(tables)]


def by_polars(files: list[str], table: Spec) -> Sums:
    import polars

    schema = {key: polars.String for key in KEYS}
    rows = polars.scan_parquet(files, hive_partitioning=True, hive_schema=schema)
    sums: dict[str, Callable[[polars.Expr], polars.Expr]] = {
        "whole": lambda c: c.cast(polars.Int128),
        "number": lambda c: c,
        "text": lambda c: c.cast(polars.String).str.len_chars().cast(polars.Int64),  # JSON is bytes
        "list": lambda c: c.list.len().cast(polars.Int64),
        "instant": lambda c: c.dt.epoch("us"),
    }
    found = rows.select(
        *(sums[_kind(c)](polars.col(c.name)).sum().alias(c.name) for c in table.columns),
        *(polars.col(c.name).null_count().alias(f"{c.name} NULL") for c in table.columns),
        polars.len().alias("rows"),
    ).collect()
    *row, count = found.row(0)
    middle = len(table.columns)
    # To Polars nothing adds up to 0.
    added = [None if row[middle + n] == count else row[n] for n in range(middle)]
    return _sums(table, added + row[middle:])


def by_arrow(files: Sequence[str], table: Spec) -> Sums:
    import pyarrow as pa
    import pyarrow.compute as pc
    from pyarrow import dataset

    keys = pa.schema([(key, pa.string()) for key in KEYS])
    parts = dataset.partitioning(keys, flavor="hive")
    rows = dataset.dataset(files, format="parquet", partitioning=parts).to_table()
    sums: dict[str, Callable[[Any], Any]] = {
        "whole": lambda c: c.cast(pa.int64()).cast(pa.decimal128(38, 0)),
        "number": lambda c: c,
        "text": lambda c: pc.utf8_length(c).cast(pa.int64()),
        "list": lambda c: pc.list_value_length(c).cast(pa.int64()),
        "instant": lambda c: c.cast(pa.timestamp("us", "UTC")).cast(pa.int64()),
    }
    added = [pc.sum(sums[_kind(c)](rows[c.name])).as_py() for c in table.columns]
    return _sums(table, added + [rows[c.name].null_count for c in table.columns])


def _kind(column: Column) -> str:
    """What is added up of a column."""
    if column.type.endswith("[]"):
        return "list"
    if column.type.startswith("TIMESTAMP"):
        return "instant"
    return {"DOUBLE": "number", "VARCHAR": "text", "JSON": "text"}.get(column.type, "whole")


def _number(text: str | None) -> float | int | None:
    if text is None:
        return None
    return float(text) if "." in text or "E" in text else int(text)


def _sums(table: Spec, row: Sequence[Any]) -> Sums:
    """From what all columns add up to, and how many of each are NULL."""
    middle = len(table.columns)
    return {
        column.name: (_exact(column, added), missing)
        for column, added, missing in zip(table.columns, row[:middle], row[middle:], strict=True)
    }


def _exact(column: Column, added: Any) -> int | str | None:
    if added is None:
        return None
    return f"{added:.12g}" if _kind(column) == "number" else int(added)
