"""source_lines against a plain walk over the raw file, on frames and on call stacks."""

from __future__ import annotations

import gzip
import json
import re
from collections import defaultdict
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    import tracewh
    from tests.parity.conftest import Peer

#: Trace -> what its lines are.
TRACES = {
    "h100_bert_2025/gaunernst_bert-small-uncased__1016001": "definition",
    "h100_vit_2025/Falconsai_nsfw_image_detection__1016002": "definition",
    "mi300x_qwen_2025/Qwen_Qwen1.5-0.5B-Chat__1016005": "definition",
    "v100_resnet50_2021/resnet50_num_workers_0/worker0.1623143089861.pt.trace": "executed",
    "v100_resnet50_2021/resnet50_num_workers_4/worker0.1623212756351.pt.trace": "executed",
}

CALLS = ("cuda_runtime", "cuda_driver", "runtime")
HOST = ("python_function", "cpu_op", "operator", "user_annotation", *CALLS)

#: Calls, self time, total time, device time, allocated bytes.
Figures = list[Decimal]


@pytest.mark.parametrize("trace", TRACES)
def test_figures_are_those_of_the_raw_file(
    trace: str, shared: Path, plugin: Peer, corpus: tracewh.Warehouse
) -> None:
    _, keys = plugin(trace)
    rows = corpus.source_lines(**keys, frame="innermost").fetchall()
    [path] = (shared / "traces").glob(f"{trace}.json*")
    with gzip.open(path) as file:
        events = json.load(file, parse_float=Decimal)["traceEvents"]
    expected = _figures(events, frames=TRACES[trace] == "definition")
    assert {row[6] for row in rows} == {TRACES[trace]}
    assert {f"{row[3]}({row[4]}): {row[5]}": list(row[7:12]) for row in rows} == {
        line: [pytest.approx(float(x), abs=1e-6) for x in row] for line, row in expected.items()
    }


def test_the_users_lines_have_the_same_sums(corpus: tracewh.Warehouse) -> None:
    """On every trace. A function has the same calls and total time, too."""
    rows = {frame: corpus.source_lines(frame=frame).fetchall() for frame in ("user", "innermost")}
    sums: dict[str, dict[tuple[str, ...], list[float]]] = {}
    for frame, found in rows.items():
        of_trace: dict[tuple[str, ...], list[float]] = defaultdict(lambda: [0.0, 0.0, 0.0])
        for row in found:
            for position, value in enumerate((row[8], row[10], row[11])):
                of_trace[row[:3]][position] += value or 0
        sums[frame] = of_trace
    assert len(sums["user"]) > 8
    assert sums["user"].keys() == sums["innermost"].keys()
    for trace, values in sums["user"].items():
        assert values == pytest.approx(sums["innermost"][trace], rel=1e-9)
    functions = {row[:6]: (row[7], row[9]) for row in rows["innermost"] if row[6] == "definition"}
    for row in rows["user"]:
        if row[6] == "definition":
            assert (row[7], row[9]) == functions[row[:6]]


def test_the_first_lines_of_a_script_are_its_own(corpus: tracewh.Warehouse) -> None:
    """What the innermost lines of 2021 had in torch was called by one file of the user's."""
    rows = corpus.source_lines(run="v100_resnet50_2021/resnet50_num_workers_0").fetchall()
    assert {row[3] for row in rows[:4]} == {"resnet50_profiler_api.py"}
    assert all("site-packages" in row[13] for row in rows[:4])


def _figures(events: list[dict[str, Any]], *, frames: bool) -> dict[str, Figures]:
    device: dict[int, Decimal] = defaultdict(Decimal)
    threads: dict[tuple[Any, Any], list[dict[str, Any]]] = defaultdict(list)
    for event in events:
        category = event.get("cat", "").lower()
        if category in ("kernel", "gpu_memcpy", "gpu_memset", "memcpy", "memset"):
            device[event["args"]["correlation"]] += event["dur"]
        elif category in HOST or event["name"] == "[memory]":
            threads[event["pid"], str(event["tid"])].append(event | {"cat": category})
    found: dict[str, Figures] = defaultdict(lambda: [Decimal(0)] * 5)
    for thread in threads.values():
        thread.sort(key=lambda event: (event["ts"], -event.get("dur", 0)))
        _walk(thread, device, found, frames=frames)
    return found


def _walk(
    thread: list[dict[str, Any]],
    device: dict[int, Decimal],
    found: dict[str, Figures],
    *,
    frames: bool,
) -> None:
    """Instant by instant: the stack is that of what started last and is still open."""
    stack: list[dict[str, Any]] = []
    now = Decimal(0)
    for event in [*thread, {"ts": Decimal("Infinity"), "name": "end", "cat": ""}]:
        while stack and now < event["ts"]:
            until = min(stack[-1]["end"], event["ts"])
            for line in set(stack[-1]["lines"]):
                found[line][2] += until - now
            if stack[-1]["line"]:
                found[stack[-1]["line"]][1] += until - now
            now = until
            stack = [outer for outer in stack if outer["end"] > now]
        now = event["ts"]
        if event["name"] == "[memory]":
            operators = [outer for outer in stack if outer["is_operator"]]
            if operators and operators[-1]["line"]:
                found[operators[-1]["line"]][4] += max(event["args"]["Bytes"], 0)
            continue
        end = now + event.get("dur", Decimal(0))
        # What ends before it does is not around it.
        around = [outer for outer in stack if outer["end"] >= end]
        lines, line = (around[-1]["lines"], around[-1]["line"]) if around else ((), None)
        own = _line(event, frames=frames)
        if own and (frames or own != line):
            found[own][0] += 1
            lines, line = (*lines, own), own
        if line and event["cat"] in CALLS:
            found[line][3] += device.get(event["args"].get("correlation"), 0)
        is_operator = event["cat"] in ("cpu_op", "operator", "user_annotation")
        if end > now:
            stack.append({"end": end, "lines": lines, "line": line, "is_operator": is_operator})


def _line(event: dict[str, Any], *, frames: bool) -> str | None:
    if frames:
        is_line = event["cat"] == "python_function" and re.match(r".*\(\d+\): ", event["name"])
        return event["name"] if is_line else None
    name = event["name"]
    if event["cat"] != "operator" or name.startswith(("ProfilerStep#", "enumerate(", "Optimizer.")):
        return None
    return event["args"].get("Call stack", "").split(";")[0] or None
