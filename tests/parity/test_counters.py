"""Counters of kernels against HolisticTraceAnalysis, on the one real trace that has any."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    import tracewh

RUN = "a100_cupti_counters_2023"
WORKER = "benchmark_result_924719_1679055439_trace"

#: Of the counters in the peer's frame, how many operations one instruction of each is.
FLOPS = {
    f"smsp__sass_thread_inst_executed_op_{kind}{op}_pred_on.sum": 2 if op == "fma" else 1
    for kind in "hfd"
    for op in ("fma", "mul", "add")
}


@pytest.fixture(scope="module")
def frame(shared: Path) -> list[dict[str, Any]]:
    """The peer's rows, one per kernel."""
    said = json.loads((shared / "expected" / RUN / f"{WORKER}.hta.json").read_text("utf-8"))
    rows: list[dict[str, Any]] = said["data"]["cupti_counters"][0]["data"]
    return rows


def test_every_kernel_counter_and_operator_stack_is_the_peer_s(
    frame: list[dict[str, Any]], corpus: tracewh.Warehouse
) -> None:
    """Nothing differs."""
    ours = corpus.kernel_counters(run=RUN).project(
        "event_id, kernel_name, op_stack, top_level_op, bottom_level_op, counters, flops"
    )
    theirs = [
        (
            row["index"],
            row["name"],
            row["op_stack"],
            row["top_level_op"],
            row["bottom_level_op"],
            {name: row[name] for name in FLOPS},
            sum(row[name] * flops for name, flops in FLOPS.items()),
        )
        for row in frame
    ]
    assert len(theirs) == 77
    assert sorted(ours.fetchall()) == sorted(theirs)


def test_the_launch_is_the_peer_s(frame: list[dict[str, Any]], corpus: tracewh.Warehouse) -> None:
    """All by order, for the file has no correlations, nor any measured length."""
    ours = corpus.kernel_counters(run=RUN).project("event_id, launch_id, matched_by, duration_us")
    assert sorted(ours.fetchall()) == sorted(
        (row["index"], row["index_runtime"], "order", None) for row in frame
    )


def test_the_long_form_has_every_value(
    frame: list[dict[str, Any]], corpus: tracewh.Warehouse
) -> None:
    ours = corpus.cupti_counters(run=RUN).project("event_id, kernel_name, counter, value")
    theirs = [(row["index"], row["name"], name, row[name]) for row in frame for name in FLOPS]
    assert len(theirs) == 693
    assert ours.fetchall() == sorted(theirs, key=lambda row: (row[0], row[2]))


def test_operators_add_up_what_the_peer_has_of_their_kernels(
    frame: list[dict[str, Any]], corpus: tracewh.Warehouse
) -> None:
    sums: Counter[tuple[str, str]] = Counter()
    calls: Counter[str] = Counter()
    for row in frame:
        calls[row["bottom_level_op"]] += 1
        for name in FLOPS:
            sums[row["bottom_level_op"], name] += row[name]
    ours = corpus.operator_counters(run=RUN).project("operator, counter, calls, sum")
    assert sorted(ours.fetchall()) == sorted(
        (operator, name, calls[operator], value) for (operator, name), value in sums.items()
    )


def test_operations_per_kernel_and_operator_are_those_of_the_peer_s_counters(
    frame: list[dict[str, Any]], corpus: tracewh.Warehouse
) -> None:
    by_kernel: Counter[str] = Counter()
    by_operator: Counter[str] = Counter()
    with_inner: Counter[str] = Counter()
    for row in frame:
        flops = sum(row[name] * each for name, each in FLOPS.items())
        by_kernel[row["name"]] += flops
        by_operator[row["bottom_level_op"]] += flops
        for operator in set(row["op_stack"]):
            with_inner[operator] += flops
    kernels = corpus.flop_stats(run=RUN).project("name, self_flops, total_flops")
    assert sorted(kernels.fetchall()) == sorted((name, x, x) for name, x in by_kernel.items())
    operators = corpus.flop_stats(run=RUN, group_by="operator").project(
        "name, self_flops, total_flops"
    )
    assert sorted(operators.fetchall()) == sorted(
        (name, by_operator[name], x) for name, x in with_inner.items()
    )
    [[modules]] = corpus.flop_stats(run=RUN, group_by="module").aggregate("list(name)").fetchall()
    assert modules == [None]  # recorded without frames
