"""Files through the whole of ingest, and back."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from tests.ingest.conftest import canonical
from tracewh.ingest.api import ingest
from tracewh.ingest.reconstruct import events
from tracewh.ingest.result import FileResult
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
    return whole_of_each(folder, {"w": content})["w"]


def whole_of_each(folder: Path, contents: Mapping[str, bytes]) -> dict[str, Whole | str]:
    """What became of several files, of one ingest, by the names that their contents have."""
    paths = [folder / "run" / f"w{number:03}.pt.trace.json" for number in range(len(contents))]
    paths[0].parent.mkdir(exist_ok=True)
    for path, content in zip(paths, contents.values(), strict=True):
        path.write_bytes(content)
    outcomes = ingest(paths, folder / "warehouse", force=True, jobs=1)
    store = LocalStore(folder / "warehouse")
    assert not list((store.path / ".staging").iterdir())
    assert [outcome.source for outcome in outcomes] == paths
    assert len(list(store.traces())) == sum(each.status == "ingested" for each in outcomes)
    return {name: _held(store, each) for name, each in zip(contents, outcomes, strict=True)}


def _held(store: LocalStore, outcome: FileResult) -> Whole | str:
    """What the warehouse holds of a file, or why it was refused."""
    if outcome.status == "refused":
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
