"""A pool of in-memory databases, one per trace that is being ingested, and their limits."""

from __future__ import annotations

import os
import shutil
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import duckdb

from tracewh.ingest.link import create_link_macros
from tracewh.ingest.parse import create_raw_tables
from tracewh.storage.staging import Session

#: Memory for the databases of all traces that are ingested at the same time; beyond it they spill to disk.
MEMORY_BYTES = 960 << 20
#: A database returns memory to the system whenever the memory that it uses and has freed reaches its limit,
#: and allocating it again would be a tenth of the work. So the limit is this many times what a trace may use,
#: until the trace may need more.
_ROOM = 1.6
#: Memory of a trace, for its database and its reading: at least, per stored byte, and at most; and the memory
#: for all traces that are ingested at the same time.
_LEAST_BYTES, _PER_BYTE, _MOST_BYTES, _ALL_BYTES = 64 << 20, 80, 640 << 20, 1280 << 20
#: Memory that Python, the libraries and the text that is being read need besides; and the least for the databases.
_BESIDE_BYTES, _LEAST_MEMORY_BYTES = 512 << 20, 128 << 20
#: What needs no more fits into any machine that runs tracewh, and no time is spent to ask for its memory.
_SMALL_BYTES = 384 << 20
#: More threads would wait for each other.
_MOST_THREADS = 8


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits for the ingest of one trace, and what the user can do if the memory is too little."""

    threads: int
    memory_bytes: int
    remedy: str = "use fewer --jobs"


def workers_and_limits(sizes: Sequence[int], jobs: int | None) -> tuple[int, Limits]:
    """Return how many files to ingest at the same time, and the limits of each.

    Args:
        sizes: Stored bytes of each new file; the list may be empty.
        jobs: How many. None for one per core, or as many as fit into 1.5 GiB together, or into the memory of the
            machine or its container if that is less.
    """
    cores = os.cpu_count() or 1
    needed = min(_LEAST_BYTES + _PER_BYTE * max(sizes, default=0), _MOST_BYTES)
    memory, together = MEMORY_BYTES, _ALL_BYTES
    if needed * min(jobs or cores, max(1, len(sizes))) > _SMALL_BYTES:
        free = max(memory_of_machine() - _BESIDE_BYTES, _LEAST_MEMORY_BYTES)
        if free < memory:
            memory, together = free, together * free // memory
    fitting = max(together // needed, 1)
    workers = min(jobs or min(cores, fitting), max(1, len(sizes)))
    threads = min(max(1, cores // workers), _MOST_THREADS)
    return workers, Limits(threads, memory // min(workers, fitting))


def memory_of_machine() -> int:
    """Return the bytes of memory of the machine, or of its container: DuckDB's own limit is 80 % of them."""
    with duckdb.connect(config={"threads": 1}) as con:
        query = "SELECT parse_formatted_bytes(current_setting('memory_limit'))"
        [(limit,)] = con.execute(query).fetchall()
    return int(limit * 5 // 4)


@dataclass(slots=True)
class Database:
    """A database for one trace.

    Attributes:
        con: Connection to it.
        limits: Its limits.
        is_large: Whether the trace may need more memory, so that the limits apply.
    """

    con: duckdb.DuckDBPyConnection
    limits: Limits
    is_large: bool = False

    def expect(self, size: int) -> None:
        """Apply the limits from here on, if the trace may exceed them.

        Args:
            size: Bytes that may be added to those in use.
        """
        if self.is_large:
            return
        [(used,)] = self.con.execute(
            "SELECT sum(m.memory_usage_bytes) FROM duckdb_memory() AS m"
        ).fetchall()
        if used + size > self.limits.memory_bytes:
            self.is_large = True
            self.con.execute(f"SET memory_limit = '{_mebibytes(self.limits.memory_bytes)}'")


class DatabasePool:
    """A pool that gives a database to each trace.

    Opening a database takes as long as reading ten thousand events, and so do creating the macros and
    allocating memory again. So a database that did not spill serves the next trace.

    Args:
        session: Of the ingest.
        limits: What each may use.
    """

    def __init__(self, session: Session, limits: Limits) -> None:
        self.session = session
        self.limits = limits
        self._idle: list[tuple[duckdb.DuckDBPyConnection, Path]] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        for con, _ in self._idle:
            con.close()

    @contextmanager
    def empty(self) -> Iterator[Database]:
        """A database with empty raw tables and the macros of ingest; `Session.interrupt` interrupts it."""
        try:
            con, spill = self._idle.pop()
        except IndexError:  # a check before could be outdated by another thread
            con, spill = self._open()
        is_empty = False
        try:
            fresh = _copy(con)
            with con.cursor() as cursor, self.session.running(cursor):
                database = Database(cursor, self.limits)
                yield database
            is_empty = not database.is_large and not spill.exists() and _replace(con, fresh)
        finally:
            if is_empty:
                self._idle.append((con, spill))
            else:
                con.close()
                shutil.rmtree(spill, ignore_errors=True)

    def _open(self) -> tuple[duckdb.DuckDBPyConnection, Path]:
        spill = self.session.path / f"{uuid.uuid4().hex}-spill"
        con = duckdb.connect(
            config={
                "threads": self.limits.threads,
                "memory_limit": _mebibytes(self.limits.memory_bytes * _ROOM),
                "temp_directory": str(spill),
                # Otherwise DuckDB compresses the tables from time to time, which costs more than it saves.
                "checkpoint_threshold": "1TB",
                # Idle threads return memory that others need again, and spilling is no faster with them.
                "async_threads": 0,
            }
        )
        create_raw_tables(con)
        create_link_macros(con)
        return con, spill


def _mebibytes(size: float) -> str:
    return f"{int(size) >> 20}MiB"


def _copy(con: duckdb.DuckDBPyConnection) -> str:
    """Copy a database that no trace has used, for the next trace, and return the name of the copy.

    A copy takes a tenth of the time that its statements take.
    """
    fresh = f"trace_{uuid.uuid4().hex}"
    [(current,)] = con.execute("SELECT current_database()").fetchall()
    con.execute(f"ATTACH ':memory:' AS {fresh}; COPY FROM DATABASE {current} TO {fresh}")
    return fresh


def _replace(con: duckdb.DuckDBPyConnection, fresh: str) -> bool:
    """Replace a database by a copy from before, and return whether that worked."""
    with suppress(duckdb.Error):
        [(last,)] = con.execute("SELECT current_database()").fetchall()
        # New cursors use the oldest that is attached.
        con.execute(f"USE {fresh}; DETACH {last}")
        return True
    return False
