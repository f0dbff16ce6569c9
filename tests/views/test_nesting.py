"""What outlives the event in which it starts, from a trace file to the answers of the views."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import tracewh

Event = dict[str, Any]


def event(category: str, name: str, start: int, end: int, **args: Any) -> Event:
    row = {"ph": "X", "cat": category, "name": name, "pid": 1, "tid": 1, "ts": start}
    return row | {"dur": end - start, "args": {key.replace("_", " "): args[key] for key in args}}


def kernel(correlation: int, length: int) -> Event:
    """A kernel that the call of this correlation launched."""
    row = event("kernel", "k", 5000 * correlation, 5000 * correlation + length)
    return row | {"tid": 7, "args": {"correlation": correlation, "device": 0, "stream": 7}}


def launch(start: int, correlation: int) -> Event:
    return event("cuda_runtime", "cudaLaunchKernel", start, start + 1, correlation=correlation)


def warehouse(folder: Path, events: list[Event]) -> tracewh.Warehouse:
    path = folder / "run" / "w.pt.trace.json"
    path.parent.mkdir()
    path.write_text(json.dumps({"traceEvents": events}))
    [outcome] = tracewh.ingest([path], folder / "warehouse")
    assert outcome.status == "ingested"
    return tracewh.open(folder / "warehouse")


@pytest.fixture
def modules(tmp_path: Path) -> tracewh.Warehouse:
    """Module A 0-100, a frame that starts in it and lasts until 1000, module B 200-300 in that frame."""
    return warehouse(
        tmp_path,
        [
            event("python_function", "nn.Module: A_0", 0, 100, Python_module_id=0),
            event("python_function", "<built-in function next>", 50, 1000),
            event("python_function", "nn.Module: B_0", 200, 300, Python_module_id=0),
            event("cpu_op", "aten::add", 40, 48),
            launch(45, 1),
            launch(60, 2),
            launch(250, 3),
            launch(500, 4),
            kernel(1, 1),
            kernel(2, 10),
            kernel(3, 100),
            kernel(4, 1000),
        ],
    )


def test_a_module_that_has_ended_has_nothing_of_what_begins_later(
    modules: tracewh.Warehouse,
) -> None:
    """A has the work that was launched until 100, and its own time until the frame starts at 50."""
    assert modules.sql("""
        SELECT module, depth, host_self_us, host_total_us, device_self_us, device_total_us
        FROM module_stats() ORDER BY module
    """).fetchall() == [("A_0", 0, 42.0, 100.0, 11.0, 11.0), ("B_0", 0, 99.0, 100.0, 100.0, 100.0)]
    assert modules.sql("SELECT path FROM module_tree()").fetchall() == [("A_0",), ("B_0",)]


def test_the_frame_counts_against_the_self_time_of_the_event(modules: tracewh.Warehouse) -> None:
    """Of A 50 us are before the frame, of which aten::add has 8; the flame graph says the same."""
    assert modules.sql("""
        SELECT h.name, h.parent_id, h.depth, h.self_duration_ns / 1000
        FROM host_events AS h WHERE h.category = 'python_function' ORDER BY h.start_ns
    """).fetchall() == [
        ("nn.Module: A_0", None, 0, 42.0),
        ("<built-in function next>", None, 0, 950.0 - 100 - 2),
        ("nn.Module: B_0", 1, 1, 99.0),
    ]
    stacks = dict(modules.sql("SELECT stack, value_us FROM flamegraph()").fetchall())
    assert stacks["nn.Module: A_0"] == 42.0
    assert stacks["<built-in function next>;nn.Module: B_0"] == 99.0


def test_an_operator_that_has_ended_is_on_top_of_nothing_that_begins_later(tmp_path: Path) -> None:
    """alltoall_base_ lasts 900 us; what starts in it runs on for long, and launches all there is."""
    calls = [
        event("cpu_op", "aten::mm", 1000 + 10 * n, 1005 + 10 * n, External_id=n) for n in range(50)
    ]
    answers = warehouse(
        tmp_path,
        [
            event("cpu_op", "c10d::alltoall_base_", 0, 900),
            event("user_annotation", "execute", 850, 9000),
            *calls,
            *[launch(1001 + 10 * n, n + 1) for n in range(50)],
            *[kernel(n + 1, 100) for n in range(50)],
        ],
    )
    assert answers.sql("""
        SELECT host_self_us, host_total_us, device_self_us, device_total_us
        FROM operator_stats() WHERE name = 'c10d::alltoall_base_'
    """).fetchall() == [(850.0, 900.0, 0.0, 0.0)]
    assert answers.sql("""
        SELECT o.name, o.parent_name, o.top_level_op, count(*), sum(o.device_total_us)
        FROM operator_calls() AS o GROUP BY ALL ORDER BY ALL
    """).fetchall() == [
        ("aten::mm", "execute", "aten::mm", 50, 5000.0),
        ("c10d::alltoall_base_", None, "c10d::alltoall_base_", 1, 0.0),
    ]
