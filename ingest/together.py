"""Statements that run side by side on one database."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager

import duckdb

#: While it lasts, the connection can be interrupted: `Session.running`.
Running = Callable[[duckdb.DuckDBPyConnection], AbstractContextManager[None]]


def together(
    con: duckdb.DuckDBPyConnection,
    tasks: Iterable[Callable[[duckdb.DuckDBPyConnection], None]],
    running: Running,
    at_once: int | None,
) -> None:
    """Run tasks, each on a cursor of its own.

    Args:
        con: Connection to the database; variables and temporary tables of it are not shared.
        tasks: What to do with a cursor.
        running: Held while a task runs.
        at_once: How many run at a time; as many as there are when None.
    """

    def run(task: Callable[[duckdb.DuckDBPyConnection], None]) -> None:
        with con.cursor() as cursor, running(cursor):
            task(cursor)

    with ThreadPoolExecutor(at_once) as pool:
        for future in [pool.submit(run, task) for task in tasks]:
            future.result()
