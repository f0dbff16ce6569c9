"""diff_modules on runs recorded here and now, that differ in one thing."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import tracewh
from tests.torch_forks import run_with_torch
from tests.views.test_diff_modules import assert_adds_up, assert_is_whole, assert_same, rows_of

HERE = Path(__file__).parent


@pytest.fixture(scope="module")
def warehouse(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tracewh.Warehouse]:
    folder = tmp_path_factory.mktemp("layers")
    run_with_torch(HERE / "layers.py", folder / "traces")
    tracewh.ingest([folder / "traces"], folder / "warehouse")
    with tracewh.open(folder / "warehouse") as opened:
        yield opened


def ask(warehouse: tracewh.Warehouse, experiment: str) -> list[dict[str, Any]]:
    """A comparison with the network as it is."""
    rows = rows_of(warehouse.diff_modules(baseline="base", experiment=experiment))
    assert_adds_up(rows)
    assert_is_whole(next(row for row in rows if row["path"] == "/"))
    return rows


def named(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [row for row in rows if row["kind"] != "unknown"]


def test_a_run_does_not_differ_from_itself(warehouse: tracewh.Warehouse) -> None:
    # It imports torch, and every process of a test run collects this file.
    from tests.live.layers import STEPS

    rows = ask(warehouse, "base")
    assert_same(rows)
    assert Counter((row["kind"], row["name"]) for row in named(rows)) == {
        ("trace", "trace"): 1,
        ("step", "ProfilerStep"): STEPS,
        ("annotation", "data"): STEPS,
        ("optimizer", "Optimizer.zero_grad"): STEPS,
        ("module", "Sequential"): 3 * STEPS,
        ("module", "Linear"): 4 * STEPS,
        ("module", "ReLU"): 2 * STEPS,
        ("backward", "backward"): STEPS,
        ("backward", "Sequential.backward"): 3 * STEPS,
        ("backward", "Linear.backward"): 4 * STEPS,
        ("backward", "ReLU.backward"): 2 * STEPS,
        ("optimizer", "Optimizer.step"): STEPS,
    }


def test_the_same_network_has_the_same_blocks(warehouse: tracewh.Warehouse) -> None:
    assert all(row["matched"] for row in named(ask(warehouse, "again")))


def test_one_layer_more(warehouse: tracewh.Warehouse) -> None:
    from tests.live.layers import STEPS

    new = [row for row in named(ask(warehouse, "layer")) if not row["matched"]]
    assert all(row["baseline_us"] is None and row["delta_us"] > 0 for row in new)
    assert sorted((row["name"], row["path"].count("/")) for row in new) == sorted(
        [("Tanh", 4), ("Tanh.backward", 5)] * STEPS
    )
    assert {row["path"].split("/")[3] for row in new if row["name"] == "Tanh"} == {"Sequential[2]"}


def test_a_larger_batch(warehouse: tracewh.Warehouse) -> None:
    """A hundred times the rows: the layers that multiply them take the time."""
    from tests.live.layers import STEPS, VARIANTS

    assert VARIANTS["batch"][0] > 100 * VARIANTS["base"][0]
    rows = ask(warehouse, "batch")
    assert all(row["matched"] for row in named(rows))
    outer = {row["path"].rpartition("/")[0] for row in rows}
    took: dict[str, dict[str, list[float]]] = {
        side: defaultdict(lambda: [0.0] * STEPS) for side in ("baseline_us", "experiment_us")
    }
    steps = [row["path"] for row in rows if row["kind"] == "step"]
    for row in rows:
        if row["path"] not in outer and row["kind"] in ("module", "backward"):
            for side, of in took.items():
                of[row["name"]][steps.index("/" + row["path"].split("/")[1])] += row[side]
    # In each step something else may have kept the processor for a while.
    least = {side: {name: min(of) for name, of in each.items()} for side, each in took.items()}
    changes = {name: us - least["baseline_us"][name] for name, us in least["experiment_us"].items()}
    assert set(changes) == {"Linear", "Linear.backward", "ReLU", "ReLU.backward"}
    # Ten times as much on a quiet machine; on a busy one, something else ran in each ReLU.backward.
    multiplied = changes["Linear"] + changes["Linear.backward"]
    assert multiplied > sum(changes.values()) - multiplied
