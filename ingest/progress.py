"""Progress of an ingest, counted over all its workers."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from tracewh.ingest.result import FileResult, file_size
from tracewh.ingest.sources.discover import Source


@dataclass(frozen=True, slots=True)
class Progress:
    """Progress of an ingest: files and stored bytes, read and in total, and events so far."""

    files_total: int
    files_done: int
    bytes_total: int
    bytes_done: int
    events: int


class Meter:
    """Adds up the progress of all workers and reports it to the caller, one call at a time."""

    def __init__(
        self,
        sources: Sequence[Source],
        on_progress: Callable[[Progress], None] | None = None,
        on_result: Callable[[FileResult], None] | None = None,
    ) -> None:
        total = sum(map(file_size, sources))
        self._now = Progress(len(sources), 0, total, 0, 0)
        self._on_progress = on_progress
        self._on_result = on_result
        self._lock = threading.Lock()
        self._stopped = False
        #: Whether a callback of the caller raised an error; the caller then gets that error.
        self.failed = False

    def read(self, count: int) -> None:
        """Count bytes that were read. Raises InterruptedError if the ingest was interrupted."""
        self.check(count)
        self._tell(bytes_done=count)

    def check(self, _: int) -> None:
        """Count nothing. Raises InterruptedError if the ingest was interrupted."""
        if self._stopped:
            raise InterruptedError

    def count(self, events: int) -> None:
        """Count events."""
        self._tell(events=events)

    def finish(self, result: FileResult) -> None:
        """Count a finished file and report its result."""
        if self._stopped:
            raise InterruptedError
        with self._lock:
            if self._on_result:
                self._on_result(result)
        self._tell(files_done=1)

    def stop(self) -> None:
        """End the workers at their next read."""
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
