"""pipeline_operation_table of drawn traces, against the table that they were drawn from."""

from __future__ import annotations

import functools
import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import tracewh
from tests.views.drawn_jobs import Drawing
from tests.views.drawn_pipelines import Named, expected_table, name_operations, traces_of
from tests.views.pipeline_reference import Operation
from tests.views.test_stragglers import ask, insert
from tracewh.cli.app import main
from tracewh.views.registry import installed

if TYPE_CHECKING:
    from tests.given import Tables

DRAWINGS = {
    "two stages": Drawing(slow=(1, 0), steps=2),
    "four stages": Drawing(stages=4, microbatches=6, steps=2, slow=(0, 3)),
    "two chunks": Drawing(chunks=2, steps=2, slow=(0, 1)),
    "four stages of two chunks": Drawing(
        stages=4, chunks=2, microbatches=8, steps=2, overlaps=True, slow=(1, 2)
    ),
}
COLUMNS = "dp_rank, stage, rank, step, optype, start_ts, duration, seq_id, mc, mb_id, gmc"
VIEWS = (
    "straggler_what_if",
    "straggler_what_if_steps",
    "straggler_what_if_parts",
    "straggler_workers",
)


@functools.cache
def named(name: str) -> list[Named]:
    return name_operations(DRAWINGS[name])


each_drawing = pytest.mark.parametrize("name", DRAWINGS)


@pytest.fixture(scope="module")
def drawn(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tracewh.Warehouse]:
    """The traces of each job."""
    folder = tmp_path_factory.mktemp("drawn_pipelines")
    for name, drawing in DRAWINGS.items():
        (folder / name).mkdir()
        for rank, trace in traces_of(drawing, named(name)).items():
            (folder / name / f"rank{rank}.1.pt.trace.json").write_text(json.dumps(trace))
    tracewh.ingest([folder / name for name in DRAWINGS], folder / "warehouse")
    with tracewh.open(folder / "warehouse") as warehouse:
        yield warehouse


@each_drawing
def test_the_traces_give_the_table_that_they_were_drawn_from(
    drawn: tracewh.Warehouse, name: str
) -> None:
    rows = drawn.view("pipeline_operation_table", run=name)
    found = sorted(rows.select(COLUMNS).fetchall())
    expected = sorted(expected_table(DRAWINGS[name], named(name)))
    assert found == expected
    assert any(row[6] == 0 for row in found) == (DRAWINGS[name].chunks > 1)


@pytest.mark.parametrize("name", ["four stages", "two chunks"])
def test_the_views_on_stragglers_say_the_same_of_both(
    drawn: tracewh.Warehouse, name: str, tables: Tables, tmp_path: Path
) -> None:
    """The rows are saved and ingested with the command line; the drawn table is put into tables."""
    file = tmp_path / "job.parquet"
    where = ["--warehouse", str(tmp_path / "ingested")]
    shown = ["show", "pipeline_operation_table", "--run", name, "--warehouse", str(drawn.path)]
    assert main([*shown, "--format", "parquet", "-o", str(file)]) == 0
    assert main(["ingest", str(file), *where]) == 0
    expected = [
        Operation._make((*row[:9], row[10])) for row in expected_table(DRAWINGS[name], named(name))
    ]
    insert(tables, expected)
    with tracewh.open(tmp_path / "ingested") as warehouse:
        for view in VIEWS:
            columns = ", ".join(
                column.name
                for column in installed().get(view).columns
                if column.name not in ("run", "worker", "span")
            )
            found = warehouse.view(view).select(columns).fetchall()
            assert found == ask(tables, f"SELECT {columns} FROM {view}_v1()")
        [(reason, slowdown)] = (
            warehouse.view("straggler_what_if").select("reason, slowdown").fetchall()
        )
    assert reason is None
    assert slowdown > 1.1
