"""What can go wrong with a trace file or a call, in one line each."""

from __future__ import annotations

import errno
import os

_FULL = (errno.ENOSPC, errno.EDQUOT)


class IngestError(Exception):
    """A call that cannot start: a path that does not exist, nothing to ingest, no room to write."""


class StoreError(IngestError):
    """A store that cannot be asked: out of reach, without access, or by a URL that says nothing."""


class RefusedError(Exception):
    """A file that cannot be taken in. The message says why and, where there is one, the remedy."""


def is_disk_full(error: Exception) -> bool:
    """Whether an error of the system or of the database says that a disk is full."""
    if isinstance(error, OSError):
        return error.errno in _FULL
    # DuckDB gives the system's word for it in its own message; a full folder of temporary files it
    # takes for a lack of memory.
    text = str(error).partition("\n")[0]
    return "max_temp_directory_size" in str(error) or any(os.strerror(no) in text for no in _FULL)
