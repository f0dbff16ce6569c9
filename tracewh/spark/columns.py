"""Columns of tables whose Parquet files Spark reads itself."""

from __future__ import annotations

from collections.abc import Iterable

from tracewh.storage import layout
from tracewh.views.listing import Listing


def read_columns(names: Iterable[str], listing: Listing) -> list[str]:
    """The columns of a table in Spark SQL. Spark decodes the %C3%BC of a ü in a path as two letters.

    Args:
        names: The names of the columns.
        listing: The traces; if all have names in ASCII, nothing is decoded again.
    """
    ascii_only = all(getattr(t, key).isascii() for t in listing.traces for key in layout.KEYS)
    return [
        f"`{name}`"
        if ascii_only or name not in layout.KEYS
        else f"DECODE(ENCODE(`{name}`, 'ISO-8859-1'), 'UTF-8') AS `{name}`"
        for name in names
    ]
