"""What the schedule of the profiler makes of a loop: steps or none, the last one whole or not, and what is in them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import tracewh
from tests.torch_forks import run_with_torch


@pytest.fixture(scope="module")
def warehouse(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tracewh.Warehouse]:
    folder = tmp_path_factory.mktemp("schedules")
    run_with_torch(Path(__file__).parent / "record_schedules.py", folder / "traces")
    tracewh.ingest([folder / "traces"], folder / "warehouse")
    with tracewh.open(folder / "warehouse") as opened:
        yield opened


def steps(warehouse: tracewh.Warehouse, run: str, span: str) -> list[tuple[int | None, bool]]:
    return warehouse.sql(
        "SELECT s.step, s.is_tail FROM steps AS s WHERE s.run = ? AND s.span = ? ORDER BY s.step",
        [run, span],
    ).fetchall()


def headline(warehouse: tracewh.Warehouse, run: str, span: str) -> Any:
    rows = warehouse.view("verdict", run=run, span=span)
    [(text,)] = rows.filter("part = 'headline'").project("text").fetchall()
    return text


def test_without_a_schedule_there_are_no_steps(warehouse: tracewh.Warehouse) -> None:
    """That is why the advice on recording names it."""
    assert steps(warehouse, "no_schedule", "1") == [(None, False)]


def test_the_step_in_which_the_profiler_stops_is_a_tail(warehouse: tracewh.Warehouse) -> None:
    assert steps(warehouse, "stopped", "1") == [(2, False), (3, False), (4, False), (5, True)]


def test_a_loop_that_ends_as_the_next_recording_begins(warehouse: tracewh.Warehouse) -> None:
    """The schedule waits in step 0, warms up in 1, records 2 and 3, and so on: the loop ends with step 5."""
    assert steps(warehouse, "again", "1") == [(2, False), (3, False)]
    assert steps(warehouse, "again", "2") == [(6, True)]
    assert headline(warehouse, "again", "2").startswith("Nothing ran in this recording: ")
    [(mean_us,)] = warehouse.view("runs").filter("run = 'again'").project("mean_step_us").fetchall()
    whole = warehouse.view("step_breakdown", run="again", span="1").project("total_us").fetchall()
    assert mean_us == pytest.approx(sum(us for (us,) in whole) / 2)


def test_compiling_in_a_step_is_said(warehouse: tracewh.Warehouse) -> None:
    sql = """
        SELECT c.steps, c.compiling_steps, c.compile_us < b.total_us
        FROM step_compilation(run := 'recompiled') AS c
        CROSS JOIN step_breakdown(run := 'recompiled') AS b
        WHERE b.step = 2
    """
    assert warehouse.sql(sql).fetchall() == [(3, 1, True)]
    assert "Compiling costs" in headline(warehouse, "recompiled", "1")
