"""What a warehouse holds, as one text to look for words in. Parquet compresses texts: their bytes do not show them."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pyarrow.parquet as pq


def everything(warehouse: Path) -> str:
    """Every byte of a warehouse as text, and all values of its Parquet files and of its database."""
    found = []
    for path in warehouse.rglob("*"):
        if path.is_file():
            found.append(path.read_bytes().decode("latin-1"))
        if path.suffix == ".parquet":
            file = pq.ParquetFile(path)
            found += [
                str(file.schema_arrow),
                str(file.metadata.metadata),
                str(file.read().to_pydict()),
            ]
    if (warehouse / "tracewh.duckdb").exists():
        with duckdb.connect(str(warehouse / "tracewh.duckdb"), read_only=True) as con:
            found.append(str(con.execute("SELECT * FROM duckdb_views()").fetchall()))
    return "\n".join(found)
