"""Steps of real runs against the schedule, and what they are made of against the profiler's events."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from typing import Any

import pytest

from tests.live.conftest import ANNOTATION, LOOPS, OPERATOR, PAIR, TRACES, Live, Trace

# As in record.py: one step is skipped, one warms up, two are recorded, and all that again.
WAIT, WARMUP, ACTIVE = 1, 1, 2
STEPPED = [trace for trace in TRACES if trace[0] != "threads"]
#: What a step of the loop does once each, but for loading its data.
MARKERS = {"forward", "backward", "Optimizer.step#SGD.step", "Optimizer.zero_grad#SGD.zero_grad"}
LOADER = "enumerate(DataLoader)#"

each_stepped = pytest.mark.parametrize("trace", STEPPED, ids="-".join)


def on_schedule(trace: Trace) -> list[int]:
    """The steps that a span records."""
    first = (int(trace[2]) - 1) * (WAIT + WARMUP + ACTIVE) + WAIT + WARMUP
    return list(range(first, first + ACTIVE))


def recorded(live: Live, trace: Trace) -> list[dict[str, Any]]:
    """The profiler's operators and annotations."""
    kinds = (OPERATOR, ANNOTATION)
    return [event for event in live.said(trace)["recorded"] if event["kind"] in kinds]


@each_stepped
def test_steps_are_those_of_the_schedule(live: Live, trace: Trace) -> None:
    theirs = [
        (int(event["name"].removeprefix("ProfilerStep#")), event["start_ns"], event["end_ns"])
        for event in recorded(live, trace)
        if event["name"].startswith("ProfilerStep#")
    ]
    assert sorted(step for step, _, _ in theirs) == on_schedule(trace)
    ours = live.warehouse.sql(
        "SELECT step, start_ns, end_ns FROM steps WHERE (run, worker, span) = (?, ?, ?)",
        list(trace),
    ).fetchall()
    assert sorted(ours) == sorted(theirs)
    # Nothing ran on a device, so that steps last as long as they were recorded.
    rows = live.rows(trace, "step_breakdown")
    assert [(row["step"], round(row["total_us"] * 1000), row["is_tail"]) for row in rows] == [
        (step, end - start, False) for step, start, end in sorted(theirs)
    ]


def test_runs_count_spans_and_steps(live: Live) -> None:
    columns = "run, workers, spans, traces, steps, devices, world_size, backend"
    rows = live.warehouse.sql(f"SELECT {columns} FROM runs() ORDER BY run").fetchall()
    assert rows == [
        ("bare", 1, 1, 1, 2, 0, None, None),
        ("loop", 1, 2, 2, 4, 0, None, None),
        ("pair", 2, 1, 2, 4, 0, 2, "gloo"),
        ("threads", 1, 1, 1, 0, 0, None, None),
    ]


def owners(events: list[dict[str, Any]], start: int, end: int) -> dict[str, int]:
    """How long each category owns of a step, instant by instant."""
    order = ("communication_us", "dataloader_us", "cpu_exec_us")
    inside = []
    for event in events:
        if event["name"].startswith("ProfilerStep#"):
            continue
        if event["name"].startswith(("gloo:", "c10d::allreduce_")):
            place = 0
        else:
            place = 1 if event["name"].startswith(LOADER) else 2
        inside.append((max(event["start_ns"], start), min(event["end_ns"], end), place))
    inside = [each for each in inside if each[0] < each[1]]
    edges = sorted({start, end, *(edge for each in inside for edge in each[:2])})
    found = dict.fromkeys((*order, "other_us"), 0)
    for begin, stop in pairwise(edges):
        active = [place for left, right, place in inside if left <= begin and stop <= right]
        found[order[min(active)] if active else "other_us"] += stop - begin
    return found


@each_stepped
def test_each_instant_of_a_step_has_its_owner(live: Live, trace: Trace) -> None:
    events = recorded(live, trace)
    rows = {row["step"]: row for row in live.rows(trace, "step_breakdown")}
    for event in events:
        if event["name"].startswith("ProfilerStep#"):
            row = rows.pop(int(event["name"].removeprefix("ProfilerStep#")))
            theirs = owners(events, event["start_ns"], event["end_ns"])
            assert {name: round(row[name] * 1000) for name in theirs} == theirs
            assert theirs["dataloader_us"] + theirs["communication_us"] > 0 < theirs["cpu_exec_us"]
            assert (theirs["communication_us"] > 0) is (trace in PAIR)
            # What a CPU cannot do was not measured.
            device = ("kernel_us", "memcpy_us", "memset_us", "runtime_us")
            assert [row[name] for name in device] == [None] * 4
    assert rows == {}


def test_without_steps_the_recording_is_one(live: Live) -> None:
    trace = ("threads", "main", "1")
    events = recorded(live, trace)
    start = min(event["start_ns"] for event in events)
    end = max(event["end_ns"] for event in events)
    [row] = live.rows(trace, "step_breakdown")
    theirs = owners(events, start, end)
    assert (row["step"], round(row["total_us"] * 1000)) == (None, end - start)
    assert {name: round(row[name] * 1000) for name in theirs} == theirs


@each_stepped
def test_the_summary_has_the_means(live: Live, trace: Trace) -> None:
    steps = live.rows(trace, "step_breakdown")
    means = {row["category"]: row for row in live.rows(trace, "step_breakdown_summary")}
    total = sum(step["total_us"] for step in steps) / ACTIVE
    for category, row in means.items():
        of_steps = [step[f"{category}_us"] for step in steps]
        if None in of_steps:
            assert (row["mean_us"], row["share_pct"]) == (None, None)
        else:
            mean = sum(of_steps) / ACTIVE
            assert row["mean_us"] == pytest.approx(mean)
            assert row["share_pct"] == pytest.approx(100 * mean / total)


@each_stepped
def test_markers_are_the_annotations_of_the_profiler(live: Live, trace: Trace) -> None:
    ours = live.warehouse.sql(
        """
        SELECT a.name, a.start_ns, a.start_ns + a.duration_ns
        FROM annotations AS a
        WHERE (a.run, a.worker, a.span) = (?, ?, ?)
        """,
        list(trace),
    ).fetchall()
    theirs = [
        (event["name"], event["start_ns"], event["end_ns"])
        for event in recorded(live, trace)
        if event["kind"] == ANNOTATION
    ]
    assert sorted(ours) == sorted(theirs)
    names = Counter(name for name, _, _ in ours)
    assert {name: names[name] for name in MARKERS} == dict.fromkeys(MARKERS, ACTIVE)
    loader = "_MultiProcessing" if trace in LOOPS else "_SingleProcess"
    assert names[f"{LOADER}{loader}DataLoaderIter.__next__"] == ACTIVE


@each_stepped
def test_what_a_marker_holds_is_known(live: Live, trace: Trace) -> None:
    """SGD with momentum adds to the gradient's average, and then to each of the 8 parameters."""
    parents = Counter(
        (row["parent_name"], row["name"], row["step"])
        for row in live.rows(trace, "operator_calls")
        if row["parent_name"] in MARKERS
    )
    for step in on_schedule(trace):
        assert parents["Optimizer.step#SGD.step", "aten::mul_", step] == 8
        assert parents["Optimizer.step#SGD.step", "aten::add_", step] == 16
        assert parents["forward", "aten::square", step] == 1
        assert parents["forward", "aten::mean", step] == 1


@each_stepped
def test_operators_of_a_step_are_those_that_start_in_it(live: Live, trace: Trace) -> None:
    calls = Counter((row["step"], row["name"]) for row in live.rows(trace, "operator_calls"))
    for step in on_schedule(trace):
        ours = {row["name"]: row["calls"] for row in live.rows(trace, "operator_stats", step=step)}
        assert ours == {name: number for (of, name), number in calls.items() if of == step}
