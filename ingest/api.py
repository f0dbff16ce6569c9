"""`ingest` and `drop`: what a caller needs of this package."""

from __future__ import annotations

import hashlib
import os
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from tracewh.ingest.discover import Source, discover
from tracewh.ingest.errors import IngestError, RefusedError

if TYPE_CHECKING:
    from tracewh.ingest.store import Store, Stored

__all__ = ["IngestError", "Outcome", "Progress", "drop", "ingest"]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one file. Sizes in bytes; `reason` is one line, '' unless refused."""

    source: Path
    status: Literal["ingested", "unchanged", "refused"]
    reason: str = ""
    run: str | None = None
    worker: str | None = None
    span: str | None = None
    source_bytes: int = 0
    stored_bytes: int = 0
    events: int = 0
    skipped_events: int = 0
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Progress:
    """How far an ingest is: files and stored bytes read, of how many, and events seen."""

    files_total: int
    files_done: int
    bytes_total: int
    bytes_done: int
    events: int


def ingest(
    paths: Iterable[str | os.PathLike[str]],
    warehouse: str | os.PathLike[str],
    *,
    run: str | None = None,
    jobs: int | None = None,
    force: bool = False,
    on_progress: Callable[[Progress], None] | None = None,
    on_outcome: Callable[[Outcome], None] | None = None,
) -> list[Outcome]:
    """Take trace files into a warehouse.

    Args:
        paths: Files, run folders, or folders of many runs.
        warehouse: The warehouse's folder, made where it is missing.
        run: Name of the run instead of the folder's.
        jobs: Files taken in side by side; all cores by default.
        force: Take in files again that are in already.
        on_progress: Called often, from any thread, one call at a time.
        on_outcome: Called once per file, as soon as it is settled.

    Returns:
        One outcome per file, in the order of run, worker and span. A file that cannot be taken in
        is refused and leaves no trace in the warehouse; the others are not affected.

    Raises:
        IngestError: The call cannot start.
    """
    # Here, so that importing tracewh does not load DuckDB and Arrow.
    from tracewh.ingest.store import Store
    from tracewh.ingest.trace import MEMORY_BYTES, Limits, take_in

    if jobs is not None and jobs < 1:
        raise IngestError(f"jobs is {jobs}; it must be at least 1")
    sources = discover(paths, run)
    store = Store(Path(warehouse))
    store.make()
    plan = _plan(store, sources, force)
    meter = _Meter([source for source, _ in plan], on_progress, on_outcome)
    cores = os.cpu_count() or 1
    workers = min(jobs or cores, len(plan))
    limits = Limits(threads=max(1, cores // workers), memory_bytes=MEMORY_BYTES // workers)

    def settle(source: Source, known: Stored | None) -> Outcome:
        started = time.perf_counter()
        size = source.path.stat().st_size
        outcome = Outcome(
            source.path, "ingested", "", source.run, source.worker, source.span, source_bytes=size
        )
        if known is not None:
            meter.read(size)
            outcome = replace(
                outcome,
                status="unchanged",
                worker=known.worker,
                span=known.span,
                stored_bytes=known.stored_bytes,
                events=known.events,
            )
        else:
            try:
                taken = take_in(store, source, limits, meter.read, meter.count)
                outcome = replace(outcome, stored_bytes=taken.stored_bytes, events=taken.events)
            except RefusedError as error:
                outcome = Outcome(source.path, "refused", str(error), source_bytes=size)
        outcome = replace(outcome, seconds=time.perf_counter() - started)
        meter.settle(outcome)
        return outcome

    pool = ThreadPoolExecutor(workers)
    futures = [pool.submit(settle, *item) for item in plan]
    try:
        return [future.result() for future in futures]
    finally:
        meter.stop()
        pool.shutdown(cancel_futures=True)


def drop(
    warehouse: str | os.PathLike[str],
    run: str,
    worker: str | None = None,
    span: str | None = None,
) -> int:
    """Remove the traces of a run, or of one worker or span of it.

    Returns:
        The number of traces removed; 0 when nothing has that name.
    """
    from tracewh.ingest.store import Store

    return Store(Path(warehouse)).drop(run, worker, span)


def _plan(
    store: Store, sources: Iterable[Source], force: bool
) -> list[tuple[Source, Stored | None]]:
    """Each source with its span settled, and the stored trace that was made from the same bytes."""
    stored = list(store.traces())
    taken = {(trace.run, trace.worker, trace.span): trace.source_path for trace in stored}
    plan: list[tuple[Source, Stored | None]] = []
    for source in sources:
        known = None if force else _same_content(source, stored)
        if known is None:
            source = replace(source, span=_span(source, taken))
            taken[source.run, source.worker, source.span] = str(source.path)
        plan.append((source, known))
    return plan


def _span(source: Source, taken: dict[tuple[str, str, str], str]) -> str:
    """The span that the file has in the warehouse already; else its own, or the next free number."""
    path = str(source.path)
    for (run, worker, span), other in taken.items():
        if (run, worker, other) == (source.run, source.worker, path):
            return span
    span, number = source.span, 1
    while (source.run, source.worker, span) in taken:
        number += 1
        span = str(number)
    return span


def _same_content(source: Source, stored: Iterable[Stored]) -> Stored | None:
    """The trace of this run and worker that was made from the same bytes.

    A file that did not change since it was ingested is told without reading it.
    """
    stat = source.path.stat()
    alike = [
        trace
        for trace in stored
        if (trace.run, trace.worker) == (source.run, source.worker)
        and trace.source_bytes == stat.st_size
    ]
    for trace in alike:
        if (trace.source_path, trace.source_mtime_ns) == (str(source.path), stat.st_mtime_ns):
            return trace
    digest = _content_hash(source.path) if alike else ""
    return next((trace for trace in alike if trace.content_hash == digest), None)


def _content_hash(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, lambda: hashlib.blake2b(digest_size=32)).hexdigest()


class _Meter:
    """Counts what all workers do and tells the caller, one call at a time."""

    def __init__(
        self,
        sources: Sequence[Source],
        on_progress: Callable[[Progress], None] | None,
        on_outcome: Callable[[Outcome], None] | None,
    ) -> None:
        total = sum(source.path.stat().st_size for source in sources)
        self._now = Progress(len(sources), 0, total, 0, 0)
        self._on_progress = on_progress
        self._on_outcome = on_outcome
        self._lock = threading.Lock()
        self._stopped = False

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
                self._on_progress(self._now)
