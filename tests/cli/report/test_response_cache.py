"""Pages and panels that were asked for before: they are kept until one of their traces changes."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Coroutine
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

import tracewh
from tests.cli.report.servers import visitor
from tracewh.cli.report.messages import Task, TaskResult
from tracewh.cli.report.response_cache import ResponseCache
from tracewh.cli.report.worker_pool import PendingTask, Pool

PANEL = "/api/panel/operators-table"


def record(logs: Path, run: str, operator: str, worker: str = "w0") -> None:
    """A trace of a run with one operator; the first of its run, or in the place of the one before."""
    step = {"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#1", "ts": 0, "dur": 9}
    called = {"ph": "X", "cat": "cpu_op", "name": operator, "ts": 1, "dur": 5}
    path = logs / run / f"{worker}.pt.trace.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"traceEvents": [e | {"pid": 1, "tid": 1} for e in (step, called)]}))
    tracewh.ingest(path, logs / "wh", run=run)


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The tasks of all pools, except for those that find out the state of the traces."""
    found: list[str] = []
    submit = Pool.submit

    def noting(pool: Pool, task: Task) -> PendingTask:
        found.extend([task.kind] * (task.kind != "state"))
        return submit(pool, task)

    monkeypatch.setattr(Pool, "submit", noting)
    return found


def names(client: TestClient, run: str = "one") -> list[str]:
    """The operators of a run, as the page shows them."""
    found = client.get(PANEL, params={"run": run}).json()
    at = [column["name"] for column in found["columns"]].index("name")
    listed: list[str] = found["values"][at] if found["rows"] else []
    return listed


def test_a_panel_is_computed_once_until_its_trace_changes(tmp_path: Path, asked: list[str]) -> None:
    record(tmp_path, "one", "aten::mm")
    record(tmp_path, "two", "aten::add")
    with tracewh.open(tmp_path / "wh") as opened, visitor(opened) as client:
        assert [names(client), names(client), names(client)] == [["aten::mm"]] * 3
        assert asked == ["panel"]
        record(tmp_path, "two", "aten::sub")
        assert names(client) == ["aten::mm"]
        assert asked == ["panel"]
        assert names(client, "two") == ["aten::sub"]
        record(tmp_path, "one", "aten::mul")
        assert names(client) == ["aten::mul"]
        assert asked == ["panel"] * 3


def test_a_page_names_a_run_as_soon_as_it_is_there(tmp_path: Path, asked: list[str]) -> None:
    record(tmp_path, "one", "aten::mm")
    with tracewh.open(tmp_path / "wh") as opened, visitor(opened) as client:
        pages = [client.get("/?run=one").text for _ in range(2)]
        assert pages[0] == pages[1]
        assert asked == ["page"]
        assert '<option value="another">' not in pages[0]
        record(tmp_path, "another", "aten::mm")
        assert '<option value="another">' in client.get("/?run=one").text


def test_a_panel_without_a_name_is_about_the_newest_run(tmp_path: Path) -> None:
    record(tmp_path, "one", "aten::mm")
    with tracewh.open(tmp_path / "wh") as opened, visitor(opened) as client:
        assert names(client, "") == ["aten::mm"]
        record(tmp_path, "two", "aten::add")
        [(newest,)] = opened.sql("SELECT arg_max(run, ingested_at) FROM traces").fetchall()
        expected = {"one": "aten::mm", "two": "aten::add"}[newest]
        assert names(client, "") == [expected]


def test_a_comparison_is_about_two_runs(tmp_path: Path, asked: list[str]) -> None:
    record(tmp_path, "one", "aten::mm")
    record(tmp_path, "two", "aten::mm")
    with tracewh.open(tmp_path / "wh") as opened, visitor(opened) as client:
        sides = {"run": "two", "baseline": "one"}
        found = [client.get("/api/panel/diff-operators", params=sides).json() for _ in range(2)]
        assert (found[0]["rows"], asked) == (1, ["panel"])
        record(tmp_path, "one", "aten::add")
        assert client.get("/api/panel/diff-operators", params=sides).json()["rows"] == 2


def test_those_who_ask_at_once_wait_for_one_answer(tmp_path: Path, asked: list[str]) -> None:
    record(tmp_path, "one", "aten::mm")
    with tracewh.open(tmp_path / "wh") as opened, visitor(opened) as client, client:
        with ThreadPoolExecutor(8) as clients:
            found = [*clients.map(lambda _: names(client), range(8))]
        assert (found, asked) == ([["aten::mm"]] * 8, ["panel"])


def test_an_error_is_not_kept(tmp_path: Path) -> None:
    record(tmp_path, "one", "aten::mm")
    with tracewh.open(tmp_path / "wh") as opened, visitor(opened) as client:
        answer = client.get(PANEL, params={"run": "two"})
        assert (answer.status_code, "no run named 'two'" in answer.json()["error"]) == (400, True)
        record(tmp_path, "two", "aten::add")
        assert names(client, "two") == ["aten::add"]


class Waiting(PendingTask):
    """A task that notes whether it was stopped."""

    def __init__(self) -> None:
        super().__init__()
        self.future = Future()


def run(steps: Coroutine[Any, Any, None]) -> None:
    """Run something in an event loop of its own; the browser of another test keeps one in this thread."""
    with ThreadPoolExecutor(1) as thread:
        thread.submit(asyncio.run, steps).result()


def kept(cache: ResponseCache, name: str, result: TaskResult) -> None:
    """Compute an answer and keep it."""

    async def compute() -> None:
        key = (name, b"", b"")
        running = cache.join(key, Waiting)
        running.pending.future.set_result(result)
        await running.finished
        cache.leave(key, running)

    run(compute())


def known(cache: ResponseCache, *names: str) -> list[bool]:
    return [cache.get((name, b"", b"")) is not None for name in names]


def test_the_last_client_that_leaves_stops_the_task() -> None:
    async def leaving() -> None:
        cache, key = ResponseCache(100), ("panel", b"", b"")
        one = cache.join(key, Waiting)
        two = cache.join(key, lambda: pytest.fail("it runs already"))
        assert one is two
        cache.leave(key, one)
        assert not one.pending.is_stopped
        cache.leave(key, two)
        assert one.pending.is_stopped
        assert cache.join(key, Waiting) is not one

    run(leaving())


def test_a_task_that_was_stopped_leaves_the_next_one_alone() -> None:
    async def leaving() -> None:
        cache, key = ResponseCache(100), ("panel", b"", b"")
        first = cache.join(key, Waiting)
        cache.leave(key, first)
        second = cache.join(key, Waiting)
        first.clients = 1
        cache.leave(key, first)
        assert cache.join(key, lambda: pytest.fail("the second one runs")) is second

    run(leaving())


def test_answers_that_nobody_asked_for_lately_are_forgotten() -> None:
    cache = ResponseCache(100)
    for name in ("one", "two"):
        kept(cache, name, TaskResult(200, b"x" * 40))
    assert known(cache, "two", "one") == [True, True]  # so `two` is the older one now
    kept(cache, "three", TaskResult(200, b"x" * 40))
    assert known(cache, "one", "two", "three") == [True, False, True]
    kept(cache, "four", TaskResult(400, b"x"))
    kept(cache, "huge", TaskResult(200, b"x" * 101))
    assert known(cache, "one", "three", "four", "huge") == [True, True, False, False]
