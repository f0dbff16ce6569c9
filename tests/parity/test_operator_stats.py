"""operator_stats against the raw file, and against torch itself."""

from __future__ import annotations

import gzip
import json
from collections import defaultdict
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.parity.differences import listed

if TYPE_CHECKING:
    import tracewh
    from tests.parity.conftest import Peer

#: Where the plugin's table is not ours, which by name or shape is in differences.txt.
TRACES = [
    trace
    for trace, lines in listed().listed.items()
    if any(line.view == "operator_stats" for line in lines)
]


@pytest.mark.parametrize("trace", TRACES)
def test_times_are_those_of_the_raw_file(
    trace: str, shared: Path, plugin: Peer, corpus: tracewh.Warehouse
) -> None:
    _, keys = plugin(trace)
    rows = corpus.operator_stats(**keys).fetchall()
    [path] = (shared / "traces").glob(f"{trace}.json*")
    with gzip.open(path) as file:
        events = json.load(file, parse_float=Decimal)["traceEvents"]
    assert {row[3]: [row[6], *map(_ns, row[7:11])] for row in rows} == _figures(events)


@pytest.mark.filterwarnings("ignore")
def test_a_live_profile_has_the_figures_of_key_averages(tmp_path: Path) -> None:
    """The same profile twice: as torch sums it up, and as tracewh does from its file."""
    torch = pytest.importorskip("torch")
    model = torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.ReLU(), torch.nn.Linear(64, 8))
    with torch.profiler.profile(record_shapes=True) as profile:
        for _ in range(3):
            with torch.profiler.record_function("forward"):
                loss = model(torch.rand(16, 64)).softmax(1).to(torch.float64).sum()
            loss.backward()
    profile.export_chrome_trace(str(tmp_path / "live.json"))

    import tracewh

    tracewh.ingest([tmp_path / "live.json"], tmp_path / "warehouse")
    with tracewh.open(tmp_path / "warehouse") as warehouse:
        by_name = {row[3]: row[6:9] for row in warehouse.operator_stats().fetchall()}
        by_shape = {
            (row[3], _shape(row[4])): row[6]
            for row in warehouse.operator_stats(group_by="input_shape").fetchall()
        }
    said = {
        row.key: (row.count, row.self_cpu_time_total, row.cpu_time_total)
        for row in profile.key_averages()
        if not row.is_user_annotation
    }
    assert by_name == {key: pytest.approx(row, abs=0.01) for key, row in said.items()}
    shapes = profile.key_averages(group_by_input_shape=True)
    assert by_shape == {
        (row.key, _shape(json.dumps(row.input_shapes))): row.count
        for row in shapes
        if not row.is_user_annotation
    }


def _shape(text: str | None) -> str:
    """The text of a shape without the ways in which peers write the same one."""
    return (text or "[]").replace(" ", "") or "[]"


def _ns(microseconds: float | Decimal | None) -> int:
    return round((microseconds or 0) * 1000)


def _figures(events: list[dict[str, Any]]) -> dict[str, list[int]]:
    """Calls, host self, host total, device self, device total in ns by operator: a plain walk.

    Independent of ingest and of SQL: one stack per thread, and what was launched by correlation.
    """
    device: dict[int, int] = defaultdict(int)
    threads: dict[tuple[Any, Any], list[dict[str, Any]]] = defaultdict(list)
    for event in events:
        category = event.get("cat")
        if category in ("kernel", "gpu_memcpy", "gpu_memset"):
            device[event["args"]["correlation"]] += _ns(event["dur"])
        elif category in ("cpu_op", "user_annotation", "cuda_runtime", "cuda_driver"):
            threads[event["pid"], event["tid"]].append(event)
    figures: dict[str, list[int]] = defaultdict(lambda: [0, 0, 0, 0, 0])
    for rows in threads.values():
        rows.sort(key=lambda row: (row["ts"], -row["dur"]))
        for node in _tree(rows, device):
            _add(node, figures)
    return dict(figures)


def _tree(rows: list[dict[str, Any]], device: dict[int, int]) -> list[dict[str, Any]]:
    roots: list[dict[str, Any]] = []
    stack: list[dict[str, Any]] = []
    for row in rows:
        start, end = _ns(row["ts"]), _ns(row["ts"] + row["dur"])
        while stack and stack[-1]["end"] <= start:
            stack.pop()
        if stack:
            stack[-1]["self"] -= min(end, stack[-1]["end"]) - start
        if row["cat"] in ("cpu_op", "user_annotation"):
            node = {"name": row["name"], "end": end, "total": end - start, "self": end - start}
            node |= {"operator": row["cat"] == "cpu_op", "device": 0, "children": []}
            (stack[-1]["children"] if stack else roots).append(node)
            stack.append(node)
        elif owner := next((node for node in reversed(stack) if node["operator"]), None):
            owner["device"] += device.get(row["args"].get("correlation"), 0)
    return roots


def _add(node: dict[str, Any], figures: dict[str, list[int]]) -> int:
    """Count a node and those below it; returns the device time of them all."""
    while len(node["children"]) == 1 and node["children"][0]["name"] == node["name"]:
        if not (node["operator"] and node["children"][0]["operator"]):
            break
        [only] = node["children"]
        merged = {figure: node[figure] + only[figure] for figure in ("self", "device")}
        node = {**node, **merged, "children": only["children"]}
    below = sum(_add(child, figures) for child in node["children"])
    if node["operator"]:
        own = (1, node["self"], node["total"], node["device"], node["device"] + below)
        figures[node["name"]] = [a + b for a, b in zip(figures[node["name"]], own, strict=True)]
    return int(node["device"] + below)
