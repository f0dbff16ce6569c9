"""Read the rows of a DuckDB query as Arrow batches."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow as pa


def read_batches(reader: pa.RecordBatchReader) -> Iterator[pa.RecordBatch]:
    """Yield the batches of a query that runs while they are read.

    Args:
        reader: What `to_arrow_reader` of DuckDB returns.

    Raises:
        duckdb.Error: The query fails. After its first rows, Arrow would raise OSError instead.
    """
    while (batch := _next(reader)) is not None:
        yield batch


def _next(reader: pa.RecordBatchReader) -> pa.RecordBatch | None:
    try:
        return next(reader, None)
    except OSError as error:
        import duckdb

        text = str(error)
        if text.startswith("Out of Memory Error"):
            raise duckdb.OutOfMemoryException(text) from None
        raise duckdb.Error(text) from None
