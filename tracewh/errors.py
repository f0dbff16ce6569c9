"""The errors of ingest and storage; each message is one line for a person."""

from __future__ import annotations

import errno
import os

_FULL = (errno.ENOSPC, errno.EDQUOT)


class IngestError(Exception):
    """A call that cannot start: a path that does not exist, nothing to ingest, no room to write."""


class StoreError(IngestError):
    """A store that cannot be read: unreachable, without access, or with an invalid URL."""


class RefusedError(Exception):
    """A file that cannot be ingested. The message gives the reason and, if there is one, the remedy."""


def is_disk_full(error: Exception) -> bool:
    """Whether an error of the system or of the database says that a disk is full."""
    if isinstance(error, OSError):
        return error.errno in _FULL
    # DuckDB gives the system's word for it in its own message; a full folder of temporary files it
    # takes for a lack of memory.
    text = str(error).partition("\n")[0]
    return "max_temp_directory_size" in str(error) or any(os.strerror(no) in text for no in _FULL)
