"""lightning_stats on a recorded run, against what Lightning's own profiler says of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import tracewh
from tests.parity.differences import Table, problems

#: Written by record.py in it, with pytorch-lightning 2.6.6 and torch 2.13.
RECORDED = Path(__file__).parent / "lightning"

#: What Lightning counts for each.
FIGURES = ("occurrences", "host_self_us", "host_total_us")


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    path = tmp_path_factory.mktemp("lightning") / "warehouse"
    tracewh.ingest([RECORDED / "run.pt.trace.json.gz"], path)
    with tracewh.open(path) as warehouse:
        relation = warehouse.lightning_stats()
        found = [dict(zip(relation.columns, row, strict=True)) for row in relation.fetchall()]
    return {str(row["module"]): row for row in found}


def test_nothing_but_the_listed_figures_differs(rows: dict[str, dict[str, Any]]) -> None:
    said = json.loads((RECORDED / "key_averages.json").read_text("utf-8"))
    theirs = {
        name.removeprefix("[pl][profile]").removeprefix("[pl][module]").rpartition(": ")[2]: figures
        for name, figures in said.items()
    }
    table = Table(
        "lightning_stats",
        {module: {figure: row[figure] for figure in FIGURES} for module, row in rows.items()},
        {module: dict(zip(FIGURES, row, strict=True)) for module, row in theirs.items()},
        lambda figure, row: 0.001,
    )
    assert problems("lightning run", [table]) == []


def test_modules_are_those_of_the_model(rows: dict[str, dict[str, Any]]) -> None:
    modules = {
        name: (row["depth"], row["occurrences"], row["operators"])
        for name, row in rows.items()
        if row["kind"] == "module"
    }
    assert modules == {
        "encoder": (0, 2, 0),
        "encoder.0": (1, 2, 2),
        "encoder.1": (1, 2, 2),
        "head": (0, 2, 2),
    }


def test_hooks_are_in_one_another_and_nothing_of_a_device_is_made_up(
    rows: dict[str, dict[str, Any]],
) -> None:
    hooks = ("run_training_batch", "[LightningModule]Tagger.optimizer_step")
    step = "[Strategy]SingleDeviceStrategy.training_step"
    assert [rows[name]["depth"] for name in (*hooks, step)] == [0, 1, 2]
    assert {row["kind"] for row in rows.values()} == {"hook", "module"}
    assert {(row["device_self_us"], row["device_total_us"]) for row in rows.values()} == {
        (None, None)
    }
