"""Runs recorded here and now, once, with what torch.profiler itself says of them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import tracewh
from tests.conftest import made_once
from tests.torch_forks import run_with_torch

HERE = Path(__file__).parent

#: Run, worker and span of each trace that record.py writes.
LOOPS = [("loop", "main", "1"), ("loop", "main", "2")]
PAIR = [("pair", "rank0", "1"), ("pair", "rank1", "1")]
TRACES = [*LOOPS, ("bare", "main", "1"), ("threads", "main", "1"), *PAIR]
Trace = tuple[str, str, str]

#: Kinds of events, as the profiler calls them.
OPERATOR, ANNOTATION, FRAME = "cpu_op", "user_annotation", "python_function"


@dataclass(frozen=True)
class Live:
    """The recorded runs in a warehouse, and beside it the words of the profiler."""

    warehouse: tracewh.Warehouse
    folder: Path

    def said(self, trace: Trace) -> dict[str, Any]:
        """What the profiler says of a trace; record.py lists it.

        What had not ended when recording stopped, as a collective that gloo is about to report, lasts
        longer in a trace, and is marked there.
        """
        found: dict[str, Any] = json.loads(
            (self.folder / "said" / f"{'.'.join(trace)}.json").read_text("utf-8")
        )
        unfinished = self.warehouse.sql(
            "SELECT h.name, h.start_ns, h.start_ns + h.duration_ns FROM host_events AS h"
            " WHERE NOT h.finished AND (h.run, h.worker, h.span) = (?, ?, ?)",
            list(trace),
        ).fetchall()
        for name, start_ns, end_ns in unfinished:
            [event] = [
                each
                for each in found["recorded"]
                if (each["name"], each["start_ns"]) == (name, start_ns)
            ]
            assert name == "gloo:all_reduce" and event["end_ns"] <= end_ns
            event["end_ns"] = end_ns
        return found

    def rows(self, trace: Trace, view: str, **arguments: Any) -> list[dict[str, Any]]:
        """The rows of a view for one trace."""
        keys: dict[str, Any] = dict(zip(("run", "worker", "span"), trace, strict=True))
        relation = self.warehouse.view(view, **keys, **arguments)
        return [dict(zip(relation.columns, row, strict=True)) for row in relation.fetchall()]


@pytest.fixture(scope="session")
def live(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    def record(folder: Path) -> None:
        run_with_torch(HERE / "record.py", folder)
        tracewh.ingest([folder / "traces"], folder / "warehouse")

    folder = made_once(tmp_path_factory, "live", record)
    with tracewh.open(folder / "warehouse") as warehouse:
        yield Live(warehouse, folder)


def allocations(said: dict[str, Any]) -> list[dict[str, Any]]:
    """Allocations and releases in order of time, with the operators and annotations around them.

    Those are found by time: in the profiler's tree an annotation is inside the frames that opened it.
    """
    events = [event for event in said["recorded"] if event["kind"] in (OPERATOR, ANNOTATION)]
    events.sort(key=lambda event: (-event["start_ns"], event["end_ns"]))
    records = sorted(said["allocations"], key=lambda record: int(record["time_ns"]))
    for record in records:
        record["around"] = [
            (event["name"], event["kind"], event["start_ns"])
            for event in events
            if event["thread"] == record["thread"]
            and event["start_ns"] <= record["time_ns"] < event["end_ns"]
        ]
    return records
