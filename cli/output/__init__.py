"""Write rows as text: tables for people, and csv, json, markdown, parquet and xlsx."""

from tracewh.cli.output.output import Format, Output, atomic_write, parse_integer
from tracewh.cli.output.progress import describe_result, format_bytes

__all__ = [
    "Format",
    "Output",
    "atomic_write",
    "describe_result",
    "format_bytes",
    "parse_integer",
]
