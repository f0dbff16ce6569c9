"""module_stats against the raw file, and the raw file against the TensorBoard plugin."""

from __future__ import annotations

import gzip
import json
from collections import defaultdict
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest

from tests.parity.differences import listed

if TYPE_CHECKING:
    from pathlib import Path

    import tracewh
    from tests.parity.conftest import Peer

#: The plugin does not know such rows, so that cuLaunchKernel launches nothing.
DRIVER = "cuda_driver"
HOST = ("cpu_op", "user_annotation", "python_function", "cuda_runtime", DRIVER)

#: The traces of the corpus that have modules.
TRACES = [
    "h100_bert_2025/gaunernst_bert-small-uncased__1016001",
    "h100_qwen_2025/Qwen_Qwen1.5-0.5B-Chat__1016005",
    "h100_vit_2025/Falconsai_nsfw_image_detection__1016002",
    "mi300x_qwen_2025/Qwen_Qwen1.5-0.5B-Chat__1016005",
    "mi300x_sglang_decode_2026/sglang_Qwen3-8B_decode",
]

#: Our figures, and the plugin's word for them.
FIGURES = {
    "depth": "depth",
    "occurrences": "occurences",
    "operators": "operators",
    "host_self_us": "host_self",
    "host_total_us": "host_total",
    "device_self_us": "device_self",
    "device_total_us": "device_total",
}


@pytest.mark.parametrize("trace", TRACES)
def test_figures_are_those_of_the_raw_file(
    trace: str, shared: Path, plugin: Peer, corpus: tracewh.Warehouse
) -> None:
    _, keys = plugin(trace)
    assert _ours(corpus, keys) == {
        module: pytest.approx(row) for module, row in _figures(shared, trace).items()
    }


@pytest.mark.parametrize("trace", TRACES)
def test_without_driver_calls_the_figures_are_the_plugin_s(
    trace: str, shared: Path, plugin: Peer
) -> None:
    """One by one, of which differences.txt has the sums; but for what differs otherwise."""
    said, _ = plugin(trace)
    theirs = _flat(said["module_stats"])
    otherwise = {
        (line.key.rpartition(";")[2], line.figure)
        for line in listed().listed[trace]
        if line.view == "module_stats" and line.reason == "no_id" and line.figure in FIGURES
    }
    without_driver = _figures(shared, trace, unknown=DRIVER)
    assert without_driver.keys() == theirs.keys()
    found = {
        (module, figure)
        for module, row in without_driver.items()
        for figure, word in FIGURES.items()
        if abs(row[figure] - theirs[module][word]) > 0.1
    }
    assert found == otherwise


def _ours(corpus: tracewh.Warehouse, keys: dict[str, str]) -> dict[str, dict[str, float]]:
    relation = corpus.module_stats(**keys)
    rows = [dict(zip(relation.columns, row, strict=True)) for row in relation.fetchall()]
    return {row["module"]: {figure: row[figure] for figure in FIGURES} for row in rows}


def _flat(modules: list[dict[str, Any]], depth: int = 0) -> dict[str, dict[str, Any]]:
    """The plugin's rows by name; it repeats those of a module that several others call."""
    found: dict[str, dict[str, Any]] = {}
    for module in modules:
        found |= {module["name"]: module | {"depth": depth}}
        found |= _flat(module["children"], depth + 1)
    return found


def _figures(shared: Path, trace: str, unknown: str = "") -> dict[str, dict[str, float]]:
    """What the raw file says, by a plain walk with one stack per thread.

    Args:
        shared: The folder of the traces.
        trace: Path of the trace without suffixes.
        unknown: A category whose rows are left out.
    """
    [path] = (shared / "traces").glob(f"{trace}.json*")
    with gzip.open(path) as file:
        events = json.load(file, parse_float=Decimal)["traceEvents"]
    device: dict[int, Decimal] = defaultdict(Decimal)
    threads: dict[tuple[Any, Any], list[dict[str, Any]]] = defaultdict(list)
    for event in events:
        category = event.get("cat", "")
        if category in ("kernel", "gpu_memcpy", "gpu_memset"):
            device[event["args"]["correlation"]] += event["dur"]
        elif category in HOST and category != unknown:
            threads[event["pid"], event["tid"]].append(event)
    rows: dict[str, dict[str, float]] = {}
    for thread in threads.values():
        thread.sort(key=lambda event: (event["ts"], -event["dur"]))
        _walk(thread, device, rows)
    return rows


def _walk(
    thread: list[dict[str, Any]], device: dict[int, Decimal], rows: dict[str, dict[str, float]]
) -> None:
    stack: list[dict[str, Any]] = []
    for event in thread:
        while stack and stack[-1]["end"] <= event["ts"]:
            stack.pop()
        is_module = event["args"].get("Python module id") is not None
        kind = "module" if is_module else event["cat"]
        modules = [outer["row"] for outer in stack if outer["kind"] == "module"]
        named = [outer for outer in stack if outer["kind"] != "python_function"]
        if named and named[-1]["kind"] == "module" and kind != "python_function":
            modules[-1]["host_self_us"] -= float(event["dur"])
        owners = [outer for outer in named if outer["kind"] != "user_annotation"]
        if owners and owners[-1]["kind"] == "module" and kind == "cpu_op":
            modules[-1]["operators"] += 1
        launched = float(device.get(event["args"].get("correlation"), 0))
        if modules and kind in ("cuda_runtime", DRIVER):
            modules[-1]["device_self_us"] += launched
            for row in modules:
                row["device_total_us"] += launched
        row = {}
        if is_module:
            name = event["name"].removeprefix("nn.Module: ")
            row = rows.setdefault(name, dict.fromkeys(FIGURES, 0.0) | {"depth": len(modules)})
            row["occurrences"] += 1
            row["host_self_us"] += float(event["dur"])
            row["host_total_us"] += float(event["dur"])
            row["depth"] = min(row["depth"], len(modules))
        stack.append({"kind": kind, "end": event["ts"] + event["dur"], "row": row})
