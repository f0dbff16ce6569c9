"""The columns of a table of pipeline operations, and which of them a file has."""

from __future__ import annotations

from pathlib import Path

from tracewh.files import File
from tracewh.ingest.sources.files import RemoteFile
from tracewh.schema import tables

PARQUET_START = b"PAR1"
#: A table that has these is taken for one of pipeline operations; what else it lacks is an error.
TELLING = {"optype", "start_ts"}


def wanted_columns() -> list[str]:
    """All columns that a file must have."""
    return [column.name for column in tables()["pipeline_operations"].columns]


def is_operations(file: File, start: bytes) -> bool:
    """Whether a file is a table of pipeline operations.

    Args:
        file: The file.
        start: Its first bytes, decompressed.
    """
    if not start.startswith(PARQUET_START):
        return set(_header(start)) >= TELLING
    return set(parquet_columns(file)) >= TELLING


def parquet_columns(file: File) -> list[str]:
    """The names of the columns of a Parquet file; none if it is damaged."""
    import pyarrow.parquet  # loads a compiled library

    try:
        if isinstance(file, RemoteFile):
            filesystem = file.location.filesystem
            return list(pyarrow.parquet.read_schema(file.key, filesystem=filesystem).names)
        return list(pyarrow.parquet.read_schema(Path(str(file))).names)
    except (OSError, ValueError):
        return []


def _header(start: bytes) -> list[str]:
    """The fields of the first line of a text."""
    first = start.partition(b"\n")[0].decode("utf-8-sig", errors="replace")
    return [name.strip(' "\r') for name in first.split(",")]
