"""One file, from its plan to its outcome: what all engines do."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from tracewh.debug import debugging
from tracewh.ingest import outcome
from tracewh.ingest.databases import Databases
from tracewh.ingest.errors import RefusedError
from tracewh.ingest.faults import bug
from tracewh.ingest.outcome import Meter, Outcome
from tracewh.ingest.plan import Planned
from tracewh.ingest.trace import take_in


def settle(
    planned: Planned,
    databases: Databases,
    commit: Callable[[Path], str],
    meter: Meter,
) -> Outcome:
    """Take in a file, unless it is in already. Whatever is wrong with it refuses it.

    Args:
        planned: The file.
        databases: Where its trace is put together.
        commit: Puts the folder that holds the trace into the warehouse, and gives its span.
        meter: Told of the bytes and the events.

    Raises:
        InterruptedError: The ingest was interrupted.
    """
    started = time.perf_counter()
    source = planned.source
    if planned.known is not None:
        found = outcome.unchanged(source, planned.known)
        meter.read(found.source_bytes)
    else:
        try:
            taken = take_in(databases, source, meter.read, meter.count, commit)
            found = outcome.ingested(source, taken)
        except InterruptedError:
            raise
        except RefusedError as error:
            found = outcome.refused(source, error)
        except Exception as error:
            if meter.failed or debugging():
                raise
            found = outcome.refused(source, bug(error))
    return replace(found, seconds=time.perf_counter() - started)
