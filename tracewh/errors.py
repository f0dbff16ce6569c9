"""The errors of ingest and storage. Each message is one line for the user."""

from __future__ import annotations

import errno
import os

_FULL = (errno.ENOSPC, errno.EDQUOT)


class IngestError(Exception):
    """The call cannot start: a path does not exist, there is nothing to ingest, or the disk is full."""


class StoreError(IngestError):
    """An object store cannot be read: it is unreachable, denies access, or its URL is invalid."""


class RefusedError(Exception):
    """A file cannot be ingested. The message has the reason and, if there is one, the remedy."""


def is_disk_full(error: Exception) -> bool:
    """Whether an error of the system or of DuckDB means that a disk is full."""
    if isinstance(error, OSError):
        return error.errno in _FULL
    # DuckDB's message contains the text of the system's error. If its temporary folder is full, it reports that
    # it is out of memory.
    text = str(error).partition("\n")[0]
    return "max_temp_directory_size" in str(error) or any(os.strerror(no) in text for no in _FULL)
