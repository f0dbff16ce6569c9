"""Ingests that die, meet, or run out of room: the warehouse shows whole traces, and nobody waits."""

from __future__ import annotations

import errno
import fcntl
import json
import os
import shutil
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import duckdb
import pytest

from tracewh.ingest import api, ingest_file, ingest_trace
from tracewh.ingest.api import FileResult, drop, ingest
from tracewh.ingest.link.write_tables import write_traces
from tracewh.storage import local_store, staging
from tracewh.storage.local_store import LocalStore
from tracewh.storage.manifest import Origin
from tracewh.storage.staging import Session
from tracewh.storage.store import UNKNOWN, free_span


def written(path: Path, *operators: str) -> Path:
    """A trace with an event for each operator."""
    event = {"ph": "X", "cat": "cpu_op", "pid": 1, "tid": 2, "ts": 5, "dur": 1}
    path.parent.mkdir(parents=True, exist_ok=True)
    events = [event | {"name": name} for name in operators]
    path.write_text(json.dumps({"traceEvents": events}), "utf-8")
    return path


def operators(warehouse: Path) -> dict[str, list[str]]:
    """The operators of every trace, by its span."""
    rows = duckdb.execute(
        "SELECT t.span, list(t.name ORDER BY t.event_id)"
        " FROM read_parquet(?, hive_partitioning = true, hive_types_autocast = false) AS t"
        " GROUP BY ALL",
        [f"{warehouse}/data/*/*/*/host_events.parquet"],
    ).fetchall()
    return dict(rows)


def workers_and_limits(
    count: int, work: Callable[[int], list[FileResult]]
) -> list[list[FileResult]]:
    """What each of several threads gives that begin at once."""
    barrier = threading.Barrier(count)

    def begin(number: int) -> list[FileResult]:
        barrier.wait()
        return work(number)

    with ThreadPoolExecutor(count) as pool:
        return list(pool.map(begin, range(count)))


@pytest.fixture
def warehouse(tmp_path: Path) -> Path:
    return tmp_path / "warehouse"


@pytest.fixture
def planned_together(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
    """Lets no ingest write before so many have planned: each saw a warehouse without the others."""

    def together(count: int) -> None:
        barrier = threading.Barrier(count)
        real = ingest_trace._ingest

        def wait(*arguments: object, **options: object) -> object:
            barrier.wait(timeout=60)
            return real(*arguments, **options)  # type: ignore[arg-type]

        monkeypatch.setattr(ingest_trace, "_ingest", wait)

    return together


@pytest.mark.parametrize("force", [False, True])
def test_ingests_of_one_file_at_once(
    tmp_path: Path, warehouse: Path, planned_together: Callable[[int], None], force: bool
) -> None:
    path = written(tmp_path / "run" / "w.json", "aten::mm", "aten::add")
    planned_together(4)
    for [outcome] in workers_and_limits(4, lambda _: ingest([path], warehouse, force=force)):
        assert (outcome.status, outcome.reason, outcome.span) == ("ingested", "", "default")
    assert operators(warehouse) == {"default": ["aten::mm", "aten::add"]}
    assert list((warehouse / ".staging").iterdir()) == []


def test_ingests_of_files_of_one_name_at_once_lose_none(
    tmp_path: Path, warehouse: Path, planned_together: Callable[[int], None]
) -> None:
    """Each planned to give its file the span `default`."""
    paths = [written(tmp_path / f"{i}" / "run" / "w.json", f"op{i}") for i in range(4)]
    planned_together(4)
    outcomes = [done for [done] in workers_and_limits(4, lambda i: ingest([paths[i]], warehouse))]
    assert {outcome.status for outcome in outcomes} == {"ingested"}
    found = operators(warehouse)
    assert sorted(found) == ["2", "3", "4", "default"]
    for number, outcome in enumerate(outcomes):
        assert outcome.span is not None
        assert found[outcome.span] == [f"op{number}"]
    assert [each.status for each in ingest(paths, warehouse)] == ["unchanged"] * 4


def test_ingests_of_several_such_files_at_once_lose_none(
    tmp_path: Path, warehouse: Path, planned_together: Callable[[int], None]
) -> None:
    """Two calls, each with `default` and 2 for its files."""
    folders = [tmp_path / name for name in "abcd"]
    for folder in folders:
        written(folder / "run" / "w.json", f"op {folder.name}")
    planned_together(4)
    workers_and_limits(2, lambda i: ingest(folders[2 * i : 2 * i + 2], warehouse, jobs=2))
    assert sorted(operators(warehouse)) == ["2", "3", "4", "default"]
    assert sorted(operators(warehouse).values()) == [["op a"], ["op b"], ["op c"], ["op d"]]


def test_an_ingest_reads_the_source_of_each_trace_of_a_worker_once(
    tmp_path: Path, warehouse: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each asks for the sources of those before it. The time of a thousand would be that of half a million."""
    read, origin = [], local_store._origin

    def counted(folder: Path) -> Origin:
        read.append(folder.name)
        return origin(folder)

    monkeypatch.setattr(local_store, "_origin", counted)
    for time in range(5):
        written(tmp_path / "run" / f"w.{1700000000000 + time}.pt.trace.json", f"op{time}")
    assert len(ingest([tmp_path / "run"], warehouse)) == 5
    assert len(read) == len(set(read)) == 4


def test_a_pipe_replaces_no_trace_whose_source_cannot_be_read() -> None:
    """Neither has a path."""
    assert free_span("default", (), {"default": UNKNOWN.source_path}) == "2"


def test_leftovers_of_the_dead_are_removed_and_those_of_the_living_stay(
    tmp_path: Path, warehouse: Path
) -> None:
    path = written(tmp_path / "run" / "w.json", "aten::mm")
    store = LocalStore(warehouse)
    with store.session() as alive, alive.staging() as staged:
        (staged / "half.parquet").write_bytes(b"half")
        dead = staged.parents[1] / "dead"
        shutil.copytree(alive.path, dead)
        (staged.parents[1] / "begun").mkdir()
        assert sorted(staging.leftovers(store.path / ".staging")) == [
            staged.parents[1] / "begun",
            dead,
        ]
        ingest([path], warehouse)
        assert list((warehouse / ".staging").iterdir()) == [alive.path]
        assert (staged / "half.parquet").exists()
    assert list((warehouse / ".staging").iterdir()) == []


def test_where_there_are_no_locks_age_tells(
    tmp_path: Path, warehouse: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def none(*_: object) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "flock", none)
    path = written(tmp_path / "run" / "w.json", "aten::mm")
    for name in ("young", "old"):
        (warehouse / ".staging" / name).mkdir(parents=True)
        (warehouse / ".staging" / name / "lock").touch()
    for left in ("old/lock", "old"):
        os.utime(warehouse / ".staging" / left, (1, 1))
    assert [each.status for each in ingest([path], warehouse)] == ["ingested"]
    assert list((warehouse / ".staging").iterdir()) == [warehouse / ".staging" / "young"]


def test_an_interrupt_as_soon_as_a_worker_starts(
    tmp_path: Path, warehouse: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The worker may be at a long statement before its caller knows of it."""
    started = threading.Event()

    class Pool(ThreadPoolExecutor):
        def submit(self, *arguments: Any, **named: Any) -> Any:
            super().submit(*arguments, **named)
            started.wait(0.5)
            raise KeyboardInterrupt

    def take_in(databases: object, source: object, read: Any, *_: object) -> None:
        read(1)
        started.set()

    monkeypatch.setattr(api, "ThreadPoolExecutor", Pool)
    monkeypatch.setattr(ingest_file, "ingest_traces", take_in)
    with pytest.raises(KeyboardInterrupt):
        ingest([written(tmp_path / "run" / "w.json", "new")], warehouse)
    assert not started.is_set()


@pytest.fixture
def no_exchange(monkeypatch: pytest.MonkeyPatch) -> None:
    """A file system that cannot swap two folders in one step."""
    monkeypatch.setattr(staging, "_exchange", lambda *_: False)


@pytest.mark.usefixtures("no_exchange")
@pytest.mark.parametrize("step", [1, 2, 3], ids=["before", "between", "after"])
def test_dying_while_a_trace_is_replaced_in_two_steps(
    tmp_path: Path, warehouse: Path, monkeypatch: pytest.MonkeyPatch, step: int
) -> None:
    """The old trace comes back where the new one had not come in yet."""
    path = written(tmp_path / "run" / "w.json", "old")
    ingest([path], warehouse)
    written(path, "new and longer")
    real, left = Path.rename, [step]

    def rename(self: Path, target: Path) -> Path:
        left[0] -= 1
        if left[0] == 0:
            raise KeyboardInterrupt
        return real(self, target)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "rename", rename)
        patch.setattr(staging.Session, "close", lambda self: os.close(self._lock))
        patch.setattr(shutil, "rmtree", lambda *_, **__: None)
        with pytest.raises(KeyboardInterrupt) if step < 3 else nullcontext():
            ingest([path], warehouse)
    assert any((warehouse / ".staging").iterdir())
    if step == 2:  # a killed process has no time to put it back
        shutil.move(
            warehouse / "data" / "run=run" / "worker=w" / "span=default",
            next(iter((warehouse / ".staging").iterdir())) / "old/run=run/worker=w/span=default",
        )
        assert operators_or_none(warehouse) is None
    with LocalStore(warehouse).session():
        found = operators_or_none(warehouse)
    assert found == {"default": ["new and longer" if step == 3 else "old"]}
    ingest([path], warehouse)
    assert operators(warehouse) == {"default": ["new and longer"]}
    assert list((warehouse / ".staging").iterdir()) == []


def operators_or_none(warehouse: Path) -> dict[str, list[str]] | None:
    return operators(warehouse) if any(warehouse.glob("data/*/*/*/*")) else None


@pytest.mark.usefixtures("no_exchange")
def test_a_replacement_that_fails_half_way_leaves_the_old_trace(
    tmp_path: Path, warehouse: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = written(tmp_path / "run" / "w.json", "old")
    ingest([path], warehouse)
    written(path, "new and longer")
    real = Path.rename

    def rename(self: Path, target: Path) -> Path:
        if "old" not in self.parts and ".staging" in self.parts:
            raise OSError(errno.EIO, "Input/output error", str(target))
        return real(self, target)

    monkeypatch.setattr(Path, "rename", rename)
    [outcome] = ingest([path], warehouse)
    assert outcome.status == "refused"
    assert outcome.reason.startswith("Input/output error: ")
    assert operators(warehouse) == {"default": ["old"]}
    assert list((warehouse / ".staging").iterdir()) == []


def test_drops_and_ingests_at_once(tmp_path: Path, warehouse: Path) -> None:
    """The folders above a trace go when it is dropped, and the next one needs them."""
    path = written(tmp_path / "run" / "w.json", "aten::mm")

    def work(number: int) -> list[FileResult]:
        if number % 2:
            for _ in range(30):
                drop(warehouse, "run")
            return []
        return [outcome for _ in range(4) for outcome in ingest([path], warehouse, force=True)]

    for outcomes in workers_and_limits(4, work):
        assert {(each.status, each.reason) for each in outcomes} <= {("ingested", "")}
    assert list((warehouse / ".staging").iterdir()) == []


def test_a_file_that_changes_while_it_is_read(
    tmp_path: Path, warehouse: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = written(tmp_path / "run" / "w.json", "aten::mm")

    def change(*arguments: object) -> None:
        os.utime(path, ns=(1, 1))
        write_traces(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(ingest_trace, "write_traces", change)
    [outcome] = ingest([path], warehouse)
    assert (outcome.status, outcome.reason) == (
        "refused",
        "it changed while it was read: ingest it again when it is whole",
    )
    assert operators_or_none(warehouse) is None


def test_a_file_that_vanishes(
    tmp_path: Path, warehouse: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone, stays = (written(tmp_path / "run" / f"{name}.json", name) for name in "ab")
    real = LocalStore.session

    def session(self: LocalStore) -> object:
        gone.unlink()
        return real(self)

    monkeypatch.setattr(LocalStore, "session", session)
    first, second = ingest([gone, stays], warehouse)
    assert (first.status, first.reason) == ("refused", f"No such file or directory: {gone}")
    assert second.status == "ingested"


def test_an_error_of_the_caller_is_the_callers(tmp_path: Path, warehouse: Path) -> None:
    def broken(_: object) -> None:
        raise ZeroDivisionError("the display")

    path = written(tmp_path / "run" / "w.json", "aten::mm")
    with pytest.raises(ZeroDivisionError, match="the display"):
        ingest([path], warehouse, on_progress=broken)
    assert list((warehouse / ".staging").iterdir()) == []


def test_an_error_of_the_caller_ends_the_ingest_when_it_comes(
    tmp_path: Path, warehouse: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It does not wait for the files that are left."""
    monkeypatch.setattr(ingest_trace, "COMMITS_AT_ONCE", 2)

    def broken(_: object) -> None:
        raise ZeroDivisionError("the list of outcomes")

    for rank in range(12):
        written(tmp_path / "run" / f"rank{rank}.json", "aten::mm")
    with pytest.raises(ZeroDivisionError, match="the list of outcomes"):
        ingest([tmp_path / "run"], warehouse, jobs=1, on_result=broken)
    assert 1 <= len([*warehouse.glob("data/*/*/*")]) < 12


def test_an_interrupt_reaches_all_where_a_statement_has_just_ended(tmp_path: Path) -> None:
    """What it finds running may be closed when its turn comes."""
    session = Session(tmp_path, "")
    with duckdb.connect() as con, ThreadPoolExecutor(1) as pool:
        ended = con.cursor()
        with session.running(ended), session.running(con):
            ended.close()
            query = "SELECT sum(sin(r.range)) FROM range(1000000000000) AS r"
            waiting = pool.submit(con.execute, query)
            try:
                while not waiting.done():
                    session.interrupt()
            finally:
                while not waiting.done():
                    con.interrupt()
    with pytest.raises(duckdb.InterruptException):
        waiting.result()
    session.close()
