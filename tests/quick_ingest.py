"""What makes the ingests of tests quick; tests/conftest.py has it in all tests but those listed here."""

from __future__ import annotations

import functools
import uuid
from collections.abc import Iterable, Iterator
from fnmatch import fnmatch
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Self

import duckdb
import pytest

from tracewh.quoting import quote_literal
from tracewh.schema import tables


def _is_any(path: Path, patterns: Iterable[str]) -> bool:
    return any(fnmatch(str(path), f"*/tests/{pattern}") for pattern in patterns)


#: The tests that look at tracewh.duckdb, by path.
WITH_DATABASE = (
    "cli/commands/test_check.py",
    "cli/commands/test_commands.py",
    "docs/*",
    "ingest/test_watch.py",
    "spark/*",
    "storage/*",
    "views/test_database.py",
    "views/test_database_shell.py",
    "views/test_warehouse.py",
)


@pytest.fixture(scope="module", autouse=True)
def without_database(request: pytest.FixtureRequest) -> Iterator[None]:
    """Ingest without tracewh.duckdb in all other tests: writing it takes longer than most of their traces.

    What all tests share has it.
    """
    from tracewh.views import database

    write = database.ensure_database

    def ensure(path: Any, *prepared: Any) -> bool:
        return (Path(path).parent / ".made").exists() and write(path, *prepared)

    with pytest.MonkeyPatch.context() as patch:
        if not _is_any(request.path, WITH_DATABASE):
            patch.setattr(database, "ensure_database", ensure)
        yield


#: The tests of how an ingest opens databases, by path.
OPENS_DATABASES = ("ingest/test_database_pool.py", "ingest/test_spill.py")
#: By their limits: databases of ingests that no trace has used.
_kept: dict[Any, list[duckdb.DuckDBPyConnection]] = {}


@pytest.fixture(scope="module", autouse=True)
def kept_databases(request: pytest.FixtureRequest) -> Iterator[None]:
    """Let the database of an ingest serve the next ingest, too, as it serves the next trace.

    Opening one takes a fourth of the time of a small ingest.
    """
    from tracewh.ingest.database_pool import DatabasePool

    open_new = DatabasePool._open

    def open_one(self: DatabasePool) -> tuple[duckdb.DuckDBPyConnection, Path]:
        if not _kept.get(self.limits):
            return open_new(self)
        con = _kept[self.limits].pop()
        spill = self.session.path / f"{uuid.uuid4().hex}-spill"
        con.execute(f"SET temp_directory = {quote_literal(str(spill))}")
        return con, spill

    def keep(self: DatabasePool, *exception: object) -> None:
        _kept.setdefault(self.limits, []).extend(con for con, _ in self._idle)

    with pytest.MonkeyPatch.context() as patch:
        if not _is_any(request.path, OPENS_DATABASES):
            patch.setattr(DatabasePool, "_open", open_one)
            patch.setattr(DatabasePool, "__exit__", keep)
        yield


@functools.cache
def _checking() -> duckdb.DuckDBPyConnection:
    return duckdb.connect()


_rebuilds: list[Rebuild] = []


class Rebuild:
    """A database that rebuilds events of one trace after another; each finds it without tables."""

    def __init__(self) -> None:
        self.con = duckdb.connect()
        self.derived: set[str] = set()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        for name in tables():
            self.con.execute(f"DROP VIEW IF EXISTS {name}")
        _rebuilds.append(self)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.con, name)


@pytest.fixture(scope="module", autouse=True)
def kept_readers() -> Iterator[None]:
    """Let the database that checks or rebuilds the events of a trace serve the next trace, too.

    Opening one takes longer than the events of most tests.
    """
    from tracewh import sql_files
    from tracewh.ingest import reconstruct
    from tracewh.ingest.read import chunks

    def check() -> duckdb.DuckDBPyConnection:
        return _checking().cursor()

    def rebuild() -> Rebuild:
        return _rebuilds.pop() if _rebuilds else Rebuild()

    def derive_once(con: Any, name: str) -> None:
        if name not in con.derived:
            sql_files.derive(con.con, name)
            con.derived.add(name)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(chunks, "duckdb", SimpleNamespace(connect=check))
        patch.setattr(reconstruct, "duckdb", SimpleNamespace(connect=rebuild))
        patch.setattr(reconstruct, "derive", derive_once)
        yield
