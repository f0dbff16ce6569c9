"""Memory of real runs against the allocations in the profiler's own tree of events."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import Any

import pytest

from tests.live.conftest import LOOPS, OPERATOR, PAIR, Live, Trace, allocations

REMEMBERED = [*LOOPS, ("bare", "main", "1"), *PAIR]

each_trace = pytest.mark.parametrize("trace", REMEMBERED, ids="-".join)
each_loop = pytest.mark.parametrize("trace", LOOPS, ids="-".join)


def operators(said: dict[str, Any]) -> set[str]:
    """Names of operators."""
    return {event["name"] for event in said["events"] if event["kind"] == OPERATOR}


def displayed(record: dict[str, Any]) -> str | None:
    """The operator, or the annotation where there is none, as the views of memory name it."""
    around = record["around"]
    places = [place for place, (_, kind, _) in enumerate(around) if kind == OPERATOR] or [0]
    names = [name for name, _, _ in around[places[0] :]]
    if names and names[0].startswith("aten::empty") and len(names) > 1:
        return f"{names[1]} ({names[0]})"
    return names[0] if names else None


@each_trace
def test_the_curve_is_what_the_profiler_recorded(live: Live, trace: Trace) -> None:
    ours = [
        (row["device"], row["time_ns"], row["allocated_bytes"], row["reserved_bytes"])
        for row in live.rows(trace, "memory_curve")
    ]
    theirs = [
        (each["device"], each["time_ns"], each["allocated_bytes"], each["reserved_bytes"])
        for each in live.said(trace)["allocations"]
    ]
    assert sorted(ours) == sorted(theirs)
    assert [row[1] for row in ours] == sorted(row[1] for row in theirs)
    assert len(ours) > 100


def test_nothing_was_recorded_of_other_threads(live: Live) -> None:
    """The profiler records memory on the thread that started it."""
    trace = ("threads", "main", "1")
    assert live.said(trace)["allocations"] == []
    assert live.rows(trace, "memory_events") == live.rows(trace, "memory_stats") == []


@each_trace
def test_blocks_are_allocations_and_releases_of_one_address(live: Live, trace: Trace) -> None:
    open_blocks: dict[int, dict[str, Any]] = {}
    theirs = Counter[tuple[Any, ...]]()
    for record in allocations(live.said(trace)):
        first = open_blocks.pop(record["address"], None)
        if record["bytes"] > 0:
            assert first is None  # an address that is in use is not given out again
            open_blocks[record["address"]] = record
        elif first:
            assert record["bytes"] == -first["bytes"]
            lived = (first["time_ns"], record["time_ns"])
            theirs[displayed(first), record["address"], first["bytes"], *lived] += 1
        else:
            theirs[None, record["address"], -record["bytes"], None, record["time_ns"]] += 1
    for record in open_blocks.values():
        lived = (record["time_ns"], None)
        theirs[displayed(record), record["address"], record["bytes"], *lived] += 1
    ours = Counter(
        (
            row["operator"],
            row["address"],
            row["size_bytes"],
            row["allocated_ns"],
            row["released_ns"],
        )
        for row in live.rows(trace, "memory_events")
    )
    assert ours == theirs
    assert {None, "aten::addmm", "aten::ones_like (aten::empty_like)"} & {row[0] for row in ours}


@each_loop
def test_lifetimes_are_those_of_the_profilers_timeline(live: Live, trace: Trace) -> None:
    """_memory_profile follows tensors, and finds the same lives of the storages that it knows."""
    created: dict[str, tuple[int, int]] = {}
    theirs = Counter[tuple[int, int, int]]()
    for time_ns, action, key, size in live.said(trace)["timeline"]:
        if action == "CREATE" and key.startswith("(id="):
            created[key] = (time_ns, size)
        elif action == "DESTROY" and key in created:
            theirs[(*created.pop(key), time_ns)] += 1
    ours = Counter(
        (row["allocated_ns"], row["size_bytes"], row["released_ns"])
        for row in live.rows(trace, "memory_events")
    )
    assert theirs - ours == Counter()
    assert len(theirs) > 20


@each_trace
def test_sums_are_those_of_key_averages(live: Live, trace: Trace) -> None:
    said = live.said(trace)
    known = operators(said)
    theirs = {
        row["name"]: (row["calls"], row["bytes"], row["self_bytes"])
        for row in said["averages"]["name"]
        if row["name"] in known and not row["is_annotation"]
    }
    ours = {
        row["operator"]: (row["calls"], row["size_increase_bytes"], row["self_size_increase_bytes"])
        for row in live.rows(trace, "memory_stats")
    }
    outside = ours.pop(None)
    # Who neither allocates nor releases has no row; who releases all that it allocated has one.
    assert ours == {name: theirs[name] for name in ours}
    assert {
        name: figures for name, figures in theirs.items() if any(figures[1:])
    }.keys() <= ours.keys()
    total = sum(record["bytes"] for record in said["allocations"])
    assert outside == (None, *(total - sum(each[2] for each in ours.values()),) * 2)


@each_trace
def test_allocations_are_counted_for_all_that_is_around_them(live: Live, trace: Trace) -> None:
    theirs: defaultdict[str | None, list[int]] = defaultdict(lambda: [0, 0, 0, 0])
    for record in allocations(live.said(trace)):
        if record["bytes"] <= 0:
            continue
        around = [name for name, kind, _ in record["around"] if kind == OPERATOR] or [None]
        theirs[around[0]][1] += 1
        theirs[around[0]][3] += record["bytes"]
        for name in set(around):
            theirs[name][0] += 1
            theirs[name][2] += record["bytes"]
    ours = {
        row["operator"]: [
            row["allocations"],
            row["self_allocations"],
            row["allocated_bytes"],
            row["self_allocated_bytes"],
        ]
        for row in live.rows(trace, "memory_stats")
    }
    assert {name: figures for name, figures in ours.items() if any(figures)} == theirs


@each_loop
def test_the_peak_is_held_by_who_allocated_it(live: Live, trace: Trace) -> None:
    records = allocations(live.said(trace))
    peak = max(records, key=lambda each: int(each["allocated_bytes"]))
    position = records.index(peak)
    alive: dict[int, dict[str, Any]] = {}
    for record in records[: position + 1]:
        if record["bytes"] > 0:
            alive[record["address"]] = record
        else:
            alive.pop(record["address"], None)
    before = {}
    seen = {record["address"] for record in records[: position + 1]}
    for record in records[position + 1 :]:
        if record["address"] not in seen and record["bytes"] < 0:
            before[record["address"]] = record
        seen.add(record["address"])
    theirs: defaultdict[tuple[Any, ...], list[int]] = defaultdict(lambda: [0, 0])
    for record in alive.values():
        # What is around the operator, or the annotation where there is no operator.
        start_ns = record["around"][0][2] if record["around"] else 0
        frames = [name for name, frame_ns in record["frames"] if frame_ns <= start_ns]
        modules = [name for name in frames if name.startswith("nn.Module: ")]
        lines = [name for name in frames if not name.startswith("nn.Module: ")]
        of = theirs[
            displayed(record),
            modules[0].removeprefix("nn.Module: ") if modules else None,
            lines[0].partition("): ")[0] if lines else None,
        ]
        of[:] = [of[0] + 1, of[1] + record["bytes"]]
    if before:
        theirs[None, None, None] = [len(before), -sum(each["bytes"] for each in before.values())]
    rows = live.rows(trace, "memory_at_peak", frame="innermost")
    ours = {
        (
            row["operator"],
            row["module"],
            row["source_file"] and f"{row['source_file']}({row['source_line']}",
        ): [row["blocks"], row["live_bytes"]]
        for row in rows
        if row["blocks"] is not None
    }
    assert ours == dict(theirs)
    assert {row["peak_ns"] for row in rows} == {peak["time_ns"]}
    # What another process sent is in no total; of its releases that cannot be told.
    sent = sum(record["bytes"] for record in alive.values() if record["allocated_bytes"] == 0)
    over = sum(row["live_bytes"] for row in rows) - peak["allocated_bytes"] - sent
    assert over in (0, sum(-r["bytes"] for r in before.values() if r["allocated_bytes"] == 0))
    assert {"Leaf_0", "Leaf_2"} <= {module for _, module, _ in ours}
