"""Operators of real runs against prof.key_averages() and prof.events(), to the nanosecond.

What differs follows from rules, and each rule is worked out here from the profiler's own events:

- key_averages also lists annotations and Python frames; here operators are listed.
- Inside an operator Python frames are part of it; there they take their time away from it.
- A list of tensors is no shape there, and has the shape of each here.
- There an operator of the backward pass has the call stack of its forward operator, here its own.
- There frames of torch.autograd.backward are left out of call stacks.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from typing import Any

import pytest

from tests.live.conftest import FRAME, LOOPS, OPERATOR, TRACES, Live, Trace

GROUPINGS = ["name", "input_shape", "call_stack", "input_shape_call_stack"]
#: Marks of the frames that key_averages leaves out of stacks.
LEFT_OUT = (("autograd/__init__", "_make_grads"), ("autograd/__init__", "backward"))

each_trace = pytest.mark.parametrize("trace", TRACES, ids="-".join)


def ns(us: float) -> int:
    return round(us * 1000)


def shapes(dims: str | None) -> str:
    """Our shapes as key_averages has them."""
    found = json.loads(dims) if dims else []
    return str([[] if shape and isinstance(shape[0], list) else shape for shape in found])


def stack_of(frames: list[str]) -> tuple[str, ...]:
    """A stack without the frames that key_averages leaves out."""
    return tuple(f for f in frames if not any(a in f and b in f for a, b in LEFT_OUT))


def around(events: list[dict[str, Any]], event: dict[str, Any]) -> list[dict[str, Any]]:
    """Operators and annotations around an event, the innermost first."""
    found = []
    while event["parent"] is not None:
        event = events[event["parent"]]
        if event["kind"] != FRAME:
            found.append(event)
    return found


def in_frames(events: list[dict[str, Any]]) -> Counter[int]:
    """Of each operator, by its place, the time of the frames in it."""
    places = {id(event): place for place, event in enumerate(events)}
    found = Counter[int]()
    for event in events:
        if event["kind"] == FRAME and (outer := around(events, event)):
            found[places[id(outer[0])]] += event["self_ns"]
    return found


def own_stacks(said: dict[str, Any]) -> dict[tuple[str, int, int], tuple[str, ...]]:
    """The stack of each operator as it was recorded."""
    return {
        (event["name"], event["start_ns"], event["end_ns"]): stack_of(event["stack"])
        for event in said["recorded"]
        if event["kind"] == OPERATOR
    }


@each_trace
@pytest.mark.parametrize("group_by", GROUPINGS)
def test_sums_are_those_of_key_averages(live: Live, trace: Trace, group_by: str) -> None:
    said = live.said(trace)
    events, by_stack, by_shape = said["events"], "stack" in group_by, "shape" in group_by
    operators = {event["name"] for event in events if event["kind"] == OPERATOR}

    def key(name: str, shape: str, stack: tuple[str, ...]) -> tuple[Any, ...]:
        return name, shape if by_shape else "", stack if by_stack else ()

    theirs: defaultdict[tuple[Any, ...], list[int]] = defaultdict(lambda: [0, 0, 0])
    for row in said["averages"][group_by]:
        if row["name"] in operators and not row["is_annotation"]:
            of = theirs[key(row["name"], str(row["input_shapes"]), tuple(row["stack"]))]
            of[:] = [row["calls"], row["self_ns"], row["total_ns"]]
    frames_ns, stacks = in_frames(events), own_stacks(said)
    for place, event in enumerate(events):
        if event["kind"] != OPERATOR:
            continue
        name, shape, stack = event["name"], str(event["input_shapes"]), tuple(event["stack"])
        theirs[key(name, shape, stack)][1] += frames_ns[place]
        own = stacks[name, event["start_ns"], event["end_ns"]]
        if by_stack and own != stack:
            assert any(outer["is_backward"] for outer in [event, *around(events, event)])
            self_ns = event["self_ns"] + frames_ns[place]
            moved = (1, self_ns, event["end_ns"] - event["start_ns"])
            for sign, of in (
                (-1, theirs[key(name, shape, stack)]),
                (1, theirs[key(name, shape, own)]),
            ):
                of[:] = [figure + sign * by for figure, by in zip(of, moved, strict=True)]

    ours: defaultdict[tuple[Any, ...], list[int]] = defaultdict(lambda: [0, 0, 0])
    for row in live.rows(trace, "operator_stats", group_by=group_by):
        stack = stack_of((row["call_stack"] or "").rstrip(";").split(";"))
        of = ours[key(row["name"], shapes(row["input_dims"]), stack)]
        figures = (row["calls"], ns(row["host_self_us"]), ns(row["host_total_us"]))
        of[:] = [figure + by for figure, by in zip(of, figures, strict=True)]
    emptied = [theirs.pop(k) for k in [k for k, v in theirs.items() if v[0] == 0]]
    assert all(figures == [0, 0, 0] for figures in emptied)
    # By stack only calls that have one are listed.
    assert dict(ours) == {k: v for k, v in theirs.items() if k[2] or not by_stack}
    assert bool(ours) is (trace in LOOPS or not by_stack)


def test_the_rules_are_needed(live: Live) -> None:
    """Otherwise nothing would show that they are right."""
    said = live.said(LOOPS[0])
    events, stacks = said["events"], own_stacks(said)
    written_in_python = {events[place]["name"] for place, time in in_frames(events).items() if time}
    assert {"Twice", "TwiceBackward"} <= written_in_python
    lists = {
        row["input_dims"]
        for row in live.rows(LOOPS[0], "operator_stats", group_by="input_shape")
        if row["name"] == "aten::cat"
    }
    assert lists == {"[[[4,8],[4,8]],[]]", "[[[8,8],[8,8]],[]]"}
    assert any(
        tuple(event["stack"]) != stacks[event["name"], event["start_ns"], event["end_ns"]]
        for event in events
        if event["kind"] == OPERATOR
    )


@each_trace
def test_calls_are_the_events_of_the_profiler(live: Live, trace: Trace) -> None:
    events = live.said(trace)["events"]
    frames_ns = in_frames(events)
    steps = [
        (event["start_ns"], event["end_ns"], int(event["name"].removeprefix("ProfilerStep#")))
        for event in events
        if event["name"].startswith("ProfilerStep#") and event["kind"] != FRAME
    ]
    theirs = Counter[tuple[Any, ...]]()
    for place, event in enumerate(events):
        if event["kind"] != OPERATOR:
            continue
        outer = around(events, event)
        outermost = [each["name"] for each in (event, *outer) if each["kind"] == OPERATOR][-1]
        theirs[
            event["name"],
            str(event["input_shapes"]),
            event["start_ns"],
            event["end_ns"] - event["start_ns"],
            event["self_ns"] + frames_ns[place],
            outer[0]["name"] if outer else None,
            outermost,
            next((step for start, end, step in steps if start <= event["start_ns"] < end), None),
        ] += 1
    ours = Counter(
        (
            row["name"],
            shapes(row["input_dims"]),
            row["start_ns"],
            ns(row["duration_us"]),
            ns(row["host_self_us"]),
            row["parent_name"],
            row["top_level_op"],
            row["step"],
        )
        for row in live.rows(trace, "operator_calls")
    )
    assert ours == theirs
    assert len(ours) > 50


@each_trace
def test_nothing_of_a_device_is_made_up(live: Live, trace: Trace) -> None:
    """A run on the CPU has no device time, and no kernels; it is not 0."""
    assert {
        (row["device_self_us"], row["device_total_us"])
        for row in live.rows(trace, "operator_stats")
    } == {(None, None)}
    assert {row["kernels"] for row in live.rows(trace, "operator_calls")} == {None}
    for view in ("kernel_stats", "gpu_summary", "utilization_series", "sm_efficiency_series"):
        assert live.rows(trace, view) == []


def test_floating_point_operations_follow_from_the_shapes(live: Live) -> None:
    """A trace does not hold what with_flops works out; the shapes from which it does are there."""
    formulas = {
        "aten::mm": "2 * d[1][1] * d[1][2] * d[2][2]",
        "aten::addmm": "2 * d[2][1] * d[2][2] * d[3][2]",
        "aten::mul": "list_product(d[1])",
    }
    for trace in LOOPS:
        rows = live.said(trace)["averages"]["name"]
        theirs = {row["name"]: row["flops"] for row in rows if row["name"] in formulas}
        cases = " ".join(f"WHEN '{name}' THEN {sql}" for name, sql in formulas.items())
        ours = live.warehouse.sql(
            f"""
            SELECT o.name, CAST(sum(CASE o.name {cases} END) AS BIGINT)
            FROM (
                SELECT c.name, CAST(c.input_dims AS BIGINT[][]) AS d
                FROM operator_calls(run := ?, worker := ?, span := ?) AS c
                WHERE c.name IN ({", ".join(f"'{name}'" for name in formulas)})
            ) AS o
            GROUP BY o.name
            """,
            list(trace),
        ).fetchall()
        assert dict(ours) == theirs
        assert all(theirs.values())
    args = live.warehouse.sql("SELECT DISTINCT unnest(json_keys(args)) FROM host_events").fetchall()
    assert [key for (key,) in args if "flop" in key.lower()] == []
