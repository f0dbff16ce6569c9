"""Which traces a call can depend on, and how they are given to tasks."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tracewh.spark.distributed import restrict_to_tables, select_traces, split_into_tasks
from tracewh.storage.layout import Object
from tracewh.views.listing import Listing, Trace
from tracewh.views.registry import installed

REGISTRY = installed()


def listing(*names: str, sizes: dict[str, int] | None = None) -> Listing:
    """Traces as run/worker/span, each with two tables."""
    traces = []
    for name in names:
        files = {
            table: Object(f"{name}/{table}.parquet", (sizes or {}).get(name, 100) // 2, 0)
            for table in ("traces", "device_events")
        }
        run, worker, span = name.split("/")
        traces.append(Trace(run, worker, span, files))
    return Listing("wh", tuple(traces))


def names(listing: Listing) -> list[str]:
    return [f"{trace.run}/{trace.worker}/{trace.span}" for trace in listing.traces]


TRACES = listing("a/0/1", "a/0/2", "a/1/1", "b/0/1", "night/0/1")


@pytest.mark.parametrize(
    ("view", "arguments", "expected"),
    [
        ("kernel_stats", {}, "a/0/1 a/0/2 a/1/1 b/0/1 night/0/1"),
        ("step_breakdown", {"run": "a", "span": "1"}, "a/0/1 a/1/1"),
        ("kernel_stats", {"worker": "1"}, "a/1/1"),
        ("kernel_stats", {"run": None}, "a/0/1 a/0/2 a/1/1 b/0/1 night/0/1"),
        ("kernel_stats", {"run": "c"}, ""),
        # What other recordings, or other workers, say counts although they are not reported.
        ("topology", {"worker": "0", "span": "1"}, "a/0/1 a/0/2 b/0/1 night/0/1"),
        ("collectives", {"run": "a", "worker": "0", "span": "1"}, "a/0/1 a/0/2 a/1/1"),
        ("runs", {}, "a/0/1 a/0/2 a/1/1 b/0/1 night/0/1"),
        ("diff_steps", {"baseline": "a", "experiment": "b"}, "a/0/1 a/0/2 a/1/1 b/0/1"),
        (
            "diff_steps",
            {"baseline": "a", "baseline_worker": "0", "experiment": "a", "experiment_worker": "1"},
            "a/0/1 a/0/2 a/1/1",
        ),
        ("diff_steps", {"baseline": "a", "baseline_span": "2", "experiment": "c"}, "a/0/2"),
        ("diff_steps", {"baseline": "a", "experiment": None}, "a/0/1 a/0/2 a/1/1"),
        ("trend", {"figure": "step_us"}, "a/0/1 a/0/2 a/1/1 b/0/1 night/0/1"),
        ("trend", {"figure": "step_us", "runs": "n*"}, "night/0/1"),
        ("trend", {"figure": "step_us", "runs": "[ab]"}, "a/0/1 a/0/2 a/1/1 b/0/1"),
    ],
)
def test_the_traces_that_a_call_can_depend_on(
    view: str, arguments: dict[str, Any], expected: str
) -> None:
    found = select_traces(REGISTRY.call(view, None, **arguments), TRACES)
    assert " ".join(names(found)) == expected


@pytest.mark.parametrize(
    ("size", "most", "expected"),
    [
        ("trace", 2, ["a/0/1 a/0/2", "a/1/1 b/0/1 night/0/1"]),
        ("trace", 99, ["a/0/1", "a/0/2", "a/1/1", "b/0/1", "night/0/1"]),
        ("worker", 99, ["a/0/1 a/0/2", "a/1/1", "b/0/1", "night/0/1"]),
        ("run", 99, ["a/0/1 a/0/2 a/1/1", "b/0/1", "night/0/1"]),
        ("warehouse", 99, ["a/0/1 a/0/2 a/1/1 b/0/1 night/0/1"]),
    ],
)
def test_no_group_is_split_over_tasks(size: str, most: int, expected: list[str]) -> None:
    tasks = split_into_tasks(TRACES, size, most)
    assert [" ".join(names(task)) for task in tasks] == expected


def test_a_run_and_its_captures_are_one_group_of_views_that_read_them() -> None:
    given = listing("a/0/1", "a b/0/1", "c/0/1", "b/0/1", "b/1/1")
    traces = (replace(t, run="a/capture_traces") if t.run == "c" else t for t in given.traces)
    captured = replace(given, traces=tuple(traces))

    def tasks(view: str, **arguments: str) -> list[str]:
        call = REGISTRY.call(view, None, **arguments)
        found = split_into_tasks(select_traces(call, captured), "trace", 99, call)
        return [" ".join(names(task)) for task in found]

    assert tasks("operator_stats") == [
        *("a/0/1 a/capture_traces/0/1", "a b/0/1", "b/0/1 b/1/1"),
    ]
    assert tasks("operator_stats", run="a") == ["a/0/1 a/capture_traces/0/1"]
    assert tasks("operator_stats", worker="1") == ["a/capture_traces/0/1", "b/1/1"]
    assert tasks("launch_stats", run="a") == ["a/0/1"]


def test_tasks_have_about_as_many_bytes_each() -> None:
    sizes = {f"run/{rank:04}/1": 1000 + 13 * (rank % 7) for rank in range(4096)}
    sizes["run/0100/1"] = 100_000
    tasks = split_into_tasks(listing(*sizes, sizes=sizes), "trace", 64)
    assert [name for task in tasks for name in names(task)] == list(sizes)
    loads = [sum(sizes[name] for name in names(task)) for task in tasks]
    fair = sum(loads) / 64
    assert 60 <= len(tasks) <= 64
    assert max(load for load in loads if load < 100_000) < 1.1 * fair
    assert max(loads) < 100_000 + fair


def test_a_task_is_told_of_no_more_files_than_it_reads() -> None:
    read = restrict_to_tables("FROM traces", TRACES)
    assert {table for trace in read.traces for table in trace.files} == {"traces"}
    read = restrict_to_tables("FROM gpu_time_v1()", TRACES, given=["device_activity"])
    assert {table for trace in read.traces for table in trace.files} == set()
