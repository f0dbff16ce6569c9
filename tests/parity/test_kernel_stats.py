"""kernel_stats: median and deviation against Python's, and the kernels of a step."""

from __future__ import annotations

import statistics
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    import tracewh


def test_median_deviation_and_share_are_those_of_the_durations(corpus: tracewh.Warehouse) -> None:
    run = "a100_nccl_2024"
    durations: dict[str, list[int]] = {}
    for name, duration in corpus.sql(
        "SELECT k.name, k.duration_ns FROM kernels AS k WHERE k.run = ?", [run]
    ).fetchall():
        durations.setdefault(name, []).append(duration)
    total = sum(map(sum, durations.values()))
    rows = list(_rows(corpus, {"run": run}))
    assert len(rows) == len(durations) == 70
    for row in rows:
        values = durations[row["name"]]
        assert row["median_us"] == statistics.median(values) / 1000
        assert row["share_pct"] == pytest.approx(100 * sum(values) / total)
        if len(values) == 1:
            assert row["stddev_us"] is None
        else:
            assert row["stddev_us"] == pytest.approx(statistics.stdev(values) / 1000)


def test_the_kernels_of_a_step_are_those_its_calls_launched(corpus: tracewh.Warehouse) -> None:
    """Six whole steps, the last of which is the last thing recorded: nothing is in none of them."""
    keys = {"run": "v100_resnet50_2021/resnet50_num_workers_0", "span": "1"}
    [[whole]] = corpus.kernel_stats(**keys).aggregate("sum(calls)").fetchall()
    steps = [
        corpus.kernel_stats(step=step, **keys).aggregate("sum(calls)").fetchall()[0][0]
        for step in range(5, 11)
    ]
    assert sum(steps) == whole == 8772
    assert set(steps) == {1462}


def _rows(corpus: tracewh.Warehouse, keys: dict[str, str]) -> list[dict[str, Any]]:
    relation = corpus.kernel_stats(**keys)
    return [dict(zip(relation.columns, row, strict=True)) for row in relation.fetchall()]
