"""module_stats and module_tree against the TensorBoard plugin and against the raw file."""

from __future__ import annotations

import gzip
import json
from collections import defaultdict
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    import tracewh
    from tests.parity.conftest import Peer

# The plugin's, as its other differences:
NO_ID = "runtime calls without an External id are taken for the first event that has none either"
# and one that needs no list: it does not know cuda_driver rows, so cuLaunchKernel launches nothing.
DRIVER = "cuda_driver"
HOST = ("cpu_op", "user_annotation", "python_function", "cuda_runtime", DRIVER)

BERT = "h100_bert_2025/gaunernst_bert-small-uncased__1016001"
QWEN = "h100_qwen_2025/Qwen_Qwen1.5-0.5B-Chat__1016005"
VIT = "h100_vit_2025/Falconsai_nsfw_image_detection__1016002"
MI300X_QWEN = "mi300x_qwen_2025/Qwen_Qwen1.5-0.5B-Chat__1016005"
SGLANG = "mi300x_sglang_decode_2026/sglang_Qwen3-8B_decode"

#: The traces of the corpus that have modules.
TRACES = [BERT, QWEN, VIT, MI300X_QWEN, SGLANG]

#: (trace, module, figure) -> (ours, the plugin's, why).
DIFFERENCES: dict[tuple[str, str, str], tuple[float, float, str]] = {
    (BERT, "BertLMHeadModel_0", "host_self_us"): (103.191, 91.281, NO_ID),
    (QWEN, "Qwen2Model_0", "host_self_us"): (618.980, -15650.829, NO_ID),
    (VIT, "ViTModel_0", "host_self_us"): (111.611, 97.961, NO_ID),
    (MI300X_QWEN, "Qwen2Model_0", "host_self_us"): (1099.047, -16038.180, NO_ID),
    (SGLANG, "Sampler_0", "host_self_us"): (8.603, -1599.469, NO_ID),
    # hipGraphLaunch, before the Sampler is called
    (SGLANG, "Sampler_0", "device_self_us"): (53.840, 9727.829, NO_ID),
    (SGLANG, "Sampler_0", "device_total_us"): (53.840, 9727.829, NO_ID),
}

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
def test_nothing_but_the_listed_figures_and_driver_calls_differs(
    trace: str, shared: Path, plugin: Peer, corpus: tracewh.Warehouse
) -> None:
    said, keys = plugin(trace)
    theirs = _flat(said["module_stats"])
    without_driver = _figures(shared, trace, unknown=DRIVER)
    ours = _ours(corpus, keys)
    assert ours.keys() == theirs.keys()
    found = {
        (trace, module, figure): pytest.approx(
            (ours[module][figure], theirs[module][word]), abs=0.001
        )
        for module in ours
        for figure, word in FIGURES.items()
        if abs(without_driver[module][figure] - theirs[module][word]) > 0.1
    }
    listed = {key: (a, b) for key, (a, b, _) in DIFFERENCES.items() if key[0] == trace}
    assert listed == found


@pytest.mark.parametrize("trace", TRACES)
def test_the_tree_has_the_plugins_paths(
    trace: str, plugin: Peer, corpus: tracewh.Warehouse
) -> None:
    said, keys = plugin(trace)
    rows = corpus.sql(
        "SELECT DISTINCT t.path FROM module_tree(run := ?, worker := ?, span := ?) AS t",
        [keys["run"], keys["worker"], keys["span"]],
    ).fetchall()
    assert {path for (path,) in rows} == set(_paths(said["module_stats"]))


def _ours(corpus: tracewh.Warehouse, keys: dict[str, str]) -> dict[str, dict[str, float]]:
    relation = corpus.module_stats(**keys)
    rows = [dict(zip(relation.columns, row, strict=True)) for row in relation.fetchall()]
    return {row["module"]: {figure: row[figure] for figure in FIGURES} for row in rows}


def _flat(modules: list[dict[str, Any]], depth: int = 0) -> dict[str, dict[str, Any]]:
    """The plugin's rows by name; it repeats those of a module that several others call."""
    found = {}
    for module in modules:
        found |= {module["name"]: module | {"depth": depth}}
        found |= _flat(module["children"], depth + 1)
    return found


def _paths(modules: list[dict[str, Any]]) -> list[str]:
    return [
        path
        for module in modules
        for path in [
            module["name"],
            *(f"{module['name']};{path}" for path in _paths(module["children"])),
        ]
    ]


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
            row = rows.setdefault(name, dict.fromkeys(FIGURES, 0) | {"depth": len(modules)})
            row["occurrences"] += 1
            row["host_self_us"] += float(event["dur"])
            row["host_total_us"] += float(event["dur"])
            row["depth"] = min(row["depth"], len(modules))
        stack.append({"kind": kind, "end": event["ts"] + event["dur"], "row": row})
