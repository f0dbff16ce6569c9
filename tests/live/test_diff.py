"""Pairs of runs that differ in one thing: a layer, the batch, an operator, the loader's workers.

The comparison has to name that thing, and nothing else.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import tracewh
from tests.copied import CopiedWarehouse
from tests.live.variants import BATCH, LARGE_BATCH, STEPS, VARIANTS, WIDE, WIDTH
from tests.torch_forks import run_with_torch

Row = dict[str, Any]


@pytest.fixture(scope="module")
def warehouse(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tracewh.Warehouse]:
    folder = tmp_path_factory.mktemp("variants")
    run_with_torch(Path(__file__).parent / "record_variants.py", folder / "traces")
    tracewh.ingest([folder / "traces"], folder / "warehouse")
    with CopiedWarehouse(folder / "warehouse") as opened:
        yield opened


def ask(warehouse: tracewh.Warehouse, view: str, experiment: str, **arguments: Any) -> list[Row]:
    """A comparison with the loop as it is."""
    relation = warehouse.view(view, baseline="base", experiment=experiment, **arguments)
    return [dict(zip(relation.columns, row, strict=True)) for row in relation.fetchall()]


def sizes(row: Row) -> set[int]:
    """All lengths in the shapes of an operator's inputs."""
    flat = [json.loads(row["input_dims"] or "[]")]
    found = set()
    while flat:
        item = flat.pop()
        if isinstance(item, list):
            flat += item
        elif isinstance(item, int):
            found.add(item)
    return found


def counted(rows: list[Row]) -> tuple[list[Row], list[Row]]:
    """Rows with other calls than before, and those with as many."""
    return [r for r in rows if r["delta_calls"]], [r for r in rows if not r["delta_calls"]]


@pytest.mark.parametrize("run", VARIANTS)
def test_a_run_does_not_differ_from_itself(warehouse: tracewh.Warehouse, run: str) -> None:
    for view in ("diff_overview", "diff_steps", "diff_operators"):
        relation = warehouse.view(view, baseline=run, experiment=run)
        for row in relation.fetchall():
            found = dict(zip(relation.columns, row, strict=True))
            deltas = [value for name, value in found.items() if name.startswith("delta_")]
            tests = [value for name, value in found.items() if name.endswith("p_value")]
            assert set(deltas) <= {None, 0.0} and set(tests) <= {None, 1.0}
    assert (
        warehouse.diff_steps(baseline=run, experiment=run, only_significant=True).fetchall() == []
    )


def test_the_same_loop_makes_the_same_calls(warehouse: tracewh.Warehouse) -> None:
    changed, same = counted(ask(warehouse, "diff_operators", "again", group_by="input_shape"))
    assert changed == [] and len(same) > 20
    [overview] = ask(warehouse, "diff_overview", "again")
    assert (overview["baseline_steps"], overview["experiment_steps"]) == (STEPS, STEPS)
    assert overview["delta_peak_host_memory_bytes"] is None  # not recorded


def test_a_wider_layer(warehouse: tracewh.Warehouse) -> None:
    rows = ask(warehouse, "diff_operators", "layer", group_by="input_shape")
    changed, same = counted(rows)
    gone = [row for row in changed if row["delta_calls"] < 0]
    come = [row for row in changed if row["delta_calls"] > 0]
    assert come and all(WIDE in sizes(row) for row in come)
    assert gone and all(WIDTH in sizes(row) for row in gone)
    assert same and not any(WIDE in sizes(row) for row in same)
    # Of what is called with the new width, a product of the two layers around it costs the most. Any other operator
    # may lose the processor to another process. The nodes of autograd are left out: each lasts as long as its products.
    significant = [row for row in come if row["significant"] and row["name"].startswith("aten::")]
    most = max(significant, key=lambda row: row["delta_host_self_us"])
    assert most["name"] in ("aten::mm", "aten::addmm", "aten::add_")
    assert {"aten::mm", "aten::addmm"} <= {row["name"] for row in significant}
    # By name nothing is called more or less often.
    assert counted(ask(warehouse, "diff_operators", "layer"))[0] == []


def test_a_larger_batch(warehouse: tracewh.Warehouse) -> None:
    changed, same = counted(ask(warehouse, "diff_operators", "batch", group_by="input_shape"))
    come = [row for row in changed if row["delta_calls"] > 0]
    assert any(LARGE_BATCH in sizes(row) for row in come)
    # What has no batch, as parameters, is treated as before.
    assert same and not any({BATCH, LARGE_BATCH} & sizes(row) for row in same)
    assert {row["name"] for row in changed} & {"aten::addmm", "aten::mm", "aten::relu"}
    # Loading three times the items is what takes the time.
    steps = [row for row in ask(warehouse, "diff_steps", "batch") if row["category"] != "total"]
    assert (steps[0]["category"], steps[0]["significant"]) == ("dataloader", True)
    assert steps[0]["experiment_mean_us"] > 2 * steps[0]["baseline_mean_us"]


def test_another_operator(warehouse: tracewh.Warehouse) -> None:
    changed, _ = counted(ask(warehouse, "diff_operators", "operator"))
    words = {
        True: ("gelu",),
        False: ("relu", "clamp_min", "threshold_backward"),
    }
    for row in changed:
        name = row["name"].lower()
        assert any(word in name for word in words[row["delta_calls"] > 0]), row["name"]
    names = {row["name"]: row["delta_calls"] for row in changed}
    assert names["aten::relu"] == names["aten::threshold_backward"] == -STEPS
    assert names["aten::gelu"] == names["aten::gelu_backward"] == STEPS
    significant = ask(warehouse, "diff_operators", "operator", only_significant=True)
    assert {"aten::relu", "aten::gelu"} <= {row["name"] for row in significant}


def test_more_workers_load_the_data(warehouse: tracewh.Warehouse) -> None:
    steps = [row for row in ask(warehouse, "diff_steps", "workers") if row["category"] != "total"]
    loader, *others = steps
    assert (loader["category"], loader["significant"]) == ("dataloader", True)
    assert loader["delta_mean_us"] < 0
    assert all(abs(row["delta_mean_us"] or 0) < abs(loader["delta_mean_us"]) / 3 for row in others)
    [overview] = ask(warehouse, "diff_overview", "workers")
    assert overview["delta_step_us"] < 0 and overview["step_significant"]
