"""diff_operators, diff_kernels and diff_steps against what the TensorBoard plugin says of each trace."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from statistics import mean
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    import tracewh

RUNS = ("v100_resnet50_2021/resnet50_num_workers_0", "v100_resnet50_2021/resnet50_num_workers_4")

#: The files of each run, and of the plugin's two diffs.
SPANS = {
    RUNS[0]: ("worker0.1623143089861.pt.trace", "worker0.1623143566756.pt.trace"),
    RUNS[1]: ("worker0.1623212756351.pt.trace", "worker0.1623213129365.pt.trace"),
}
DIFFS = {
    "diff__kineto_w0s1_w4s1": (f"{RUNS[0]}/{SPANS[RUNS[0]][0]}", f"{RUNS[1]}/{SPANS[RUNS[1]][0]}"),
    "diff__kineto_w0s1_w0s2": (f"{RUNS[0]}/{SPANS[RUNS[0]][0]}", f"{RUNS[0]}/{SPANS[RUNS[0]][1]}"),
}

#: The plugin's word for each of our figures.
OPERATOR_FIGURES = {
    "calls": "calls",
    "host_self_us": "host_self",
    "host_total_us": "host_total",
    "device_self_us": "device_self",
    "device_total_us": "device_total",
}
KERNEL_FIGURES = {"calls": "count", "total_us": "sum"}

#: Our word for each of the plugin's categories.
CATEGORIES = {
    "Kernel": "kernel",
    "Memcpy": "memcpy",
    "Memset": "memset",
    "Communication": "communication",
    "Runtime": "runtime",
    "DataLoader": "dataloader",
    "CpuOp": "cpu_exec",
    "Other": "other",
    "Total": "total",
}


@pytest.fixture(scope="module", params=DIFFS)
def pair(
    request: pytest.FixtureRequest, shared: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[str, tracewh.Warehouse]]:
    """One of the plugin's diffs, and a warehouse with just its two traces."""
    import tracewh

    path = tmp_path_factory.mktemp("pair") / "warehouse"
    for run, trace in zip(("baseline", "experiment"), DIFFS[request.param], strict=True):
        tracewh.ingest([shared / "traces" / f"{trace}.json.gz"], path, run=run)
    with tracewh.open(path) as warehouse:
        yield request.param, warehouse


def test_two_traces_differ_by_what_the_plugin_says_of_each(
    pair: tuple[str, tracewh.Warehouse], shared: Path
) -> None:
    diff, warehouse = pair
    baseline, experiment = (_said(shared, trace) for trace in DIFFS[diff])
    _compare(
        warehouse.diff_operators(baseline="baseline", experiment="experiment"),
        [_by_name(baseline, "ops_by_name")],
        [_by_name(experiment, "ops_by_name")],
        OPERATOR_FIGURES,
    )
    _compare(
        warehouse.diff_kernels(baseline="baseline", experiment="experiment"),
        [_by_name(baseline, "kernels_by_name")],
        [_by_name(experiment, "kernels_by_name")],
        KERNEL_FIGURES,
    )


@pytest.mark.parametrize(("baseline", "experiment"), [RUNS, RUNS[::-1]])
def test_a_run_of_two_spans_counts_with_their_mean(
    baseline: str, experiment: str, corpus: tracewh.Warehouse, shared: Path
) -> None:
    said = {
        run: [_said(shared, f"{run}/{span}") for span in SPANS[run]]
        for run in (baseline, experiment)
    }
    _compare(
        corpus.diff_operators(baseline=baseline, experiment=experiment),
        [_by_name(span, "ops_by_name") for span in said[baseline]],
        [_by_name(span, "ops_by_name") for span in said[experiment]],
        OPERATOR_FIGURES,
    )
    _compare(
        corpus.diff_kernels(baseline=baseline, experiment=experiment),
        [_by_name(span, "kernels_by_name") for span in said[baseline]],
        [_by_name(span, "kernels_by_name") for span in said[experiment]],
        KERNEL_FIGURES,
    )


def _compare(
    relation: Any,
    baseline: list[dict[str, dict[str, float]]],
    experiment: list[dict[str, dict[str, float]]],
    figures: dict[str, str],
) -> None:
    rows = _rows(relation)
    assert {row["name"] for row in rows} == set().union(*baseline, *experiment)
    for row in rows:
        for figure, word in figures.items():
            before, after = (
                mean(span.get(row["name"], {}).get(word, 0) for span in side)
                for side in (baseline, experiment)
            )
            assert row[f"baseline_{figure}"] == pytest.approx(before, abs=1), row["name"]
            assert row[f"experiment_{figure}"] == pytest.approx(after, abs=1), row["name"]
            assert row[f"delta_{figure}"] == pytest.approx(after - before, abs=1), row["name"]
            share = row[f"delta_{figure}_pct"]
            if before == 0:
                assert share is None, row["name"]
            else:
                assert share == pytest.approx(100 * (after - before) / before, abs=0.01)
    leading = "delta_device_self_us" if "delta_device_self_us" in rows[0] else "delta_total_us"
    sizes = [abs(row[leading]) for row in rows]
    assert sizes == sorted(sizes, reverse=True)


def _said(shared: Path, trace: str) -> dict[str, Any]:
    file = shared / "expected" / f"{trace}.tb.json"
    [worker] = json.loads(file.read_text("utf-8"))["workers"]
    return dict(worker)


def _by_name(said: dict[str, Any], table: str) -> dict[str, dict[str, float]]:
    return {row["name"]: row for row in said[table]}


def _rows(relation: Any) -> list[dict[str, Any]]:
    return [dict(zip(relation.columns, row, strict=True)) for row in relation.fetchall()]


@pytest.fixture(scope="module")
def loaders(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tracewh.Warehouse]:
    """The first recordings of a training that loads its data itself, and with four processes."""
    import tracewh

    path = tmp_path_factory.mktemp("loaders") / "warehouse"
    for run in RUNS:
        tracewh.ingest([shared / "traces" / f"{run}/{SPANS[run][0]}.json.gz"], path, run=run)
    with tracewh.open(path) as warehouse:
        yield warehouse


def test_the_steps_differ_by_what_the_plugin_says_of_each(
    loaders: tracewh.Warehouse, shared: Path
) -> None:
    rows = _steps(loaders)
    for side, run in zip(("baseline", "experiment"), RUNS, strict=True):
        said = _said(shared, f"{run}/{SPANS[run][0]}")["avg_costs"]
        assert said.keys() == CATEGORIES.keys()
        for word, category in CATEGORIES.items():
            assert rows[category][f"{side}_mean_us"] == pytest.approx(said[word], abs=0.1), word


def test_loading_data_is_by_far_the_largest_change(loaders: tracewh.Warehouse) -> None:
    """With four processes the step waits 1 ms for data and not 59; a third of that it spends elsewhere."""
    rows = _steps(loaders)
    loader, total, *others = rows.values()
    assert (loader["category"], loader["significant"]) == ("dataloader", True)
    assert loader["baseline_mean_us"] == pytest.approx(59262, abs=1)
    assert loader["experiment_mean_us"] == pytest.approx(1186, abs=1)
    assert total["category"] == "total" and total["delta_mean_us"] < 0
    assert all(6 * abs(row["delta_mean_us"]) < -loader["delta_mean_us"] for row in others)
    # The kernels take as long as before; the host takes longer for all it does.
    assert abs(rows["kernel"]["delta_mean_us_pct"]) < 1
    assert [row["category"] for row in others[:3]] == ["cpu_exec", "runtime", "other"]
    assert all(row["delta_mean_us"] > 3000 and row["significant"] for row in others[:3])
    moved = sum(row["delta_mean_us"] for row in rows.values() if row is not total)
    assert moved == pytest.approx(total["delta_mean_us"])


def test_kernels_take_as_long_in_all(loaders: tracewh.Warehouse) -> None:
    rows = _rows(loaders.diff_kernels(baseline=RUNS[0], experiment=RUNS[1]))
    before, after = (
        sum(row[f"{side}_total_us"] for row in rows) for side in ("baseline", "experiment")
    )
    assert after == pytest.approx(before, rel=0.01)
    # What the operators did on the host before, the workers of the loader do now.
    operators = _rows(loaders.diff_operators(baseline=RUNS[0], experiment=RUNS[1]))
    gone = min(operators, key=lambda row: row["delta_host_self_us"])
    assert gone["name"] == "aten::copy_" and gone["host_self_p_value"] < 0.01


def _steps(warehouse: tracewh.Warehouse) -> dict[str, dict[str, Any]]:
    rows = _rows(warehouse.diff_steps(baseline=RUNS[0], experiment=RUNS[1]))
    return {row["category"]: row for row in rows}
