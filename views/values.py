"""Convert Python values to values of a DuckDB type, and to SQL literals."""

from __future__ import annotations

import functools
from decimal import Decimal, InvalidOperation
from typing import Any

import duckdb

from tracewh.quoting import quote_literal


class ConversionError(ValueError):
    """A value does not fit a type."""


@functools.cache
def _scratch() -> duckdb.DuckDBPyConnection:
    return duckdb.connect()


def convert(value: Any, sql_type: str) -> Any:
    """Convert a value to a type with DuckDB's own cast, which decides what fits its types.

    Raises:
        ConversionError: The value has another type, or the conversion would lose information.
    """
    # DuckDB does not convert a single integer of NumPy, such as the largest value of a pandas column.
    if type(value).__module__ == "numpy" and value.ndim == 0 and value.dtype.kind in "biuf":
        value = value.item()
    if sql_type == "VARCHAR" and isinstance(value, str):
        return value
    if sql_type == "VARCHAR" and isinstance(value, (list, tuple, dict, set)):
        raise ConversionError  # DuckDB would convert it to text
    try:
        row = _scratch().cursor().execute(f"SELECT CAST(? AS {sql_type})", [value]).fetchone()
    except duckdb.Error:
        raise ConversionError from None
    assert row is not None
    if type(row[0]) is int:  # the cast alone would make 3 of 2.7 and 1 of True
        try:
            exact = Decimal(str(value).strip()) == row[0]
        except InvalidOperation:
            exact = False
        if not exact:
            raise ConversionError
    return row[0]


def literal(value: Any, sql_type: str) -> str:
    """Return a value from `convert` as a SQL literal."""
    if value is None or isinstance(value, bool):
        return {None: "NULL", True: "true", False: "false"}[value]
    if isinstance(value, int):
        return str(value)
    if isinstance(value, str):
        return quote_literal(value)
    if isinstance(value, list):
        return f"[{', '.join(literal(item, sql_type.removesuffix('[]')) for item in value)}]"
    return f"CAST({quote_literal(str(value))} AS {sql_type})"
