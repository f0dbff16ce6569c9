"""Python frames whose end the profiler lost: they end with their caller, and the file comes back as it was."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

import tracewh
from tests.ingest.conftest import canonical
from tracewh.ingest.reconstruct import events

#: What stands for the duration of the frame that lasts from 15 us to the end of the recording, 130 us.
LOST = "LOST"

Event = dict[str, Any]


def frame(name: str, number: int, caller: int, start: float, dur: object, **more: object) -> Event:
    place = {"cat": "python_function", "name": name, "pid": 1, "tid": 2, **more}
    args = {"Python id": number, "Python parent id": caller}
    return {"ph": "X", **place, "ts": start, "dur": dur, "args": args}


#: A step calls a function that leaves a context, and then another one, which runs an operator and leaves one, too.
FRAMES = [
    frame("train.py(1): step", 1, 0, 0, 100),
    frame("torch/utils.py(2): call", 2, 1, 10, 10),
    frame("<built-in method __exit__ of object>", 3, 2, 15, LOST),
    frame("train.py(9): loss", 4, 1, 30, 10),
    {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 2, "ts": 32, "dur": 6},
    frame("<built-in method __exit__ of object>", 8, 4, 39, 6),
    # Rounded, and on a thread that goes on after its caller: no end was lost.
    frame("train.py(20): log", 5, 1, 50, 50.9),
    frame("autograd.py(3): apply", 6, 2, 18, 112, tid=9),
    # Started by the lost one, if one believes the profiler, and by one that had ended.
    frame("train.py(30): save", 7, 3, 110, 20),
    frame("train.py(40): log", 9, 2, 104, 2),
]


def text_of(frames: list[Event], lost: str, **metadata: object) -> str:
    return json.dumps({**metadata, "traceEvents": frames}).replace(f'"{LOST}"', lost)


def ingested(folder: Path, *texts: str) -> list[dict[str, int]]:
    """Ingest files, and return the repairs of each."""
    paths = [folder / "run" / f"w{number}.pt.trace.json" for number in range(len(texts))]
    paths[0].parent.mkdir()
    for path, text in zip(paths, texts, strict=True):
        path.write_text(text)
    return [dict(each.repairs) for each in tracewh.ingest(paths, folder / "warehouse", jobs=1)]


def rows(warehouse: Path, query: str) -> list[tuple[Any, ...]]:
    with tracewh.open(warehouse) as opened:
        return opened.sql(query).fetchall()


def files_of(warehouse: Path) -> list[Path]:
    return sorted(path.parent for path in warehouse.glob("data/*/*/*/traces.parquet"))


NESTED = """
    SELECT
        h.event_id, h.duration_ns / 1000, h.parent_id, h.self_duration_ns / 1000,
        h.overlap_start_ns IS NOT NULL
    FROM host_events AS h WHERE h.worker = 'w0' ORDER BY h.event_id
"""


@pytest.mark.parametrize(
    ("lost", "more", "repairs"),
    [
        ("115", {}, {}),
        ("115.000", {}, {}),
        ("115.25", {}, {}),
        ("115.003", {"tid": "2"}, {}),
        ('"115"', {}, {"text_durations": 1}),
        ("115", {"bp": "e", "tid": "2"}, {}),
    ],
)
def test_a_frame_ends_with_its_caller(
    tmp_path: Path, lost: str, more: dict[str, object], repairs: dict[str, int]
) -> None:
    frames = [{**each, **more} if each.get("dur") == LOST else each for each in FRAMES]
    text = text_of(frames, lost)
    assert ingested(tmp_path, text) == [{**repairs, "lost_frame_ends": 2}]
    warehouse = tmp_path / "warehouse"
    # The step itself has 100 us less those of the three that it calls, also of the rounded one.
    assert rows(warehouse, NESTED) == [
        (0, 100, None, 30, True),
        (1, 10, 0, 5, False),
        (2, 5, 1, 5, False),
        (3, 10, 0, 3, False),
        (4, 6, 3, 6, False),
        (5, 1, 3, 1, False),
        (6, 50.9, None, 50.9, False),
        (7, 112, None, 112, False),
        (8, 20, None, 20, False),
        (9, 2, None, 2, False),
    ]
    [folder] = files_of(warehouse)
    assert [canonical(each) for each in events(folder)] == [
        canonical(json.dumps(each).replace(f'"{LOST}"', lost)) for each in frames
    ]


def test_frames_of_traces_that_are_ingested_together(tmp_path: Path) -> None:
    """Each has frames of the same numbers, and one has lost none."""
    whole = [{**each, "dur": 5} if each.get("dur") == LOST else each for each in FRAMES]
    found = ingested(tmp_path, text_of(FRAMES, "115"), text_of(whole, ""), text_of(FRAMES, "115"))
    assert found == [{"lost_frame_ends": 2}, {}, {"lost_frame_ends": 2}]
    lengths = rows(
        tmp_path / "warehouse",
        "SELECT DISTINCT h.worker, h.duration_ns FROM host_events AS h WHERE h.name LIKE '%exit%' ORDER BY ALL",
    )
    assert lengths == [
        *(("w0", 1000), ("w0", 5000)),
        *(("w1", 5000), ("w1", 6000)),
        *(("w2", 1000), ("w2", 5000)),
    ]


def test_recordings_that_were_put_together(tmp_path: Path) -> None:
    """Each has frames of the same numbers."""
    later = [{**each, "ts": each["ts"] + 1000} for each in FRAMES]
    assert ingested(tmp_path, text_of([*FRAMES, *later], "115")) == [{"lost_frame_ends": 4}]


def test_where_none_lasts_until_the_end_none_is_looked_for(tmp_path: Path) -> None:
    """It would take a tenth of ingest."""
    assert ingested(tmp_path, text_of(FRAMES, "5")) == [{}]


def test_unpadded_decimals_come_back(tmp_path: Path) -> None:
    """As builds of March 2024 wrote them: 115.7 is 115 us and 7 ns."""
    base = 1_700_000_000_000_000
    frames = [{**each, "ts": each["ts"] + base} for each in FRAMES]
    text = text_of(frames, "115.7").replace(f"{base + 30},", f"{base + 30}.7,")
    text = text.replace(f"{base + 32},", f"{base + 32}.10,")
    assert ingested(tmp_path, text) == [{"lost_frame_ends": 2}]
    [folder] = files_of(tmp_path / "warehouse")
    found = [json.loads(each, parse_float=Decimal) for each in events(folder)]
    assert str(found[2]["dur"]) == "115.7"


def test_a_stack_holds_what_called_it(tmp_path: Path) -> None:
    ingested(tmp_path, text_of(FRAMES, "115"))
    stacks = dict(rows(tmp_path / "warehouse", "SELECT stack, value_us FROM flamegraph()"))
    assert stacks["train.py(1): step;train.py(9): loss;aten::mm"] == 6
    assert not any("call" in stack for stack in stacks if "loss" in stack)
