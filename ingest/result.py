"""The results of an ingest, one per trace and per refused file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from tracewh.errors import RefusedError
from tracewh.files import File, printable
from tracewh.ingest.sources.discover import Source

if TYPE_CHECKING:
    from tracewh.storage.store import StoredTrace


@dataclass(frozen=True, slots=True)
class FileResult:
    """The result of a trace, or of a file that was refused. A file with several processes has one for each of them.

    Attributes:
        source: The file: a Path; for a file in an object store, an object whose `str()` is the URL.
        status: What happened to the file.
        reason: Why it was refused, in one line; otherwise ''.
        run: Name of its run; None if it was refused, as for worker and span.
        worker: Name of its worker.
        span: Name of its span.
        source_bytes: Size of the file.
        stored_bytes: Size of the Parquet files of the trace.
        events: Number of events of the trace.
        skipped_events: Number of events that could not be read.
        repairs: Counts of repairs and skipped data, by the causes of docs/repairs.md.
        seconds: Duration of its ingest.
    """

    source: File
    status: Literal["ingested", "unchanged", "refused"]
    reason: str = ""
    run: str | None = None
    worker: str | None = None
    span: str | None = None
    source_bytes: int = 0
    stored_bytes: int = 0
    events: int = 0
    skipped_events: int = 0
    repairs: Mapping[str, int] = field(default_factory=dict)
    seconds: float = 0.0


def unchanged(source: Source, known: StoredTrace) -> FileResult:
    """The result of a file that was ingested before."""
    return FileResult(
        source.path,
        "unchanged",
        run=known.run,
        worker=known.worker,
        span=known.span,
        source_bytes=file_size(source),
        stored_bytes=known.stored_bytes,
        events=known.origin.events,
    )


def refused(source: Source, error: RefusedError) -> FileResult:
    """The result of a file that cannot be ingested."""
    name = str(source.path)
    path = source.path if name == printable(name) else Path(printable(name))
    return FileResult(path, "refused", str(error), source_bytes=file_size(source))


def file_size(source: Source) -> int:
    """Size of a file in bytes; 0 if it no longer exists, which its ingest reports."""
    try:
        return source.path.stat().st_size
    except OSError:
        return 0
