"""Events that one row begins and another one ends: they become host events, and the file comes back as it was."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import tracewh
from tests.ingest.conftest import IngestEvents, canonical


def begin(name: str, ts: object, tid: object = 7, **more: object) -> dict[str, Any]:
    return {"ph": "B", "name": name, "pid": 1, "tid": tid, "ts": ts, **more}


def end(ts: object, tid: object = 7, **more: object) -> dict[str, Any]:
    return {"ph": "E", "pid": 1, "tid": tid, "ts": ts, **more}


EVENTS = [
    # It began before the recording.
    end(1),
    # What the row says of the duration does not count.
    begin("compile", 10, dur=1.25, cat="dynamo_timed", args={"compile_id": "0/0"}),
    begin("trace", 12.5, args={"External id": 4, "note": 1e300}),
    # Ends and begins at one time: the file tells which is first.
    end(15.25, name="trace", args={"hits": 3}),
    begin("lower", 15.25, bp="x", dur=7),
    # The rows of a thread may be out of order, and between those of others.
    begin("wait", 11, tid="queue", dur="soon"),
    end(30),
    end(20),
    end(12, tid="queue"),
    # Nothing ends these, or nothing says when.
    begin("write", 40),
    begin("read", 41, tid=8),
    begin("timeless", "soon", tid=9),
    end("later", tid=9),
    # Not on a thread.
    {"ph": "b", "name": "request", "id": 1, "pid": 1, "tid": 7, "ts": 1},
    {"ph": "e", "name": "request", "id": 1, "pid": 1, "tid": 7, "ts": 9},
    # What the PyTorch profiler records on a device is no host event.
    begin("gemm", 50, cat="kernel"),
    end(51, cat="kernel"),
    {"ph": "X", "name": "link", "pid": 1, "tid": 7, "ts": 16, "dur": 2},
]

HOST_EVENTS = """
    SELECT
        h.event_id, h.name, h.category, h.tid, h.start_ns, h.duration_ns, h.parent_id,
        h.self_duration_ns, h.args ->> '$.compile_id'
    FROM host_events AS h ORDER BY h.event_id
"""


def test_a_begin_and_its_end_are_a_host_event(ingest_events: IngestEvents) -> None:
    found = ingest_events(EVENTS)
    assert found.rows(HOST_EVENTS) == [
        (1, "compile", "dynamo_timed", "7", 10_000, 20_000, None, 12_500, "0/0"),
        (2, "trace", None, "7", 12_500, 2_750, 1, 2_750, None),
        (4, "lower", None, "7", 15_250, 4_750, 1, 2_750, None),
        (5, "wait", None, "queue", 11_000, 1_000, None, 1_000, None),
        (17, "link", None, "7", 16_000, 2_000, 4, 2_000, None),
    ]
    others = "SELECT o.phase, o.event_id FROM other_events AS o ORDER BY o.event_id"
    assert found.rows(others) == [
        *(("E", 0), ("E", 3), ("E", 6), ("E", 7), ("E", 8)),
        *(("B", 9), ("B", 10), ("B", 11), ("E", 12), ("b", 13), ("e", 14), ("B", 15), ("E", 16)),
    ]
    assert found.rebuilt() == [canonical(json.dumps(event)) for event in EVENTS]


def test_an_end_with_a_name_closes_an_event_of_that_name(ingest_events: IngestEvents) -> None:
    """As tlparse writes it: what ran on two threads has the same thread in the file."""
    found = ingest_events(
        [
            *(begin("file", 0), begin("file", 1), begin("wait", 2)),
            # The inner one ends, something unknown, and the others, not in the order in which they began.
            *(end(5, name="file"), end(6, name="link"), end(7, name="file"), end(9, name="wait")),
            # An end without a name, and one with an empty one: the thread decides.
            *(
                begin("a", 20, tid=8),
                begin("b", 21, tid=8),
                end(22, tid=8),
                end(24, tid=8, name="b"),
            ),
            *(begin("c", 20, tid=9), end(23, tid=9, name="")),
            # Of another process.
            *(begin("d", 21, tid=9, pid=2), begin("e", 22, tid=9, pid=2)),
            *(end(24, tid=9, pid=2, name="d"), end(26, tid=9, pid=2, name="e")),
            *(begin("d", 20, tid=9, pid=3), end(25, tid=9, pid=3, name="d")),
        ]
    )
    query = "SELECT h.event_id, h.name, h.duration_ns FROM host_events AS h ORDER BY h.event_id"
    assert found.rows(query) == [
        *((0, "file", 7_000), (1, "file", 4_000), (2, "wait", 7_000)),
        *((7, "a", 4_000), (8, "b", 1_000), (11, "c", 3_000), (13, "d", 3_000)),
        *((14, "e", 4_000), (17, "d", 5_000)),
    ]


def test_traces_that_are_ingested_together(tmp_path: Path) -> None:
    """Each has threads of the same names."""
    folder = tmp_path / "run"
    folder.mkdir()
    named = [*(begin("file", 5), begin("wait", 6)), *(end(8, name="file"), end(9, name="wait"))]
    for worker, events in [
        ("a", [begin("f", 5), end(8)]),
        ("b", [begin("f", 6), end(9)]),
        ("c", named),
    ]:
        path = folder / f"{worker}.pt.trace.json"
        path.write_text(json.dumps({"traceEvents": events}))
    tracewh.ingest([folder], tmp_path / "warehouse", jobs=1)
    with tracewh.open(tmp_path / "warehouse") as warehouse:
        rows = warehouse.sql(
            "SELECT h.worker, h.name, h.duration_ns FROM host_events AS h ORDER BY h.worker, h.event_id"
        ).fetchall()
    assert rows == [
        *(("a", "f", 3_000), ("b", "f", 3_000)),
        *(("c", "file", 3_000), ("c", "wait", 3_000)),
    ]
