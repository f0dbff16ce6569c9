"""The page of a run that replays graphs: what it says of a replayed kernel, and of work without an operator."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import tracewh
from tests.cli.report.conftest import Visit
from tests.cli.report.parts import panels_only
from tracewh.cli.report import timeline
from tracewh.cli.report.page import panel_data
from tracewh.cli.report.panels import SECTIONS
from tracewh.cli.report.report_trace import ReportTrace, first_trace
from tracewh.cli.report.write import write_report

NOTE = (
    "8.0 us of device time (72.7 %) in 1 graph launch has no operator: "
    "No captured graph has these kernels in this order."
)

#: Draws the details of a replayed kernel, as a page with a server does.
DESCRIBED = """() => {
  const box = document.createElement("div");
  document.body.append(box);
  const track = { lanes: [], name: "" };
  const replayed = { basis: "content", reason: null, operator: "aten::mm", input_dims: "[[8,4]]" };
  const facts = { launch: "hipGraphLaunch", start: 2, launch_start: 1, op: "decode", replayed };
  const selected = { name: "b", kind: "stream", category: "compute", events: 1, length: 2, start: 2, track, facts };
  new TimelineDetails({ selected }, box).describe();
  return box.innerText;
}"""


def event(category: str, name: str, ts: float, dur: float, **args: Any) -> dict[str, Any]:
    pid, tid = (0, 7) if category == "kernel" else (1, 1)
    return {
        "ph": "X",
        "cat": category,
        "name": name,
        "pid": pid,
        "tid": tid,
        "ts": ts,
        "dur": dur,
        "args": args,
    }


#: A graph of two kernels, both of one operator.
CAPTURE = [
    event("cuda_runtime", "hipStreamBeginCapture", 1, 1),
    event(
        "cpu_op",
        "aten::mm",
        10,
        20,
        **{"External id": 1, "Input Dims": [[8, 4], [4, 4]], "Input type": ["Half", "Half"]},
    ),
    event("cuda_runtime", "hipLaunchKernel", 12, 1, kernel="a", **{"External id": 1}),
    event("cuda_runtime", "hipLaunchKernel", 14, 1, kernel="b", **{"External id": 1}),
    event("cuda_runtime", "hipStreamEndCapture", 40, 1),
]
#: It takes 1 and 2 us; a launch of a graph that nobody recorded takes 8 us.
REPLAY = [
    event("user_annotation", "decode[bs=8]", 0, 100),
    event("cuda_runtime", "hipGraphLaunch", 10, 5, correlation=1),
    event("cuda_runtime", "hipGraphLaunch", 20, 5, correlation=2),
    event("kernel", "a", 30, 1, correlation=1, device=0, stream=7),
    event("kernel", "b", 32, 2, correlation=1, device=0, stream=7),
    event("kernel", "x", 40, 8, correlation=2, device=0, stream=7),
]


@pytest.fixture(scope="module")
def warehouse(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("replays")
    for path, events in (("served", REPLAY), ("served/capture_traces", CAPTURE)):
        (folder / path).mkdir()
        trace = {"schemaVersion": 1, "traceEvents": events}
        (folder / path / "rank0.json").write_text(json.dumps(trace), "utf-8")
    tracewh.ingest([folder / "served"], folder / "warehouse")
    return folder / "warehouse"


@pytest.fixture
def opened(warehouse: Path) -> Iterator[tracewh.Warehouse]:
    with tracewh.open(warehouse) as found:
        yield found


@pytest.fixture
def trace(opened: tracewh.Warehouse) -> ReportTrace:
    found = first_trace(opened, "served", None, None)
    assert found is not None
    return found


def facts(opened: tracewh.Warehouse, trace: ReportTrace, name: str) -> Any:
    ((number,),) = opened.sql(
        f"SELECT event_id FROM device_events WHERE run = 'served' AND name = '{name}'"
    ).fetchall()
    return timeline.event(opened, trace, "stream", number)["facts"]["replayed"]


def test_a_replayed_kernel_has_what_was_captured(
    opened: tracewh.Warehouse, trace: ReportTrace
) -> None:
    assert facts(opened, trace, "b") == {
        "basis": "content",
        "reason": None,
        "operator": "aten::mm",
        "input_dims": "[[8,4],[4,4]]",
        "input_types": "Half, Half",
        "module": None,
        "line": None,
    }
    unknown = facts(opened, trace, "x")
    assert (unknown["basis"], unknown["operator"]) == (None, None)
    assert unknown["reason"] == "No captured graph has these kernels in this order."


def test_a_panel_says_what_it_leaves_out(opened: tracewh.Warehouse, trace: ReportTrace) -> None:
    panels = {panel.id: panel for section in SECTIONS for panel in section.panels}
    table = panel_data(opened, panels["operators-table"], trace)
    assert table["notes"] == [NOTE]
    replayed = table["values"][[column["name"] for column in table["columns"]].index("replayed_us")]
    assert sum(replayed) == 3
    assert panel_data(opened, panels["gaps"], trace)["notes"] == []


def test_both_are_on_the_page(visit: Visit, warehouse: Path, tmp_path: Path) -> None:
    with panels_only("operators-table", has_verdict=False):
        write_report(str(warehouse), "served", None, None, tmp_path / "report.html")
    visit.page.goto((tmp_path / "report.html").as_uri())
    assert NOTE in visit.panel("operators-table").inner_text()
    assert "3 µs" in visit.column("operators-table", "replayed_us")
    details = visit.page.evaluate(DESCRIBED)
    assert "captured\nin a graph; basis: content" in details
    assert "operator\naten::mm" in details


def test_columns_of_replays_are_left_out_where_nothing_was_replayed(
    visit: Visit, report: Path
) -> None:
    visit.page.goto(report.as_uri())
    assert visit.column("operators-table", "calls") != []
    assert visit.column("operators-table", "replayed_us") == []
