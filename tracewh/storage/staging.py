"""The folder in which an ingest prepares traces, and the cleanup of what crashed ingests left there.

.staging/<session>/lock         locked until the process ends, however it ends; in a temporary
                                folder if the warehouse is in an object store
.staging/<session>/<n>/         a trace that is being written
.staging/<session>/<n>-spill/   temporary files of a database that ran out of memory
.staging/<session>/old/...      a stored trace while another one replaces it
"""

from __future__ import annotations

import ctypes
import os
import shutil
import tempfile
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb

from tracewh.storage.layout import MANIFEST
from tracewh.temporary import (
    ABANDONED_SECONDS,
    SCRATCH,
    is_held,
    is_old,
    remove_abandoned,
    try_lock,
)

if TYPE_CHECKING:
    from tracewh.storage.listing import Folder


class Session:
    """The folder of one ingest inside `.staging`. `Store.session` creates and closes it.

    Args:
        staging: The parent folder.
        remedy: What the user can do if the disk is full, besides freeing space.
    """

    def __init__(self, staging: Path, remedy: str) -> None:
        self.path = staging / uuid.uuid4().hex
        self.path.mkdir()
        self.full = f"no space left on the disk of {staging.parent}: free some, or {remedy}"
        self.interrupted = False
        # Lock the file before renaming it, so that nobody finds it unlocked while this process lives.
        lock = self.path / "lock.new"
        self._lock = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
        try_lock(self._lock)
        os.rename(lock, self.path / "lock")

        self._running: list[duckdb.DuckDBPyConnection] = []

    @contextmanager
    def running(self, con: duckdb.DuckDBPyConnection) -> Iterator[None]:
        """Register a connection so that `interrupt` cancels its running statement."""
        self._running.append(con)
        try:
            yield
        finally:
            self._running.remove(con)

    def interrupt(self) -> None:
        """Cancel all running statements and uploads. Their callers get an error."""
        self.interrupted = True
        for con in list(self._running):
            with suppress(duckdb.ConnectionException):  # closed meanwhile
                con.interrupt()

    def close(self) -> None:
        """Remove the folder."""
        shutil.rmtree(self.path, ignore_errors=True)
        os.close(self._lock)

    @contextmanager
    def staging(self) -> Iterator[Path]:
        """A folder to write a trace to. It is removed afterwards unless it was placed."""
        staged = self.path / uuid.uuid4().hex
        staged.mkdir()
        try:
            yield staged
        finally:
            shutil.rmtree(staged, ignore_errors=True)
            shutil.rmtree(spill_folder(staged), ignore_errors=True)

    def flush(self, staged: Path) -> None:
        """Write a staged trace to the disk (fsync), so that a power cut after `flush_parents` loses nothing."""
        for path in (*staged.iterdir(), staged):
            _sync(path)

    def place(self, staged: Path, folder: Path) -> None:
        """Move a staged folder to its place. Readers see either the old or the new contents, complete."""
        folder.parent.mkdir(parents=True, exist_ok=True)
        if not folder.exists():
            staged.rename(folder)
        elif not _exchange(staged, folder):
            old = self.path / "old" / Path(*folder.parts[-3:])
            old.parent.mkdir(parents=True, exist_ok=True)
            folder.rename(old)
            try:
                staged.rename(folder)
            except BaseException:
                old.rename(folder)
                raise
            shutil.rmtree(old, ignore_errors=True)

    def flush_parents(self, folder: Path) -> None:
        """Write the folders above a placed one to the disk (fsync). This needs no lock."""
        with suppress(FileNotFoundError):  # removed meanwhile
            for parent in folder.parents[:3]:
                _sync(parent)

    def remove(self, folder: Path) -> bool:
        """Remove a stored trace and its parents that become empty; False if it does not exist."""
        try:
            folder.rename(self.path / uuid.uuid4().hex)
        except FileNotFoundError:
            return False
        for parent in folder.parents[:2]:
            with suppress(OSError):  # not empty
                parent.rmdir()
        return True


@contextmanager
def scratch(
    top: Path | None = None, remedy: str = "set TMPDIR to a folder on another"
) -> Iterator[Session]:
    """A session in a temporary folder. First removes those of killed ingests.

    Args:
        top: The parent folder; None for the system's temporary folder.
        remedy: What the user can do if the disk is full, besides freeing space.
    """
    top = top or Path(tempfile.gettempdir())
    remove_abandoned(top)
    with tempfile.TemporaryDirectory(prefix=SCRATCH, dir=top, ignore_cleanup_errors=True) as folder:
        session = Session(Path(folder), remedy)
        try:
            yield session
        finally:
            session.close()


def spill_folder(staged: Path) -> Path:
    """The folder for the temporary files of the database that writes a trace."""
    return staged.with_name(f"{staged.name}-spill")


def sweep(staging: Path, data: Path) -> None:
    """Remove what crashed ingests left in `.staging`. Sessions of running ingests stay.

    On a file system that cannot exchange folders, a crash can leave a stored trace in `old/`: it is
    moved back. The caller holds the lock of the warehouse.
    """
    dead = leftovers(staging)
    for session in dead:
        for old in session.glob("old/*/*/*"):
            folder = data / Path(*old.parts[-3:])
            if not folder.exists():
                folder.parent.mkdir(parents=True, exist_ok=True)
                old.rename(folder)
        shutil.rmtree(session, ignore_errors=True)
    if dead:
        for empty in (*data.glob("*/*"), *data.glob("*")):
            with suppress(OSError):  # not empty
                empty.rmdir()


def leftovers(staging: Path) -> list[Path]:
    """The folders that `sweep` would remove."""
    return [session for session in staging.glob("*") if _is_dead(session)]


def abandoned(folder: Folder) -> tuple[list[str], list[str]]:
    """Objects that no reader has used for a day: keys of manifests, and keys of other objects.

    For a replaced attempt the day starts when its successor was written. Objects of generation 0 without
    a manifest are not written by tracewh and stay.
    """
    whole = folder.whole
    keys: tuple[list[str], list[str]] = [], []
    for attempt, objects in folder.attempts.items():
        if attempt == max(whole, default=None) or (not attempt.generation and attempt not in whole):
            continue
        newest = max(found.mtime_ns for found in objects.values())
        if attempt in whole:
            later = (each for each in whole if each > attempt)
            newest = max(newest, min(folder.attempts[each][MANIFEST].mtime_ns for each in later))
        if time.time() - newest / 1e9 > ABANDONED_SECONDS:
            for plain, found in objects.items():
                keys[plain != MANIFEST].append(found.key)
    return keys


def _is_dead(session: Path) -> bool:
    """Whether the process of a session has ended, on this host or another."""
    try:
        held = is_held(session / "lock")
    except FileNotFoundError:  # it ended while it created or removed the session
        return True
    except OSError:  # belongs to another user
        return False
    return is_old(session) if held is None else not held


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _exchange(one: Path, other: Path) -> bool:
    """Swap two folders atomically; False if the system cannot. Linux can, on most file systems."""
    try:
        rename = ctypes.CDLL(None, use_errno=True).renameat2
    except (OSError, AttributeError):
        return False
    here, exchange = -100, 2  # AT_FDCWD, RENAME_EXCHANGE
    return bool(rename(here, os.fsencode(one), here, os.fsencode(other), exchange) == 0)
