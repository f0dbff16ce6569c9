"""Ingest a file, or several small ones together, and return their results, on this machine or on Spark."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from tracewh.debug import debugging
from tracewh.errors import RefusedError
from tracewh.ingest import result
from tracewh.ingest.database_pool import DatabasePool
from tracewh.ingest.error_messages import bug
from tracewh.ingest.ingest_trace import ingest_traces
from tracewh.ingest.plan import Planned
from tracewh.ingest.progress import Meter
from tracewh.ingest.result import FileResult


def ingest_files(
    batch: Sequence[Planned],
    databases: DatabasePool,
    commit: Callable[[Planned, Path], str],
    meter: Meter,
) -> list[FileResult]:
    """Ingest the files of a batch. Files that were ingested before are left as they are.

    Files that cannot be ingested together are then ingested one by one. If a file causes an error, its result is
    `refused`.

    Args:
        batch: The files; see `make_batches`.
        databases: The pool to take a database from.
        commit: Moves the folder of a trace into the warehouse, and returns its span.
        meter: Counts the bytes, the events and the files.

    Raises:
        InterruptedError: The ingest was interrupted.
    """
    done: dict[int, FileResult] = {}
    if len(batch) > 1:
        started = time.perf_counter()

        def commit_one(number: int, folder: Path, found: FileResult) -> None:
            meter.check(0)
            found = replace(found, span=commit(batch[number], folder))
            # The traces of a batch take turns, so each has its share of the time.
            done[number] = replace(found, seconds=(time.perf_counter() - started) / len(batch))
            meter.read(found.source_bytes)
            meter.count(found.events)
            meter.finish(done[number])

        sources = [planned.source for planned in batch]
        try:
            ingest_traces(databases, sources, meter.check, meter.check, commit_one)
        except InterruptedError:
            raise
        except Exception:  # that of one trace, which is found below
            if meter.failed:
                raise
    for number, planned in enumerate(batch):
        if number not in done:
            done[number] = _ingest_file(planned, databases, commit, meter)
            meter.finish(done[number])
    return [done[number] for number in range(len(batch))]


def _ingest_file(
    planned: Planned,
    databases: DatabasePool,
    commit: Callable[[Planned, Path], str],
    meter: Meter,
) -> FileResult:
    started = time.perf_counter()
    source = planned.source
    found = result.refused(source, RefusedError(source.problem))
    if planned.known is not None:
        found = result.unchanged(source, planned.known)
        meter.read(found.source_bytes)
    elif not source.problem:

        def commit_it(_: int, folder: Path, given: FileResult) -> None:
            nonlocal found
            found = replace(given, span=commit(planned, folder))

        try:
            ingest_traces(databases, [source], meter.read, meter.count, commit_it)
        except InterruptedError:
            raise
        except RefusedError as error:
            found = result.refused(source, error)
        except Exception as error:
            if meter.failed or debugging():
                raise
            found = result.refused(source, bug(error))
    return replace(found, seconds=time.perf_counter() - started)
