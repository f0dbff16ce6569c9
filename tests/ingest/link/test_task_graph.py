"""Statements side by side: each after what it needs, the first named first."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from contextlib import nullcontext
from pathlib import Path

import duckdb
import pytest

import tracewh
from tests.ingest.conftest import rows
from tracewh.ingest.api import ingest
from tracewh.ingest.link import write_tables
from tracewh.ingest.link.link_tasks import LINK_TASKS
from tracewh.ingest.link.task_graph import Running, Task, run_tasks
from tracewh.schema import tables

SAMPLES = Path(tracewh.__file__).parent / "samples" / "resnet_workers_0"
SAMPLE = min(SAMPLES.glob("*.gz"))


def run(tasks: Mapping[str, Task], at_once: int) -> None:
    with duckdb.connect() as con:
        run_tasks(con, tasks, lambda _: nullcontext(), at_once)


def test_one_at_a_time_the_first_named_of_those_that_may() -> None:
    done: list[str] = []

    def noted(name: str, *needs: str) -> tuple[str, Task]:
        return name, Task(lambda _: done.append(name), needs)

    run(dict([noted("a", "d"), noted("b"), noted("c", "b"), noted("d")]), 1)
    assert done == ["b", "c", "d", "a"]


def test_no_more_at_once_than_there_may_be() -> None:
    """Two meet; a third would, too, if it were let in."""
    meeting, lock = threading.Barrier(2, timeout=60), threading.Lock()
    busy, most = 0, 0

    def meet(_: object) -> None:
        nonlocal busy, most
        with lock:
            busy += 1
            most = max(most, busy)
        meeting.wait()
        with lock:
            busy -= 1

    run({str(number): Task(meet) for number in range(6)}, 2)
    assert most == 2


def test_what_fails_is_told_and_nothing_follows() -> None:
    done: list[str] = []

    def fail(_: object) -> None:
        raise duckdb.Error("no")

    tasks = {"a": Task(fail), "b": Task(lambda _: done.append("b"), ("a",))}
    with pytest.raises(duckdb.Error, match="no"):
        run(tasks, 2)
    assert done == []


@pytest.fixture(scope="module")
def as_ever(tmp_path_factory: pytest.TempPathFactory) -> Path:
    warehouse = tmp_path_factory.mktemp("as_ever")
    ingest([SAMPLE], warehouse)
    return warehouse


@pytest.mark.parametrize(
    "last", [*LINK_TASKS, "traces.parquet", "flows.parquet", "memory_records.parquet"]
)
def test_nothing_is_done_before_what_it_needs(
    last: str, as_ever: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever does not say that it needs what is made last is done before it."""

    def one_last(
        con: duckdb.DuckDBPyConnection, tasks: Mapping[str, Task], running: Running, at_once: int
    ) -> None:
        names = [*(name for name in tasks if name != last), last]
        run_tasks(con, {name: tasks[name] for name in names}, running, 1)

    monkeypatch.setattr(write_tables, "run_tasks", one_last)
    ingest([SAMPLE], tmp_path)
    for table in tables():
        assert rows(tmp_path, table) == rows(as_ever, table), table
