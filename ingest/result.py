"""What became of each file, and how far an ingest is."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal

from tracewh.errors import RefusedError
from tracewh.ingest.sources.discover import Source
from tracewh.ingest.sources.files import File

if TYPE_CHECKING:
    from tracewh.ingest.ingest_trace import Taken
    from tracewh.storage.local_store import Known


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of one file. Sizes in bytes; `reason` is one line, '' unless refused.

    `repairs` says what was repaired or left out of a file that was ingested, and how often.
    `source` is a Path, or for a file in a store an object that is its URL in text.
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


@dataclass(frozen=True, slots=True)
class Progress:
    """How far an ingest is: files and stored bytes read, of how many, and events seen."""

    files_total: int
    files_done: int
    bytes_total: int
    bytes_done: int
    events: int


def ingested(source: Source, taken: Taken) -> Outcome:
    """The outcome of a file that was taken in."""
    return Outcome(
        source.path,
        "ingested",
        run=source.run,
        worker=source.worker,
        span=taken.span,
        source_bytes=size(source),
        stored_bytes=taken.stored_bytes,
        events=taken.events,
        skipped_events=taken.skipped_events,
        repairs=taken.repairs,
    )


def unchanged(source: Source, known: Known) -> Outcome:
    """The outcome of a file that is in already."""
    return Outcome(
        source.path,
        "unchanged",
        run=known.run,
        worker=known.worker,
        span=known.span,
        source_bytes=size(source),
        stored_bytes=known.stored_bytes,
        events=known.origin.events,
    )


def refused(source: Source, error: RefusedError) -> Outcome:
    """The outcome of a file that cannot be taken in."""
    return Outcome(source.path, "refused", str(error), source_bytes=size(source))


def size(source: Source) -> int:
    """Bytes of a file; 0 where it is gone, which its ingest will say."""
    try:
        return source.path.stat().st_size
    except OSError:
        return 0


class Meter:
    """Counts what all workers do and tells the caller, one call at a time."""

    def __init__(
        self,
        sources: Sequence[Source],
        on_progress: Callable[[Progress], None] | None = None,
        on_outcome: Callable[[Outcome], None] | None = None,
    ) -> None:
        total = sum(map(size, sources))
        self._now = Progress(len(sources), 0, total, 0, 0)
        self._on_progress = on_progress
        self._on_outcome = on_outcome
        self._lock = threading.Lock()
        self._stopped = False
        #: Whether a callback of the caller raised an error, which is the caller's to see.
        self.failed = False

    def read(self, count: int) -> None:
        """Bytes of a source were read. Ends the worker when the ingest was interrupted."""
        if self._stopped:
            raise InterruptedError
        self._tell(bytes_done=count)

    def count(self, events: int) -> None:
        """Events were seen."""
        self._tell(events=events)

    def settle(self, outcome: Outcome) -> None:
        """A file is done with."""
        if self._stopped:
            raise InterruptedError
        with self._lock:
            if self._on_outcome:
                self._on_outcome(outcome)
        self._tell(files_done=1)

    def stop(self) -> None:
        """Let workers end at their next read."""
        self._stopped = True

    def _tell(self, files_done: int = 0, bytes_done: int = 0, events: int = 0) -> None:
        with self._lock:
            self._now = replace(
                self._now,
                files_done=self._now.files_done + files_done,
                bytes_done=self._now.bytes_done + bytes_done,
                events=self._now.events + events,
            )
            if self._on_progress:
                try:
                    self._on_progress(self._now)
                except Exception:
                    self.failed = True
                    raise
