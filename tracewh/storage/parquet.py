"""The Parquet files of a warehouse: how they are compressed and cut into row groups."""

from __future__ import annotations

from pathlib import Path

import duckdb

from tracewh.quoting import quote_literal

#: Rows per row group: small enough that a time range touches few of them.
ROW_GROUP_ROWS = 61_440


def write_parquet(
    con: duckdb.DuckDBPyConnection, query: str, path: Path, level: int, by: str = ""
) -> None:
    """Write the rows of a query, in their order, to a Parquet file.

    Bloom filters would be a fifteenth of the bytes, and no value that people search for is rare enough
    to skip a row group.

    Args:
        con: Connection to run the query on.
        query: A SELECT statement.
        path: The file.
        level: Compression level of zstd.
        by: A column of the query that the files lack. If it is given, there is one file per value, in a folder
            beside `path`: `a/b.parquet` becomes `a/<by>=<value>/b0.parquet`. The database must have one thread.
    """
    parts = ""
    if by:
        parts = f"PARTITION_BY ({by}), FILENAME_PATTERN {quote_literal(path.stem)}, OVERWRITE_OR_IGNORE, "
        path = path.parent
    con.execute(f"""
        COPY ({query}) TO {quote_literal(str(path))} (
            {parts}FORMAT parquet, PARQUET_VERSION V2, WRITE_BLOOM_FILTER false,
            COMPRESSION zstd, COMPRESSION_LEVEL {level}, ROW_GROUP_SIZE {ROW_GROUP_ROWS}
        )
    """)
