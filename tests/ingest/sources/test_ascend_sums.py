"""The sums that the Ascend profiler makes of the time of a step, and a folder of MindSpore."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest

import tracewh
from tests.ingest.sources import ascend_recording as drawn


def _sums(shared: Path) -> list[dict[str, Any]]:
    """The rows of the ranks of cluster_step_trace_time.csv, which is step_trace_time.csv of each rank."""
    path = shared / "traces" / "other_tools" / "ascend" / "cluster_step_trace_time.csv"
    with path.open(newline="") as file:
        return [row for row in csv.DictReader(file) if row["Type"] == "rank"]


def _drawn_step(row: dict[str, Any]) -> list[dict[str, object]]:
    """A step with the times of a row: the collective starts first, and a kernel before it ends.

    collective  |- not overlapped -|- overlapped -|
    kernel                         |-------- computing --------|
    step        |------------------------------------------------- free -----|
    """
    computing, exposed, free, communication = (
        round(float(row[name]), 3)
        for name in ("Computing", "Communication(Not Overlapped)", "Free", "Communication")
    )

    def event(name: str, pid: int, start: float, us: float, **more: Any) -> dict[str, object]:
        return {
            "ph": "X",
            "name": name,
            "pid": pid,
            "tid": 2,
            "ts": drawn.at(start),
            "dur": us,
            **more,
        }

    names = {100: "Python", 800: "Ascend Hardware"}
    return [
        *(
            {"ph": "M", "name": "process_name", "pid": pid, "tid": 0, "args": {"name": name}}
            for pid, name in names.items()
        ),
        event("ProfilerStep#1", 100, 0, computing + exposed + free, cat="user_annotation"),
        event("hcom_allReduce__501_0_1", 800, 0, communication, args={"Stream Id": 2}),
        event("MatMul", 800, exposed, computing, args={"Stream Id": 3, "Task Type": "AI_CORE"}),
    ]


@pytest.mark.parametrize("rank", [0, 1, 5])
def test_the_views_give_the_sums_of_a_step(shared: Path, tmp_path: Path, rank: int) -> None:
    """Communication = NotOverlapped + Overlapped, Free = step - Computing - NotOverlapped.

    No recording of these ranks is public, so its step is drawn with their times. Times are in ns here, theirs are
    sums of floats.
    """
    row = _sums(shared)[rank]
    path = tmp_path / "trace_view.json"
    path.write_text(json.dumps(_drawn_step(row)))
    tracewh.ingest([path], tmp_path / "warehouse")
    theirs = {name: float(row[name]) for name in row if name not in ("Step", "Type", "Index")}
    exposed = theirs["Communication(Not Overlapped)"]
    computing, free = theirs["Computing"], theirs["Free"]
    step = computing + exposed + free
    # The length of the step: the times of its ends are floats of microseconds since 1970, which keep 0.25 us.
    assert theirs["Stage"] == pytest.approx(step, abs=0.5)
    with tracewh.open(tmp_path / "warehouse") as warehouse:
        [gpu] = warehouse.sql(
            "SELECT compute_us, communication_us, exposed_communication_us, communication_us"
            " - exposed_communication_us FROM gpu_time()"
        ).fetchall()
        [overlap] = warehouse.sql(
            "SELECT computation_us, overlap_us, communication_us, other_us FROM comm_overlap(step := 1)"
        ).fetchall()
        [parts] = warehouse.sql(
            "SELECT kernel_us, communication_us, total_us - kernel_us - communication_us, total_us"
            " FROM step_breakdown(step := 1)"
        ).fetchall()
    ns = 0.003  # three of their figures are rounded to a nanosecond each
    overlapped = theirs["Overlapped"]
    assert gpu == pytest.approx((computing, exposed + overlapped, exposed, overlapped), abs=ns)
    assert theirs["Communication"] == pytest.approx(exposed + overlapped, abs=ns)
    assert overlap == pytest.approx((computing - overlapped, overlapped, exposed, free), abs=ns)
    assert parts == pytest.approx((computing, exposed, free, step), abs=ns)


def test_a_copy_is_free_time_in_their_sums_and_not_in_step_breakdown(tmp_path: Path) -> None:
    """The only difference: their lane Free covers copies."""
    recording = drawn.write_recording(tmp_path / "logs")
    tracewh.ingest([recording / "trace_view.json"], tmp_path / "warehouse")
    # In the step of 70 us: MatMul for 10.5, the collective for 20, the copy for 1, 38.5 of nothing.
    with tracewh.open(tmp_path / "warehouse") as warehouse:
        [parts] = warehouse.sql(
            "SELECT kernel_us, communication_us, memcpy_us, total_us FROM step_breakdown()"
        ).fetchall()
        [(other_us,)] = warehouse.sql("SELECT other_us FROM comm_overlap(step := 5)").fetchall()
    assert parts == (10.5, 20.0, 1.0, 70.0)
    assert other_us == 39.5  # Free: with the copy


def test_a_folder_of_mindspore(tmp_path: Path) -> None:
    """MindSpore 2.3 and later names it _ascend_ms and the process MindSpore."""
    recording = drawn.write_recording(tmp_path / "logs" / "job", kind="ms")
    assert recording.parent.name.endswith("_ascend_ms")
    [result] = tracewh.ingest([tmp_path / "logs"], tmp_path / "warehouse")
    assert (result.status, result.run, result.worker) == ("ingested", "job", "node1_103")
    with tracewh.open(tmp_path / "warehouse") as warehouse:
        [trace] = warehouse.sql(
            "SELECT source, generation, rank, framework, skipped_events FROM traces"
        ).fetchall()
        names = warehouse.sql(
            "SELECT d.name, c.name, o.name FROM device_events AS d"
            " LEFT JOIN host_events AS c ON d.launch_id = c.event_id"
            " LEFT JOIN host_events AS o ON d.op_id = o.event_id WHERE d.kind = 'compute' ORDER BY ALL"
        ).fetchall()
    assert trace == ("ascend", "ascend-mindspore", 3, "mindspore", 0)
    assert names == [
        ("aclnnAdd_Add", None, None),
        ("aclnnMm_MatMul", "Node@launch", "aten::mm"),
    ]
