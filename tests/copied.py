"""Copies of a warehouse in memory: over files most queries of tests take two or three times as long to plan."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

import duckdb
import pyarrow as pa

import tracewh
from tests.given import Tables, plan_quickly
from tracewh.quoting import quote_literal
from tracewh.storage.layout import TraceKeys
from tracewh.views import Spec
from tracewh.views.listing import Listing
from tracewh.views.local_tables import Pattern
from tracewh.views.warehouse import create

Rows = list[tuple[Any, ...]]


#: Longer answers are not kept for those who ask the same.
KEPT_BYTES = 200_000


class CopiedWarehouse(tracewh.Warehouse):
    """The rows of a warehouse as they are when it is opened.

    Args:
        path: The warehouse.
    """

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        plan_quickly(self._con)
        tables = [table.name for table in self.registry.tables()]
        self._prepare(" ".join(tables))
        self._con.execute("CREATE SCHEMA copied")
        for table in tables:
            self._con.execute(
                f"""
                CREATE TABLE copied.{table} AS FROM {table};
                CREATE OR REPLACE VIEW {table} AS FROM copied.{table}
                """
            )
        self._files = Listing.of(path)  # is never read again
        self._answers: dict[str, pa.Table] = {}

    def _query(
        self,
        query: str,
        params: object,
        first: Callable[[TraceKeys], bool] | None = None,
        runs: Collection[str] | None = None,
        cached: object = None,
        notes: object = (),
        variables: object = None,
    ) -> duckdb.DuckDBPyRelation:
        """Ask at once, and plan once: DuckDB binds a relation when it is made and again when it is asked.

        What is asked again has the same answer, which is kept if it is short.
        """
        asked = f"{query} {params!r}"
        answer = self._answers.get(asked)
        if answer is None:
            self._prepare(query, runs=runs)
            self._con.execute(query, params)
            answer = _fetch(self._con)
            if answer.nbytes < KEPT_BYTES:
                self._answers[asked] = answer
        return self._con.from_arrow(answer)


class OpenWarehouse(CopiedWarehouse):
    """Stays open, for several commands."""

    def __exit__(self, *exception: object) -> None: ...


def _fetch(con: duckdb.DuckDBPyConnection) -> pa.Table:
    """What a query answered."""
    with warnings.catch_warnings(action="ignore", category=UserWarning):  # of a copy of the rows
        return con.to_arrow_table()


#: Answers of the views that say what a trace lacks, which every view without rows asks.
_KNOWN: WeakKeyDictionary[tracewh.Warehouse, dict[tuple[Any, ...], pa.Table]] = WeakKeyDictionary()


def run_once(
    warehouse: tracewh.Warehouse, name: str, version: int | None = None, **arguments: Any
) -> duckdb.DuckDBPyRelation:
    """Run a view; one that says what a trace lacks is asked once."""
    if name not in ("recording_advice", "trace_quality"):
        return warehouse.view(name, version, **arguments)
    known = _KNOWN.setdefault(warehouse, {})
    key = name, version, *arguments.items()
    if key not in known:
        known[key] = warehouse.view(name, version, **arguments).to_arrow_table()
    return duckdb.from_arrow(known[key])


class CopiedTables(Tables):
    """The rows of a warehouse, to be asked as a Warehouse asks.

    Args:
        path: The warehouse.
    """

    def __init__(self, path: Path) -> None:
        super().__init__()
        tables = [table.name for table in self.registry.tables()]
        self.con.execute("CREATE SCHEMA files; USE files")
        create(self.con, self.registry, tables, Pattern(path))
        self.con.execute("USE main")
        for table in tables:
            self.con.execute(f"INSERT INTO {table} FROM files.{table}")
        self.con.execute("DROP SCHEMA files CASCADE")
        self._known: dict[str, pa.Table] = {}

    def ask(self, view: Spec, **arguments: Any) -> tuple[list[str], Rows]:
        """Names of the columns of a view, and its rows.

        Args:
            view: The view.
            **arguments: Arguments of the view.
        """
        self._execute(view, arguments)
        return [name for name, *_ in self.con.description or ()], self.con.fetchall()

    def ask_once(self, view: Spec, **arguments: Any) -> pa.Table:
        """The rows of a view, kept for those who ask the same.

        Args:
            view: The view.
            **arguments: Arguments of the view.
        """
        sql = self.registry.call(view.name, view.version, **arguments).sql
        if sql not in self._known:
            self._execute(view, arguments)
            self._known[sql] = _fetch(self.con)
        return self._known[sql]

    def _execute(self, view: Spec, arguments: dict[str, Any]) -> None:
        sql = self.registry.call(view.name, view.version, **arguments).sql
        named = [arguments[key] for key in ("run", "baseline", "experiment") if key in arguments]
        where = f"run IN ({', '.join(map(quote_literal, named))})" if named else "TRUE"
        self.prepare(sql, self.rare(sql, where))
        self.con.execute(sql)
