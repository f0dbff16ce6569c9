"""What tracewh needs of a file to read it, wherever it is."""

from __future__ import annotations

import io
from typing import Literal, Protocol


class Stat(Protocol):
    """What is known of a file without reading it."""

    @property
    def st_size(self) -> int:
        """Bytes."""

    @property
    def st_mtime_ns(self) -> int:
        """When it was last written, in nanoseconds since the epoch; 0 where a store cannot say."""


class File(Protocol):
    """What ingest needs of a file: a part of `pathlib.Path`, so that local files are just that.

    `str(file)` is what users see, and what a warehouse records as the trace's path.
    """

    @property
    def name(self) -> str:
        """Its name in its folder."""

    def open(self, mode: Literal["rb"], /) -> io.BufferedReader:
        """Its bytes, from the first."""

    def stat(self) -> Stat:
        """Its size and time."""
