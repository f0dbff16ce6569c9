"""The databases in which traces are put together, and what they may use."""

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

from tracewh.storage.staging import Session

#: What the databases of all traces that are taken in side by side may use; beyond it they spill to disk.
MEMORY_BYTES = 960 << 20
#: A database gives memory back to the system whenever what it uses and what it has freed since come to its
#: limit, and having that memory again would be a tenth of the work. So the limit is so many times what a
#: trace may use, until there is a danger that one uses more.
_ROOM = 1.6
#: What traces take that are taken in side by side, their databases and their reading together: the
#: smallest, with each stored byte of it, the largest, and all of them.
_LEAST_BYTES, _PER_BYTE, _MOST_BYTES, _ALL_BYTES = 64 << 20, 80, 640 << 20, 1280 << 20
#: More would wait for each other.
_MOST_THREADS = 8


@dataclass(frozen=True, slots=True)
class Limits:
    """What the ingest of one trace may use, and what to do where that is too little memory."""

    threads: int
    memory_bytes: int
    remedy: str = "use fewer --jobs"


def workers_and_limits(sizes: Sequence[int], jobs: int | None) -> tuple[int, Limits]:
    """How many files to take in at a time, and what each of them may use.

    Args:
        sizes: Stored bytes of each file that is not in yet; there may be none.
        jobs: How many. If None, one per core, or as many as fit into 1.5 GiB with all else.
    """
    cores = os.cpu_count() or 1
    fitting = _ALL_BYTES // min(_LEAST_BYTES + _PER_BYTE * max(sizes, default=0), _MOST_BYTES)
    workers = min(jobs or min(cores, fitting), max(1, len(sizes)))
    threads = min(max(1, cores // workers), _MOST_THREADS)
    return workers, Limits(threads, MEMORY_BYTES // min(workers, fitting))


@dataclass(slots=True)
class Database:
    """A database for one trace.

    Attributes:
        con: Connection to it.
        limits: What it may use.
        is_large: Whether the trace may need more, so that it is kept to them.
    """

    con: duckdb.DuckDBPyConnection
    limits: Limits
    is_large: bool = False

    def expect(self, size: int) -> None:
        """Keep to the limits from here on, if that may be needed.

        Args:
            size: How many bytes may come to those in use.
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
    """Gives a database to each trace, those that are taken in side by side one each.

    Opening one takes as long as reading ten thousand events, and so does having memory again from the
    system that was given back to it. So a database that needed nothing but memory serves the next trace.

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
        """A database that holds nothing; it can be interrupted."""
        try:
            con, spill = self._idle.pop()
        except IndexError:  # asking before would be asking what another thread may change
            con, spill = self._open()
        is_empty = False
        try:
            with con.cursor() as cursor, self.session.running(cursor):
                database = Database(cursor, self.limits)
                yield database
            is_empty = not database.is_large and not spill.exists() and _empty(con)
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
                # Else the tables are compressed now and then, which costs more than it saves.
                "checkpoint_threshold": "1TB",
                # Idle, they give back memory that the others need again; spilling is no faster with them.
                "async_threads": 0,
            }
        )
        return con, spill


def _mebibytes(size: float) -> str:
    return f"{int(size) >> 20}MiB"


def _empty(con: duckdb.DuckDBPyConnection) -> bool:
    """Take everything out of a database, at once; False where it does not work."""
    fresh = f"trace_{uuid.uuid4().hex}"
    with suppress(duckdb.Error):
        [(last,)] = con.execute("SELECT current_database()").fetchall()
        # New cursors use the only one there is.
        con.execute(f"ATTACH ':memory:' AS {fresh}; USE {fresh}; DETACH {last}")
        return True
    return False
