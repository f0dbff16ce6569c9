"""critical_path against HolisticTraceAnalysis, and its length against the steps of real traces.

HTA takes the heaviest path through a graph in which the time between operators, and the time that a
call waits, weighs nothing; ours goes back from the end of the step and explains every instant. The
reasons for EVENTS, ALEXNET and MI250 come from HTA's rules and sums, not from its path edge by edge.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    import tracewh

ALEXNET = "a100_alexnet_sync_2023/benchmark_result_2869224_1695835535_trace"
EVENTS = "a100_event_sync_2024/event_sync_trace"
MI250 = "mi250_train_2025/mi250_minitoy_train_ROCm6_2_kineto"
V100 = "v100_absolute_ns_2024/rank-0.Apr_03_18_51_38.1102.pt.trace"

#: Kinds of bound: HTA's name of it, and ours.
BOUNDS = {
    "cpu_bound": ("cpu", "data_loading"),
    "gpu_compute_bound": ("device_compute", "device_memory"),
    "gpu_kernel_kernel_overhead": ("kernel_kernel_delay",),
    "gpu_kernel_launch_overhead": ("launch_delay",),
}

#: Trace, section of HTA and step -> kind of bound, ours and HTA's in us, and why.
DIFFERENCES = {
    # The kernel before the step's first one ended 0.771 us before that began; HTA begins there.
    (V100, "critical_path_0", 102): {"gpu_kernel_kernel_overhead": (1145.720, 1144.949)},
    # HTA counts a launch from its start, and takes the path through two fills (15 us between them)
    # that the last kernel's thread did not wait for.
    (EVENTS, "critical_path_0", None): {
        "cpu_bound": (1070, 1025),
        "gpu_compute_bound": (123, 124),
        "gpu_kernel_kernel_overhead": (0, 15),
        "gpu_kernel_launch_overhead": (1, 14),
    },
    # HTA counts a launch from its start, and a call that waits, also the part of it that does not,
    # as nothing: its path goes over kernels there that ended before the host went on.
    (ALEXNET, "critical_path_2", None): {
        "cpu_bound": (43296213, 43283339),
        "gpu_compute_bound": (59215, 60572),
        "gpu_kernel_kernel_overhead": (51, 9709),
        "gpu_kernel_launch_overhead": (62, 2035),
    },
    # HTA's path lies on one thread. The loop waited for the thread of autograd, and for copies.
    (MI250, "critical_path_1", 1): {
        "cpu_bound": (8514.606, 7452.353),
        "gpu_compute_bound": (38.161, 0),
    },
}


@pytest.mark.parametrize(("trace", "section", "step"), DIFFERENCES)
def test_what_differs_from_hta(
    trace: str, section: str, step: int | None, shared: Path, corpus: tracewh.Warehouse
) -> None:
    said = json.loads((shared / "expected" / f"{trace}.hta.json").read_text("utf-8"))
    theirs = said["data"][section]["duration_by_bound"]
    rows = corpus.sql(
        "SELECT c.bound, c.duration_us FROM critical_path_summary(run := ?) AS c"
        " WHERE c.step IS NOT DISTINCT FROM ?",
        [trace.rpartition("/")[0], step],
    ).fetchall()
    ours = dict(rows)
    found = {}
    for bound, names in BOUNDS.items():
        mine = round(sum(ours.get(name, 0) for name in names), 3)
        other = round(theirs.get(bound, 0), 3)
        if mine != other:
            found[bound] = (mine, other)
    assert found == DIFFERENCES[trace, section, step]


def test_the_path_of_every_step_is_as_long_as_the_step(corpus: tracewh.Warehouse) -> None:
    rows = corpus.sql(
        """
        SELECT s.run, s.step, s.step_ns, sum(c.duration_us)
        FROM (
            SELECT s.*, s.extended_end_ns - s.extended_start_ns AS step_ns FROM steps AS s
        ) AS s
        LEFT JOIN critical_path() AS c
            ON s.run = c.run AND s.worker = c.worker AND s.span = c.span
            AND s.step IS NOT DISTINCT FROM c.step
        WHERE s.step_ns > 0
        GROUP BY s.run, s.worker, s.span, s.step, s.step_ns
        """
    ).fetchall()
    assert len(rows) > 40
    assert [row for row in rows if row[3] is None or abs(row[3] * 1000 - row[2]) > 1] == []
