"""Ingest one file and return its result, on this machine or on Spark."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from tracewh.debug import debugging
from tracewh.errors import RefusedError
from tracewh.ingest import result
from tracewh.ingest.database_pool import DatabasePool
from tracewh.ingest.error_messages import bug
from tracewh.ingest.ingest_trace import ingest_trace
from tracewh.ingest.plan import Planned
from tracewh.ingest.progress import Meter
from tracewh.ingest.result import FileResult


def ingest_file(
    planned: Planned,
    databases: DatabasePool,
    commit: Callable[[Path], str],
    meter: Meter,
) -> FileResult:
    """Ingest a file, unless it was ingested before. If the file causes an error, its result is `refused`.

    Args:
        planned: The file.
        databases: The pool to take a database from.
        commit: Moves the folder of the trace into the warehouse, and returns its span.
        meter: Counts the bytes and the events.

    Raises:
        InterruptedError: The ingest was interrupted.
    """
    started = time.perf_counter()
    source = planned.source
    if planned.known is not None:
        found = result.unchanged(source, planned.known)
        meter.read(found.source_bytes)
    elif source.problem:
        found = result.refused(source, RefusedError(source.problem))
    else:
        try:
            found = ingest_trace(databases, source, meter.read, meter.count, commit)
        except InterruptedError:
            raise
        except RefusedError as error:
            found = result.refused(source, error)
        except Exception as error:
            if meter.failed or debugging():
                raise
            found = result.refused(source, bug(error))
    return replace(found, seconds=time.perf_counter() - started)
