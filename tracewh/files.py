"""The protocol of a file to read, local or remote, and its name as text that can be printed."""

from __future__ import annotations

import io
import unicodedata
from typing import Literal, Protocol


class Stat(Protocol):
    """Size and modification time of a file."""

    @property
    def st_size(self) -> int:
        """Size in bytes."""

    @property
    def st_mtime_ns(self) -> int:
        """Modification time in nanoseconds since the epoch; 0 if a store does not report it."""


class File(Protocol):
    """A file that ingest can read: a subset of the methods of `pathlib.Path`, which is one.

    `str(file)` is shown to users, and stored in the warehouse as the path of the trace.
    """

    @property
    def name(self) -> str:
        """Name without the folder."""

    def open(self, mode: Literal["rb"], /) -> io.BufferedReader:
        """Open it for reading."""

    def stat(self) -> Stat:
        """Size and modification time."""


def visible(text: str, kept: str = "") -> str:
    """Return a text with control characters escaped, but for those that are kept: a terminal would run them."""
    if text.isprintable():
        return text
    return "".join(
        char
        if char in kept or unicodedata.category(char) not in ("Cc", "Cf", "Cs", "Zl", "Zp")
        else char.encode("unicode_escape").decode("ascii")
        for char in text
    )


def printable(name: str) -> str:
    """Return a name with an escape for what is not UTF-8: Python has a surrogate for each such byte of a path."""
    return name.encode("utf-8", "backslashreplace").decode()
