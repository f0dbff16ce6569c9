"""The public functions of ingest: `ingest`, `drop` and `names`."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from tracewh.errors import IngestError
from tracewh.ingest.progress import Meter, Progress
from tracewh.ingest.result import FileResult, file_size
from tracewh.ingest.sources.discover import Source, discover
from tracewh.ingest.sources.files import Piped

if TYPE_CHECKING:
    from tracewh.ingest.plan import Planned
    from tracewh.storage.layout import TraceKeys
    from tracewh.storage.store import Store

__all__ = ["FileResult", "IngestError", "Progress", "drop", "ingest"]


def ingest(
    paths: Iterable[str | os.PathLike[str]],
    warehouse: str | os.PathLike[str],
    *,
    run: str | None = None,
    jobs: int | None = None,
    force: bool = False,
    step_range: str | None = None,
    on_progress: Callable[[Progress], None] | None = None,
    on_result: Callable[[FileResult], None] | None = None,
) -> list[FileResult]:
    """Ingest trace files into a warehouse.

    Args:
        paths: Files, run folders, or folders of many runs, local or in an object store; - is standard input.
        warehouse: Folder of the warehouse, created if it is missing, or its URL in an object store.
        run: Name of the run, instead of the name of its folder.
        jobs: Number of files to read at the same time; None for one per core, or as many as fit into 1.5 GiB, or into
            the memory of the machine or its container.
        force: Ingest files again that were ingested before.
        step_range: Regular expression for the names of ranges that are steps, in traces of profilers that record
            ranges and no steps: 'batch [0-9]+'. By default names such as 'iteration 12' and 'step 12'.
        on_progress: Called often, from any thread, one call at a time.
        on_result: Called once per result, as soon as it is known.

    Returns:
        One result per trace, in the order of run, worker and span; a file may hold several. A file that cannot be ingested is
        refused and leaves nothing in the warehouse; the other files are not affected.

    Raises:
        IngestError: The call cannot start.
    """
    if jobs is not None and jobs < 1:
        raise IngestError(f"jobs is {jobs}; it must be at least 1")
    from tracewh.storage.open_store import open_store

    store = open_store(warehouse)
    sources = discover(paths, run, step_range)
    return ingest_sources(sources, store, jobs, force, on_progress, on_result)


def ingest_sources(
    sources: Sequence[Source],
    store: Store,
    jobs: int | None = None,
    force: bool = False,
    on_progress: Callable[[Progress], None] | None = None,
    on_result: Callable[[FileResult], None] | None = None,
) -> list[FileResult]:
    """Ingest the files that `discover` found, at least one; see `ingest`."""
    # Imported here, so that `import tracewh` does not load DuckDB and Arrow.
    from tracewh.ingest.database_pool import DatabasePool, workers_and_limits
    from tracewh.ingest.ingest_file import ingest_files
    from tracewh.ingest.plan import list_traces, make_batches, make_plan

    with store.session() as session, ExitStack() as pipes:
        for pipe in dict.fromkeys(each.path for each in sources if isinstance(each.path, Piped)):
            pipes.enter_context(pipe.kept(session.path))
        sources = list_traces(store, sources, force, session.path)
        plan = make_plan(store, sources, force)
        meter = Meter(sources, on_progress, on_result)
        batches = make_batches(plan, jobs or os.cpu_count() or 1)
        new = [
            sum(file_size(each.source) for each in batch)
            for batch in batches
            if batch[0].known is None
        ]
        workers, limits = workers_and_limits(new, jobs)
        submitted = threading.Event()

        def commit(planned: Planned, staged: Path) -> str:
            return store.commit(session, planned.target, staged)

        def ingest_batch(batch: Sequence[Planned]) -> list[FileResult]:
            submitted.wait()
            return ingest_files(batch, databases, commit, meter)

        with DatabasePool(session, limits) as databases, ThreadPoolExecutor(workers) as pool:
            futures: list[Future[list[FileResult]]] = []
            try:
                # No file starts before all futures are in the list: otherwise it could not be interrupted.
                futures += [pool.submit(ingest_batch, batch) for batch in batches]
                submitted.set()
                results: list[FileResult] = []
                for future in futures:
                    # A signal that arrives in another thread does not end a wait in this one.
                    while wait([future], timeout=0.1).not_done:
                        pass
                    results += future.result()
                return results
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
    from tracewh.storage.open_store import open_store

    return open_store(warehouse).drop(run, worker, span)


def names(warehouse: str | os.PathLike[str]) -> list[TraceKeys]:
    """Run, worker and span of every stored trace, damaged ones included."""
    from tracewh.storage.open_store import open_store

    return open_store(warehouse).names()
