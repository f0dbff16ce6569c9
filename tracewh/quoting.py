"""Quote identifiers, strings and paths in SQL."""

from __future__ import annotations

import glob
from pathlib import Path


def quote_identifier(name: str) -> str:
    """Return a name as an SQL identifier."""
    return '"' + name.replace('"', '""') + '"'


def quote_literal(text: str) -> str:
    """Return a text as an SQL string literal."""
    return "'" + text.replace("'", "''") + "'"


def quote_file(path: str | Path) -> str:
    """Return the path of a local file as an SQL string literal, for a function of DuckDB that reads files.

    In a path, also in a list of paths, these functions take `[`, `*` and `?` for a pattern.
    """
    return quote_literal(glob.escape(str(path)))
