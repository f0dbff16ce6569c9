"""Views that add up the recordings of a worker, against the same views of each recording apart."""

from __future__ import annotations

import statistics
from typing import TYPE_CHECKING

import pytest

from tracewh.views.registry import installed

if TYPE_CHECKING:
    import tracewh
    from tracewh.views import Spec

#: recommendations has the worst recording instead.
VIEWS = [
    view
    for view in installed()
    if "per_span" in {param.name for param in view.params} and view.name != "recommendations"
]

#: What the same columns of each recording make of that of all: the others are means, shares and the like.
SUMS = {
    *("calls", "occurrences", "operators", "kernels", "short_kernels", "slow_launches"),
    *("long_delays", "compared_calls", "sum", "self_flops", "total_flops", "total_bytes"),
    *("total_us", "host_us", "device_us", "duration_us", "transfer_us", "wait_us"),
    *("host_self_us", "host_total_us", "device_self_us", "device_total_us"),
}
LEAST = {"min_us", "min_bytes", "depth", "min_total_us", "min_call_us", "min_kernel_us"}
MOST = {
    *("max_us", "max_bytes", "max", "max_launch_delay_us", "max_tflops"),
    *("max_total_us", "max_call_us", "max_kernel_us"),
}
#: With two recordings: what the others have one of cannot go wrong.
TWICE = "v100_resnet50_2021/resnet50_num_workers_0"


@pytest.mark.parametrize("view", VIEWS, ids=lambda view: view.object_name)
def test_the_recordings_of_a_worker_add_up(corpus: tracewh.Warehouse, view: Spec) -> None:
    keys = [c.name for c in view.columns if c.unit == "key" and c.name != "span"]
    # A key with a unit has that in the place of 'key'.
    keys += [name for name in ("shared_memory_bytes",) if name in {c.name for c in view.columns}]
    folded = {
        column.name: function
        for column in view.columns
        for names, function in ((SUMS, "sum"), (LEAST, "min"), (MOST, "max"))
        if column.name in names and column.name not in keys
    }
    assert len(folded) > 2
    figures = ", ".join(f"{function}({name})::DOUBLE" for name, function in folded.items())
    apart = corpus.sql(
        f"SELECT {', '.join(keys)}, {figures} FROM {view.name}(per_span := TRUE) GROUP BY ALL"
    ).fetchall()
    together = corpus.sql(f"SELECT {', '.join(keys)}, {', '.join(folded)} FROM {view.name}()")
    found = {str(row[: len(keys)]): row[len(keys) :] for row in together.fetchall()}
    assert found == {
        str(row[: len(keys)]): tuple(x and pytest.approx(x, rel=1e-9) for x in row[len(keys) :])
        for row in apart
    }


def test_medians_and_deviations_are_those_of_all_durations(corpus: tracewh.Warehouse) -> None:
    durations: dict[str, list[int]] = {}
    for name, duration in corpus.sql(
        "SELECT k.name, k.duration_ns FROM kernels AS k WHERE k.run = ?", [TWICE]
    ).fetchall():
        durations.setdefault(name, []).append(duration)
    rows = corpus.kernel_stats(run=TWICE).project("span, name, median_us, stddev_us").fetchall()
    assert rows[0][0] is None
    assert {name: figures for _, name, *figures in rows} == {
        name: [
            statistics.median(ns) / 1000,
            pytest.approx(statistics.stdev(ns) / 1000) if len(ns) > 1 else None,
        ]
        for name, ns in durations.items()
    }
    whole = len(rows)
    spans = corpus.kernel_stats(run=TWICE, per_span=True).aggregate("span, count(*)").fetchall()
    assert len(spans) == 2
    assert whole < sum(count for _, count in spans)
