"""`ingest` and `drop`: what a caller needs of this package."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Literal

from tracewh.ingest.discover import Source, discover
from tracewh.ingest.errors import IngestError, RefusedError
from tracewh.ingest.files import STDIN, File

if TYPE_CHECKING:
    from tracewh.ingest.objects import ObjectStore
    from tracewh.ingest.plan import Planned
    from tracewh.ingest.store import Known, Store
    from tracewh.ingest.trace import Taken

__all__ = ["IngestError", "Outcome", "Progress", "drop", "ingest"]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one file. Sizes in bytes; `reason` is one line, '' unless refused.

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
        paths: Files, run folders, or folders of many runs, here or in a store; - is standard input.
        warehouse: The warehouse's folder, made where it is missing, or its URL in a store.
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
    if jobs is not None and jobs < 1:
        raise IngestError(f"jobs is {jobs}; it must be at least 1")
    from tracewh.ingest.objects import store_of

    store = store_of(warehouse)
    return ingest_sources(discover(paths, run), store, jobs, force, on_progress, on_outcome)


def ingest_sources(
    sources: Sequence[Source],
    store: Store | ObjectStore,
    jobs: int | None = None,
    force: bool = False,
    on_progress: Callable[[Progress], None] | None = None,
    on_outcome: Callable[[Outcome], None] | None = None,
) -> list[Outcome]:
    """As `ingest`, of files that were found already; at least one."""
    # Here, so that importing tracewh does not load DuckDB and Arrow.
    from tracewh.ingest.faults import DEBUG, bug
    from tracewh.ingest.plan import make_plan
    from tracewh.ingest.trace import MEMORY_BYTES, Limits, take_in

    with store.session() as session:
        if any(source.path is STDIN for source in sources):
            STDIN.keep(session.path)
        plan = make_plan(store, sources, force)
        meter = _Meter(sources, on_progress, on_outcome)
        cores = os.cpu_count() or 1
        workers = min(jobs or cores, len(plan))
        limits = Limits(threads=max(1, cores // workers), memory_bytes=MEMORY_BYTES // workers)

        submitted = threading.Event()

        def settle(planned: Planned) -> Outcome:
            submitted.wait()
            started = time.perf_counter()
            if planned.known is not None:
                outcome = _unchanged(planned.source, planned.known)
                meter.read(outcome.source_bytes)
            else:
                commit = partial(store.commit, session, planned)
                try:
                    taken = take_in(
                        session, planned.source, limits, meter.read, meter.count, commit
                    )
                    outcome = _ingested(planned.source, taken)
                except InterruptedError:
                    raise
                except RefusedError as error:
                    outcome = _refused(planned.source, error)
                except Exception as error:
                    if meter.failed or os.environ.get(DEBUG):
                        raise
                    outcome = _refused(planned.source, bug(error))
            outcome = replace(outcome, seconds=time.perf_counter() - started)
            meter.settle(outcome)
            return outcome

        with ThreadPoolExecutor(workers) as pool:
            futures: list[Future[Outcome]] = []
            try:
                # None begins before all are known here: one that is not could not be interrupted.
                futures += [pool.submit(settle, each) for each in plan]
                submitted.set()
                return [future.result() for future in futures]
            finally:
                meter.stop()
                submitted.set()
                pool.shutdown(wait=False, cancel_futures=True)
                while not all(future.done() for future in futures):
                    session.interrupt()
                    time.sleep(0.05)


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
    from tracewh.ingest.objects import store_of

    return store_of(warehouse).drop(run, worker, span)


def names(warehouse: str | os.PathLike[str]) -> list[tuple[str, str, str]]:
    """Run, worker and span of every stored trace, damaged ones included."""
    from tracewh.ingest.objects import store_of

    return store_of(warehouse).names()


def _ingested(source: Source, taken: Taken) -> Outcome:
    return Outcome(
        source.path,
        "ingested",
        run=source.run,
        worker=source.worker,
        span=taken.span,
        source_bytes=_size(source),
        stored_bytes=taken.stored_bytes,
        events=taken.events,
        skipped_events=taken.skipped_events,
    )


def _unchanged(source: Source, known: Known) -> Outcome:
    return Outcome(
        source.path,
        "unchanged",
        run=known.run,
        worker=known.worker,
        span=known.span,
        source_bytes=_size(source),
        stored_bytes=known.stored_bytes,
        events=known.origin.events,
    )


def _refused(source: Source, error: RefusedError) -> Outcome:
    return Outcome(source.path, "refused", str(error), source_bytes=_size(source))


def _size(source: Source) -> int:
    """Bytes of a file; 0 where it is gone, which its ingest will say."""
    try:
        return source.path.stat().st_size
    except OSError:
        return 0


class _Meter:
    """Counts what all workers do and tells the caller, one call at a time."""

    def __init__(
        self,
        sources: Sequence[Source],
        on_progress: Callable[[Progress], None] | None,
        on_outcome: Callable[[Outcome], None] | None,
    ) -> None:
        total = sum(map(_size, sources))
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
