"""Write rows as text: tables for people, and csv, json, markdown, parquet and xlsx."""

from tracewh.cli.output import text_formats
from tracewh.cli.output.output import (
    Format,
    Output,
    atomic_write,
    parse_integer,
    write_parquet,
)
from tracewh.cli.output.progress import describe_result, format_bytes

__all__ = [
    "Format",
    "Output",
    "atomic_write",
    "describe_result",
    "format_bytes",
    "parse_integer",
    "text_formats",
    "write_parquet",
]
