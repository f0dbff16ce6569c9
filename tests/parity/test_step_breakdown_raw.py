"""step_breakdown against a second, plain reading of its definition from the raw files."""

from __future__ import annotations

import gzip
import json
from collections import defaultdict
from decimal import Decimal
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import tracewh

FIGURES = [
    *("kernel_us", "memcpy_us", "memset_us", "communication_us", "runtime_us", "dataloader_us"),
    *("cpu_exec_us", "other_us", "total_us"),
]


def test_every_nanosecond_is_that_of_the_raw_file(corpus: tracewh.Warehouse) -> None:
    """All traces in one test: a list of them here would go stale."""
    traces = corpus.sql("SELECT t.run, t.worker, t.span, t.source_path FROM traces AS t").fetchall()
    assert len(traces) > 20
    for run, worker, span, path in traces:
        if not path.endswith(".gz"):
            continue  # another tool's list of events, without steps
        with gzip.open(path) as file:
            events = json.load(file, parse_float=Decimal)["traceEvents"]
        relation = corpus.step_breakdown(run=run, worker=worker, span=span)
        rows = [dict(zip(relation.columns, row, strict=True)) for row in relation.fetchall()]
        ours = [
            (row["step"], [round((row[figure] or 0) * 1000) for figure in FIGURES]) for row in rows
        ]
        figures = _figures(events)
        if [step for step, _ in figures] == [None] and len(ours) == 1:
            ours = [
                (None, ours[0][1])
            ]  # the step of a serving framework, which is all of the trace
        assert (path, ours) == (path, figures)


# The definition once more, independent of ingest and of SQL: lists of [start, end] per role.

Spans = list[list[int]]

TODAY = {
    "Operator": "cpu_op",
    "Runtime": "cuda_runtime",
    "Kernel": "kernel",
    "Memcpy": "gpu_memcpy",
    "Memset": "gpu_memset",
}
ON_HOST = ("gloo:",)
#: Every c10d operator of these traces is a collective, and those beside kernels call NCCL.
ON_DEVICE = ("nccl:", "c10d::")
LOADER = ("enumerate(DataLoader)#", "enumerate(DataPipe)#")
ROLES = ["kernel", "memcpy", "memset", "communication", "runtime", "dataloader", "cpu_exec"]
DEVICE = ROLES[:4]


def _figures(events: list[dict[str, Any]]) -> list[tuple[int | None, list[int]]]:
    """Step, time of the seven roles, of nothing and in all, in ns."""
    timed = []
    for event in events:
        if event.get("ph") == "X" and event["cat"] != "Trace":
            start = int(event["ts"] * 1000)
            category = TODAY.get(event["cat"], event["cat"])
            timed.append(
                {**event, "cat": category, "s": start, "e": start + int(event["dur"] * 1000)}
            )
    spans: dict[str, Spans] = defaultdict(list)
    for event in timed:
        event["role"] = _role(event["cat"], event["name"])
    has_kernels = any(
        event["role"] == "kernel" or (event["role"] == "communication" and _on_device(event))
        for event in timed
    )
    for event in timed:
        if has_kernels and not _on_device(event) and event["name"].startswith(ON_DEVICE):
            event["role"] = "cpu_exec"  # what only launches
        spans[event["role"]].append([event["s"], event["e"]])
    unions = [_union(spans[role]) for role in ROLES]
    figures = []
    for step, start, end in _steps(timed):
        rest, row = [[start, end]], []
        for union in unions:
            left = _without(rest, union)
            row.append(_length(rest) - _length(left))
            rest = left
        figures.append((step, [*row, _length(rest), end - start]))
    return figures


def _on_device(event: dict[str, Any]) -> bool:
    return event["cat"] not in ("cpu_op", "user_annotation")


def _role(category: str, name: str) -> str:
    on_host = category in ("cpu_op", "user_annotation")
    if category == "gpu_memcpy" or (category == "mtia_ccp_events" and name.startswith("dma")):
        return "memcpy"
    if category == "kernel" and name.startswith("__amd_rocclr_copyBuffer"):
        return "memcpy"
    if category == "gpu_memset":
        return "memset"
    if category == "mtia_ccp_events" and name.startswith("event_"):  # waits for and notes events
        return "none"
    if category in ("kernel", "mtia_ccp_events"):
        return "communication" if "nccl" in name.lower() else "kernel"
    if category.endswith(("_runtime", "_driver")):
        return "runtime"
    if not on_host or name.startswith("ProfilerStep#"):
        return "none"
    if name.startswith(ON_HOST + ON_DEVICE):
        return "communication"
    return "dataloader" if name.startswith(LOADER) else "cpu_exec"


def _steps(events: list[dict[str, Any]]) -> list[tuple[int | None, int, int]]:
    marks = [
        event
        for event in events
        if event["name"].startswith("ProfilerStep#") and event["cat"] != "gpu_user_annotation"
    ]
    if not marks:
        return [(None, min(e["s"] for e in events), max(e["e"] for e in events))]
    calls = {
        event["args"].get("correlation"): event for event in events if event["role"] == "runtime"
    }
    work: list[list[dict[str, Any]]] = [[] for _ in marks]
    outside: list[dict[str, Any]] = []
    marks.sort(key=lambda mark: int(mark["s"]))
    for event in events:
        if event["role"] in DEVICE and _on_device(event):
            call = calls.get(event["args"].get("correlation"))
            owner = outside
            for mark, launched in zip(marks, work, strict=True):
                if call and mark["s"] <= call["s"] and call["e"] <= mark["e"]:
                    owner = launched
                    break
            owner.append(event)
    previous = marks[0]["s"]
    if work[0]:
        first = min(event["s"] for event in work[0])
        previous = max([previous, *(event["e"] for event in outside if event["e"] < first)])
    steps: list[tuple[int | None, int, int]] = []
    for mark, launched in zip(marks, work, strict=True):
        start = max(previous, mark["s"])
        previous = max([start, mark["e"], *(event["e"] for event in launched)])
        steps.append((int(mark["name"].removeprefix("ProfilerStep#")), start, previous))
    return steps


def _union(spans: Spans) -> Spans:
    union: Spans = []
    for start, end in sorted(spans):
        if union and start <= union[-1][1]:
            union[-1][1] = max(union[-1][1], end)
        else:
            union.append([start, end])
    return union


def _without(spans: Spans, cuts: Spans) -> Spans:
    """Both sorted and without overlap."""
    left: Spans = []
    position = 0
    for start, end in spans:
        while position < len(cuts) and cuts[position][1] <= start:
            position += 1
        index = position
        while index < len(cuts) and cuts[index][0] < end:
            if cuts[index][0] > start:
                left.append([start, cuts[index][0]])
            start = cuts[index][1]
            index += 1
        if start < end:
            left.append([start, end])
    return left


def _length(spans: Spans) -> int:
    return sum(end - start for start, end in spans)
