"""Temporary folders, each with a lock that its process holds until it ends, even if it is killed.

The next process that creates a temporary folder removes those of dead processes.
"""

from __future__ import annotations

import errno
import fcntl
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from tracewh.files import printable

#: Prefix of the names of temporary folders.
PREFIX = "tracewh-tmp-"
#: Prefix of the folders of an ingest into an object store. Their lock is one level deeper.
SCRATCH = "tracewh-scratch-"
#: If it is unknown whether its process lives, a folder is abandoned after this time without a write.
ABANDONED_SECONDS = 24 * 3600
#: Name of a lock file before it is locked.
_NEW = "lock.new"


class Temporary:
    """A temporary folder. `close` removes it; otherwise another process does after this one has ended.

    Args:
        top: The parent folder; None for the system's temporary folder.
    """

    def __init__(self, top: Path | None = None) -> None:
        top = top or Path(tempfile.gettempdir())
        if (name := str(top)) != printable(name):  # DuckDB could not spill into it
            said = "its path is not UTF-8; name another temporary folder in TMPDIR"
            raise OSError(errno.EILSEQ, said, printable(name))
        remove_abandoned(top)
        self._process = os.getpid()
        self.path = Path(tempfile.mkdtemp(prefix=PREFIX, dir=top))
        # Lock the file before renaming it, so that nobody finds it unlocked while this process lives.
        self._lock = os.open(self.path / _NEW, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try_lock(self._lock)
        os.rename(self.path / _NEW, self.path / "lock")

    def close(self) -> None:
        """Remove the folder, unless this is a process that was forked by the one that made it."""
        if os.getpid() != self._process:
            return
        shutil.rmtree(self.path, ignore_errors=True)
        with suppress(OSError):
            os.close(self._lock)


@contextmanager
def temporary(top: Path | None = None) -> Iterator[Path]:
    """A temporary folder, removed at the end of the context."""
    made = Temporary(top)
    try:
        yield made.path
    finally:
        made.close()


def remove_abandoned(top: Path) -> None:
    """Remove the temporary folders of this user whose processes have ended."""
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
    """Whether a running process holds a lock, on this host or another; None if that cannot be determined.

    Raises:
        FileNotFoundError: The lock file does not exist.
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
    """Try to lock a file; False if it is locked, None if the file system has no locks."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):
        return False
    except OSError:
        return None
    return True
