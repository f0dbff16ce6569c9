"""Run tasks on one database in parallel, each as soon as the tasks that it depends on are done."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ThreadPoolExecutor, wait
from contextlib import AbstractContextManager
from dataclasses import dataclass
from graphlib import TopologicalSorter
from typing import Any

import duckdb

#: A context in which the connection can be interrupted; see `Session.running`.
Running = Callable[[duckdb.DuckDBPyConnection], AbstractContextManager[None]]


@dataclass(frozen=True, slots=True)
class Task:
    """A function that gets a connection, and the names of the tasks that must be done before."""

    run: Callable[[duckdb.DuckDBPyConnection], None]
    needs: tuple[str, ...] = ()


class _InlineExecutor(Executor):
    """Runs each task in the calling thread: a thread that ends would return memory that the next needs."""

    def submit(self, do: Any, /, *args: Any, **named: Any) -> Future[Any]:
        future: Future[Any] = Future()
        future.set_result(do(*args, **named))
        return future


def run_tasks(
    con: duckdb.DuckDBPyConnection, tasks: Mapping[str, Task], running: Running, at_once: int
) -> None:
    """Run tasks, each on a cursor of its own. If several can run, the first in `tasks` is started first.

    Args:
        con: Connection to the database. Cursors do not share its variables and temporary tables.
        tasks: The tasks by name.
        running: Entered while a task runs.
        at_once: Maximum number of tasks that run at the same time.
    """

    def run(name: str) -> None:
        with con.cursor() as cursor, running(cursor):
            tasks[name].run(cursor)

    rank = {name: position for position, name in enumerate(tasks)}
    graph = TopologicalSorter({name: task.needs for name, task in tasks.items()})
    graph.prepare()
    ready: list[str] = []
    busy: dict[Future[None], str] = {}
    with ThreadPoolExecutor(at_once) if at_once > 1 else _InlineExecutor() as pool:
        while graph.is_active():
            ready = sorted([*ready, *graph.get_ready()], key=rank.__getitem__)
            for name in ready[: at_once - len(busy)]:
                busy[pool.submit(run, ready.pop(0))] = name
            done, _ = wait(busy, return_when=FIRST_COMPLETED)
            for future in done:
                future.result()
                graph.done(busy.pop(future))
