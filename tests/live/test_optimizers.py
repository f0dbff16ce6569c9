"""What recommendations says of an optimizer that takes most of the step."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import tracewh
from tests.torch_forks import run_with_torch


@pytest.fixture(scope="module")
def warehouse(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tracewh.Warehouse]:
    folder = tmp_path_factory.mktemp("optimizers")
    run_with_torch(Path(__file__).parent / "record_optimizers.py", folder / "log")
    tracewh.ingest([folder / "log"], folder / "warehouse")
    with tracewh.open(folder / "warehouse") as opened:
        yield opened


@pytest.mark.parametrize(
    ("run", "name", "remedy"),
    [
        ("for-loop", "Adam", "pass fused=True to Adam, or accumulate gradients "),
        ("foreach", "AdamW", "pass fused=True to AdamW, or accumulate gradients "),
        ("fused", "AdamW", "accumulate gradients "),
        ("other", "RMSprop", "update all parameters at once, "),
    ],
)
def test_the_remedy_depends_on_the_implementation(
    warehouse: tracewh.Warehouse, run: str, name: str, remedy: str
) -> None:
    found = warehouse.recommendations(run=run).filter("rule = 'optimizer'")
    [(message, value)] = found.select("message, value").fetchall()
    assert message.startswith(
        f"The optimizer ({name}) takes {value:.1f} % of the mean step: {remedy}"
    )


def test_its_time_is_that_of_the_annotation(warehouse: tracewh.Warehouse) -> None:
    """All of it: no device works, and nothing compiles."""
    costs = (
        warehouse.recommendations()
        .filter("rule = 'optimizer'")
        .select("run, round(cost_per_step_us, 3)")
    )
    annotated = (
        warehouse.annotation_breakdown()
        .filter("name LIKE 'Optimizer.step#%' AND run <> 'closure'")
        .select("run, round(mean_us, 3)")
    )
    assert sorted(costs.fetchall()) == sorted(annotated.fetchall())
    assert len(costs) == 4


def test_a_closure_is_no_part_of_it(warehouse: tracewh.Warehouse) -> None:
    query = """
        SELECT o.optimizer_us > 0 AND o.optimizer_us < 0.5 * a.host_us
        FROM optimizer_time(run := 'closure') AS o
        CROSS JOIN annotation_breakdown(run := 'closure') AS a
        WHERE a.name = 'Optimizer.step#SGD.step'
    """
    assert warehouse.sql(query).fetchall() == [(True,)]
    assert not len(warehouse.recommendations(run="closure").filter("rule = 'optimizer'"))
