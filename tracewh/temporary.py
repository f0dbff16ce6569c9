"""Folders for temporary files, each held by a lock as long as its process lives, whatever ends that.

What a killed process leaves is removed by the next one that makes such a folder.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

#: How their names begin.
PREFIX = "tracewh-tmp-"
#: How the names of those begin that an ingest into a store makes; the lock is one folder deeper.
SCRATCH = "tracewh-scratch-"
#: Where nothing says whether its process lives, what nobody wrote to for so long was left behind.
ABANDONED_SECONDS = 24 * 3600
#: A lock that is not locked yet has this name.
_NEW = "lock.new"


class Temporary:
    """A folder. It is removed by `close`, else when the process has ended.

    Args:
        top: Where to make it, if not where the system has its temporary files.
    """

    def __init__(self, top: Path | None = None) -> None:
        top = top or Path(tempfile.gettempdir())
        sweep(top)
        self.path = Path(tempfile.mkdtemp(prefix=PREFIX, dir=top))
        # Locked before it has its name: nobody ever finds it free while we live.
        self._lock = os.open(self.path / _NEW, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try_lock(self._lock)
        os.rename(self.path / _NEW, self.path / "lock")

    def close(self) -> None:
        """Remove it."""
        shutil.rmtree(self.path, ignore_errors=True)
        with suppress(OSError):
            os.close(self._lock)


@contextmanager
def temporary(top: Path | None = None) -> Iterator[Path]:
    """A folder that is gone afterwards."""
    made = Temporary(top)
    try:
        yield made.path
    finally:
        made.close()


def sweep(top: Path) -> None:
    """Remove the folders of this user whose processes are dead."""
    with suppress(OSError):
        for entry in os.scandir(top):
            with suppress(OSError):
                if (
                    entry.name.startswith((PREFIX, SCRATCH))
                    and entry.is_dir(follow_symlinks=False)
                    and entry.stat(follow_symlinks=False).st_uid == os.geteuid()
                    and _is_dead(Path(entry.path))
                ):
                    shutil.rmtree(entry.path, ignore_errors=True)


def _is_dead(folder: Path) -> bool:
    held = [is_held(lock) for lock in (*folder.glob("lock"), *folder.glob("*/lock"))]
    if not held or None in held:
        return is_old(folder)
    return not any(held)


def is_held(lock: Path) -> bool | None:
    """Whether a living process holds a lock, on this host or another; None where that cannot be told.

    Raises:
        FileNotFoundError: It is gone.
    """
    descriptor = os.open(lock, os.O_RDWR | os.O_CLOEXEC)
    try:
        free = try_lock(descriptor)
    finally:
        os.close(descriptor)
    return None if free is None else not free


def is_old(folder: Path) -> bool:
    """Whether nobody wrote to a folder for a day."""
    newest = folder.stat().st_mtime
    for path in folder.rglob("*"):
        with suppress(FileNotFoundError):
            newest = max(newest, path.stat().st_mtime)
    return time.time() - newest > ABANDONED_SECONDS


def try_lock(descriptor: int) -> bool | None:
    """Lock a file unless it is locked; None where the file system knows no locks."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):
        return False
    except OSError:
        return None
    return True
