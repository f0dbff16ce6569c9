"""Modules, lines and stacks of a model whose calls are known, against the profiler's frames.

At each instant all that is open on a thread makes a stack, in the order in which it was opened.
"""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from itertools import pairwise
from operator import attrgetter
from typing import Any

import pytest

from tests.live.conftest import FRAME, LOOPS, TRACES, Live, Trace, allocations

ACTIVE = 2
#: Module -> its depth, calls in a step, and operators that a call calls itself.
MODULES = {
    "Tree_0": (0, 1, 1),  # Twice
    "Sequential_0": (1, 1, 0),
    "Branch_0": (2, 1, 1),  # cat
    "Leaf_0": (3, 2, 1),  # relu
    "Linear_0": (4, 2, 1),  # linear
    "Leaf_1": (3, 1, 1),
    "Linear_1": (4, 1, 1),
    "Branch_1": (2, 1, 1),
    "Leaf_2": (3, 2, 1),
    "Linear_2": (4, 2, 1),
    "Leaf_3": (3, 1, 1),
    "Linear_3": (4, 1, 1),
}
#: Function -> its calls in a step.
FUNCTIONS = {
    "Tree.forward": 1,
    "Branch.forward": 2,
    "Leaf.forward": 6,
    "Twice.forward": 1,
    "Twice.backward": 1,
    "doubled": 2,
}
MODULE = "nn.Module: "
LINE = re.compile(r"(.*)\((\d+)\): (.*)")


def definition(function: str) -> tuple[int, str]:
    """The line at which a function of models.py starts, and its name."""
    # It imports torch, and every process of a test run collects this file.
    from tests.live import models

    code = attrgetter(function)(models).__code__
    return code.co_firstlineno, code.co_name


each_loop = pytest.mark.parametrize("trace", LOOPS, ids="-".join)


def instants(live: Live, trace: Trace) -> Iterator[tuple[int, int, list[dict[str, Any]]]]:
    """Each stretch of a thread with the same stack, with its start, end and events from the outside.

    The innermost event is the one that started last; around each is the last before that contains it.
    """
    threads = defaultdict(list)
    for event in live.said(trace)["recorded"]:
        if event["start_ns"] < event["end_ns"]:
            threads[event["thread"]].append(event)
    for events in threads.values():
        events.sort(key=lambda event: (event["start_ns"], -event["end_ns"]))
        edges = sorted({edge for event in events for edge in (event["start_ns"], event["end_ns"])})
        is_open: list[dict[str, Any]] = []
        stacks: dict[int, list[dict[str, Any]]] = {}
        position = 0
        for start, end in pairwise(edges):
            is_open = [event for event in is_open if event["end_ns"] > start]
            while position < len(events) and events[position]["start_ns"] <= start:
                event = events[position]
                outer = [other for other in is_open if other["end_ns"] >= event["end_ns"]]
                stacks[id(event)] = [*(stacks[id(outer[-1])] if outer else []), event]
                is_open.append(event)
                position += 1
            if is_open:
                yield start, end, stacks[id(is_open[-1])]


def is_named(event: dict[str, Any]) -> bool:
    """Whether it is no plain frame: a module, an operator, an annotation."""
    return event["kind"] != FRAME or str(event["name"]).startswith(MODULE)


@each_loop
def test_modules_are_called_as_often_as_the_model_says(live: Live, trace: Trace) -> None:
    rows = {row["module"]: row for row in live.rows(trace, "module_stats")}
    assert {
        name: (row["depth"], row["occurrences"], row["operators"]) for name, row in rows.items()
    } == {
        name: (depth, ACTIVE * calls, ACTIVE * calls * operators)
        for name, (depth, calls, operators) in MODULES.items()
    }
    assert all(row["module_id"] == int(name.rpartition("_")[2]) for name, row in rows.items())


@each_loop
def test_modules_take_what_key_averages_says(live: Live, trace: Trace) -> None:
    said = live.said(trace)
    theirs = {
        row["name"].removeprefix(MODULE): (row["calls"], row["total_ns"])
        for row in said["averages"]["name"]
        if row["name"].startswith(MODULE)
    }
    if not theirs:  # Torch 2.14 leaves modules out of its averages.
        calls, total_ns = Counter[str](), Counter[str]()
        for event in said["recorded"]:
            if event["name"].startswith(MODULE):
                module = event["name"].removeprefix(MODULE)
                calls[module] += 1
                total_ns[module] += event["end_ns"] - event["start_ns"]
        theirs = {module: (calls[module], total_ns[module]) for module in calls}
    self_ns = Counter[str]()
    for start, end, is_open in instants(live, trace):
        innermost = next((event for event in reversed(is_open) if is_named(event)), None)
        if innermost and innermost["name"].startswith(MODULE):
            self_ns[innermost["name"].removeprefix(MODULE)] += end - start
    rows = live.rows(trace, "module_stats")
    assert {
        row["module"]: (row["occurrences"], round(row["host_total_us"] * 1000)) for row in rows
    } == theirs
    assert {row["module"]: round(row["host_self_us"] * 1000) for row in rows} == self_ns
    assert {(row["device_self_us"], row["device_total_us"]) for row in rows} == {(None, None)}


@each_loop
def test_the_tree_of_modules_is_that_of_the_model(live: Live, trace: Trace) -> None:
    often, once = "{0};Leaf_{1};Linear_{1}", "{0};Leaf_{2};Linear_{2}"
    paths = ["Tree_0", "Tree_0;Sequential_0"]
    for number in range(2):
        branch = f"Tree_0;Sequential_0;Branch_{number}"
        paths.append(branch)
        for call in (often, often, once):
            path = call.format(branch, 2 * number, 2 * number + 1)
            paths += [path.rpartition(";")[0], path]
    rows = live.rows(trace, "module_tree")
    assert [row["path"] for row in rows] == paths * ACTIVE
    theirs = [
        (event["name"].removeprefix(MODULE), event["start_ns"], event["end_ns"])
        for event in live.said(trace)["recorded"]
        if event["name"].startswith(MODULE)
    ]
    assert [
        (row["module"], row["start_ns"], row["start_ns"] + round(row["host_total_us"] * 1000))
        for row in rows
    ] == sorted(theirs, key=lambda row: (row[1], -row[2]))


@each_loop
def test_lines_are_those_of_the_functions(live: Live, trace: Trace) -> None:
    expected = {
        ("models.py", *definition(each)): (ACTIVE * calls, "definition")
        for each, calls in FUNCTIONS.items()
    }
    ours = {
        (row["source_file"], row["source_line"], row["source_function"]): (
            row["calls"],
            row["line_kind"],
        )
        for row in live.rows(trace, "source_lines")
        if row["source_file"] == "models.py"
    }
    assert ours == expected


@each_loop
def test_each_instant_belongs_to_the_innermost_line(live: Live, trace: Trace) -> None:
    theirs: defaultdict[tuple[str, ...], list[int]] = defaultdict(lambda: [0, 0, 0])
    calls = [event["name"] for event in live.said(trace)["recorded"] if event["kind"] == FRAME]
    for name in calls:
        if found := LINE.fullmatch(name):
            theirs[found.groups()][0] += 1
    for start, end, stack in instants(live, trace):
        frames = [event["name"] for event in stack if event["kind"] == FRAME]
        lines = [found.groups() for name in frames if (found := LINE.fullmatch(name))]
        for line in set(lines):
            theirs[line][2] += end - start
        if lines:
            theirs[lines[-1]][1] += end - start
    ours = {
        (row["source_file"], str(row["source_line"]), row["source_function"]): [
            row["calls"],
            round(row["host_self_us"] * 1000),
            round(row["host_total_us"] * 1000),
        ]
        for row in live.rows(trace, "source_lines", frame="innermost")
    }
    assert ours == theirs


@each_loop
def test_memory_belongs_to_the_line_around_its_operator(live: Live, trace: Trace) -> None:
    """The models' own lines; what is allocated in them is in operators."""
    theirs = Counter[int]()
    for record in allocations(live.said(trace)):
        if record["bytes"] > 0 and record["around"]:
            _, _, start_ns = record["around"][0]
            frames = [name for name, frame_ns in record["frames"] if frame_ns <= start_ns]
            lines = [found for name in frames if (found := LINE.fullmatch(name))]
            if lines and lines[0][1] == "models.py":
                theirs[int(lines[0][2])] += record["bytes"]
    ours = {
        row["source_line"]: row["allocated_bytes"]
        for row in live.rows(trace, "source_lines", frame="innermost")
        if row["source_file"] == "models.py" and row["allocated_bytes"]
    }
    assert ours == theirs
    assert definition("doubled")[0] in ours


@pytest.mark.parametrize("trace", TRACES, ids="-".join)
def test_stacks_are_what_is_open_on_a_thread(live: Live, trace: Trace) -> None:
    theirs = Counter[str]()
    for start, end, stack in instants(live, trace):
        theirs[";".join(shown(event["name"]) for event in stack)] += end - start
    ours = {row["stack"]: round(row["value_us"] * 1000) for row in live.rows(trace, "flamegraph")}
    assert ours == theirs
    assert len(ours) > 10


def shown(name: str) -> str:
    """A name as it stands in a stack."""
    name = "ProfilerStep*" if name.startswith("ProfilerStep#") else name
    return name.replace(";", ",").replace("\n", " ")


@each_loop
def test_stacks_of_memory_have_all_that_was_allocated(live: Live, trace: Trace) -> None:
    allocated = sum(max(record["bytes"], 0) for record in live.said(trace)["allocations"])
    rows = live.rows(trace, "flamegraph", metric="bytes")
    assert sum(row["value_bytes"] for row in rows) == allocated
    assert all(row["stack"].endswith(";[cpu]") for row in rows)
    in_mul = sum(row["value_bytes"] for row in rows if ": doubled;" in row["stack"])
    lines = live.rows(trace, "source_lines")
    assert [in_mul] == [
        row["allocated_bytes"] for row in lines if row["source_function"] == "doubled"
    ]
    assert live.rows(trace, "flamegraph", metric="device") == []


def test_a_trace_without_frames_has_no_modules_and_lines(live: Live) -> None:
    trace = ("bare", "main", "1")
    for view in ("module_stats", "module_tree", "source_lines", "lightning_stats"):
        assert live.rows(trace, view) == []
    names = {json.dumps(row["stack"].split(";")[0]) for row in live.rows(trace, "flamegraph")}
    assert names == {'"ProfilerStep*"'}
