"""Statements that run side by side on one database, each as soon as what it needs is done."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ThreadPoolExecutor, wait
from contextlib import AbstractContextManager
from dataclasses import dataclass
from graphlib import TopologicalSorter
from typing import Any

import duckdb

#: While it lasts, the connection can be interrupted: `Session.running`.
Running = Callable[[duckdb.DuckDBPyConnection], AbstractContextManager[None]]


@dataclass(frozen=True, slots=True)
class Task:
    """What to do with a connection, and the names of the tasks that have to be done before."""

    do: Callable[[duckdb.DuckDBPyConnection], None]
    needs: tuple[str, ...] = ()


class _Here(Executor):
    """Runs what is submitted at once: a thread that ends gives back the memory that the next one needs."""

    def submit(self, do: Any, /, *args: Any, **named: Any) -> Future[Any]:
        future: Future[Any] = Future()
        future.set_result(do(*args, **named))
        return future


def run_tasks(
    con: duckdb.DuckDBPyConnection, tasks: Mapping[str, Task], running: Running, at_once: int
) -> None:
    """Run tasks, each on a cursor of its own. Of those that may run, the first named goes first.

    Args:
        con: Connection to the database; variables and temporary tables of it are not shared.
        tasks: By name.
        running: Held while a task runs.
        at_once: How many run at a time.
    """

    def run(name: str) -> None:
        with con.cursor() as cursor, running(cursor):
            tasks[name].do(cursor)

    rank = {name: position for position, name in enumerate(tasks)}
    graph = TopologicalSorter({name: task.needs for name, task in tasks.items()})
    graph.prepare()
    ready: list[str] = []
    busy: dict[Future[None], str] = {}
    with ThreadPoolExecutor(at_once) if at_once > 1 else _Here() as pool:
        while graph.is_active():
            ready = sorted([*ready, *graph.get_ready()], key=rank.__getitem__)
            for name in ready[: at_once - len(busy)]:
                busy[pool.submit(run, ready.pop(0))] = name
            done, _ = wait(busy, return_when=FIRST_COMPLETED)
            for future in done:
                future.result()
                graph.done(busy.pop(future))
