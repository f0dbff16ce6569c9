"""Progress of an ingest, counted over all its workers."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from tracewh.ingest.result import FileResult, size
from tracewh.ingest.sources.discover import Source


@dataclass(frozen=True, slots=True)
class Progress:
    """How far an ingest is: files and stored bytes read, of how many, and events seen."""

    files_total: int
    files_done: int
    bytes_total: int
    bytes_done: int
    events: int


class Meter:
    """Counts what all workers do and tells the caller, one call at a time."""

    def __init__(
        self,
        sources: Sequence[Source],
        on_progress: Callable[[Progress], None] | None = None,
        on_result: Callable[[FileResult], None] | None = None,
    ) -> None:
        total = sum(map(size, sources))
        self._now = Progress(len(sources), 0, total, 0, 0)
        self._on_progress = on_progress
        self._on_result = on_result
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

    def finish(self, outcome: FileResult) -> None:
        """A file is done with."""
        if self._stopped:
            raise InterruptedError
        with self._lock:
            if self._on_result:
                self._on_result(outcome)
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
