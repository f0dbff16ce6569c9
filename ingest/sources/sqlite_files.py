"""Open SQLite files of profilers for reading."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

from tracewh.files import File

#: The first bytes of every SQLite file.
SQLITE_START = b"SQLite format 3\0"


def uri(path: Path) -> str:
    """The address of a file that is only read, and that nobody changes at the same time."""
    return f"file:{quote(str(path))}?mode=ro&immutable=1"


@contextmanager
def opened(path: Path) -> Iterator[sqlite3.Connection]:
    """Open a file for reading.

    Raises:
        sqlite3.Error: It cannot be opened.
    """
    con = sqlite3.connect(uri(path), uri=True, check_same_thread=False)
    # A text that is not UTF-8 must not end the ingest.
    con.text_factory = lambda data: data.decode("utf-8", "replace")
    try:
        yield con
    finally:
        con.close()


def table_names(file: File) -> set[str]:
    """The names of the tables and views of a local file; none of a file elsewhere.

    Raises:
        sqlite3.Error: It cannot be opened, or is damaged.
    """
    if not isinstance(file, Path):
        return set()
    with opened(file) as con:
        rows = con.execute(
            "SELECT s.name FROM sqlite_master AS s WHERE s.type IN ('table', 'view')"
        )
        return {str(name) for (name,) in rows}


def missing_bytes(path: Path) -> int:
    """Number of bytes that are missing at the end of a file, by the number of pages in its header."""
    with path.open("rb") as file:
        head = file.read(100)
        file.seek(0, 2)
        size = file.tell()
    if len(head) < 100:
        return 100 - len(head)
    page = int.from_bytes(head[16:18], "big")
    page = 65536 if page == 1 else page
    # The number of pages counts only if the two change counters agree.
    if head[24:28] != head[92:96]:
        return 0
    return max(0, page * int.from_bytes(head[28:32], "big") - size)
