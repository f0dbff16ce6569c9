"""One-line messages for errors of the system, of the database and of tracewh itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

import duckdb

from tracewh.debug import DEBUG
from tracewh.errors import RefusedError, is_disk_full
from tracewh.files import File

if TYPE_CHECKING:
    from tracewh.ingest.database_pool import Limits


def refusal(error: Exception, source: File, full: str, limits: Limits) -> RefusedError:
    """The refusal of a file for an error of the system or of the database.

    Args:
        error: A `duckdb.Error` or an `OSError`.
        source: The file.
        full: Message for a full disk of the warehouse.
        limits: The limits of its ingest.
    """
    text = str(error).partition("\n")[0]
    if is_disk_full(error):
        return RefusedError(full)
    if isinstance(error, duckdb.OutOfMemoryException):
        return RefusedError(
            f"needs more than {limits.memory_bytes // 2**20} MiB of memory; {limits.remedy}"
        )
    if isinstance(error, OSError):
        return RefusedError(f"{error.strerror}: {error.filename or source}")
    return RefusedError(text)


def bug(error: Exception) -> RefusedError:
    """The refusal for an unexpected error."""
    said = f"{type(error).__name__}: {error}".partition("\n")[0]
    return RefusedError(
        f"{said}; this is a bug in tracewh: please report it, with the file if you may "
        f"({DEBUG}=1 shows where)"
    )
