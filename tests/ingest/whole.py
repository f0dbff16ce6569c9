"""One file through the whole of ingest, and back."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from tests.ingest.conftest import canonical
from tracewh.ingest.api import ingest
from tracewh.ingest.reconstruct import events
from tracewh.storage.local_store import LocalStore


@dataclass(frozen=True, slots=True)
class Whole:
    """What the warehouse says of one file; events as canonical text."""

    events: list[str]
    skipped: int
    reasons: dict[str, int]
    metadata: dict[str, Any]


def whole(folder: Path, content: bytes) -> Whole | str:
    """What became of a file of this content: what the warehouse holds, or why it was refused."""
    path = folder / "run" / "w.pt.trace.json"
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(content)
    [outcome] = ingest([path], folder / "warehouse", force=True, jobs=1)
    store = LocalStore(folder / "warehouse")
    assert not list((store.path / ".staging").iterdir())
    if outcome.status == "refused":
        assert not list(store.traces())
        return outcome.reason
    assert outcome.run and outcome.worker and outcome.span
    trace = store.folder(outcome.run, outcome.worker, outcome.span)
    [row] = pq.read_table(trace / "traces.parquet").to_pylist()
    rebuilt = [canonical(text) for text in events(trace)]
    assert row["events"] == outcome.events == len(rebuilt)
    assert row["skipped_events"] == outcome.skipped_events
    reasons = json.loads(row["skipped_reasons"])
    assert row["skipped_events"] == sum(reasons.get(cause, 0) for cause in LEFT_OUT)
    return Whole(rebuilt, outcome.skipped_events, reasons, json.loads(row["metadata"]))


#: Causes for which an event is not in the warehouse.
LEFT_OUT = ("unreadable_event", "not_an_object")
