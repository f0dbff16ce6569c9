"""Where an ingest writes what is not in the warehouse yet, and what the next one finds of it.

.staging/<session>/lock         held by the ingest as long as it lives, whatever ends it; in a
                                temporary folder where the warehouse is in a store
.staging/<session>/<n>/         a trace that is being written
.staging/<session>/<n>-spill/   what a database wrote that memory did not hold
.staging/<session>/old/...      a stored trace for the moment in which another takes its place
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
from tracewh.temporary import ABANDONED_SECONDS, SCRATCH, is_held, is_old, try_lock
from tracewh.temporary import sweep as remove_abandoned

if TYPE_CHECKING:
    from tracewh.storage.listing import Folder


class Session:
    """The folder of one ingest inside `.staging`. Made and closed by `Store.session`.

    Args:
        staging: The folder to make it in.
        remedy: What to do where its disk is full, besides making room.
    """

    def __init__(self, staging: Path, remedy: str) -> None:
        self.path = staging / uuid.uuid4().hex
        self.path.mkdir()
        self.full = f"no space left on the disk of {staging.parent}: free some, or {remedy}"
        self.interrupted = False
        # Locked before it has its name: nobody ever finds it free while we live.
        lock = self.path / "lock.new"
        self._lock = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
        try_lock(self._lock)
        os.rename(lock, self.path / "lock")

        self._running: list[duckdb.DuckDBPyConnection] = []

    @contextmanager
    def running(self, con: duckdb.DuckDBPyConnection) -> Iterator[None]:
        """While it lasts, `interrupt` ends what a connection is doing."""
        self._running.append(con)
        try:
            yield
        finally:
            self._running.remove(con)

    def interrupt(self) -> None:
        """End the statements and uploads that run, with an error to whoever runs them."""
        self.interrupted = True
        for con in list(self._running):
            with suppress(duckdb.ConnectionException):  # it has just been closed
                con.interrupt()

    def close(self) -> None:
        """Remove the folder."""
        shutil.rmtree(self.path, ignore_errors=True)
        os.close(self._lock)

    @contextmanager
    def staging(self) -> Iterator[Path]:
        """A folder to write a trace to; gone afterwards unless it was placed."""
        staged = self.path / uuid.uuid4().hex
        staged.mkdir()
        try:
            yield staged
        finally:
            shutil.rmtree(staged, ignore_errors=True)
            shutil.rmtree(spill_folder(staged), ignore_errors=True)

    def flush(self, staged: Path) -> None:
        """Make sure that a power cut after the trace was placed finds its contents."""
        for path in (*staged.iterdir(), staged):
            _sync(path)

    def place(self, staged: Path, folder: Path) -> None:
        """Put a folder in its place: readers see what was there or what comes, whole."""
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
        for parent in folder.parents[:3]:
            _sync(parent)

    def remove(self, folder: Path) -> bool:
        """Take a stored trace out, and the folders that are empty without it; False if it is gone."""
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
    """A session in a temporary folder, after removing those of ingests that were killed.

    Args:
        top: Where to make the folder, if not where the system has its temporary files.
        remedy: What to do where its disk is full, besides making room.
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
    """Where the database may put what memory cannot hold while it writes a trace."""
    return staged.with_name(f"{staged.name}-spill")


def sweep(staging: Path, data: Path) -> None:
    """Remove what ingests that died left in `.staging`, and nothing of those that live.

    A stored trace that was about to be replaced, on a file system that cannot exchange folders, goes
    back to its place. The caller holds the lock of the warehouse.
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
    """What `sweep` would remove."""
    return [session for session in staging.glob("*") if _is_dead(session)]


def abandoned(folder: Folder) -> tuple[list[str], list[str]]:
    """What nobody sees and no reader has known of for a day: keys of manifests, and of the rest.

    What was replaced counts from the moment in which it was; what was copied there without a
    manifest is not ours.
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
    """Whether no living process holds the lock of a session, on this host or another."""
    try:
        held = is_held(session / "lock")
    except FileNotFoundError:  # it died when it began or ended
        return True
    except OSError:  # another user's
        return False
    return is_old(session) if held is None else not held


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _exchange(one: Path, other: Path) -> bool:
    """Swap two folders in one step, where the system can: Linux, on most file systems."""
    try:
        rename = ctypes.CDLL(None, use_errno=True).renameat2
    except (OSError, AttributeError):
        return False
    here, exchange = -100, 2  # AT_FDCWD, RENAME_EXCHANGE
    return bool(rename(here, os.fsencode(one), here, os.fsencode(other), exchange) == 0)
