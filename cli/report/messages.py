"""Messages between `tracewh serve` and its child processes: frames of bytes on a pipe.

A child writes an empty frame when it has opened the warehouse, then two frames for each task.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tracewh.views.listing import Listing

#: HTTP status code of an answer that is not an error.
OK = 200
#: The frame that cancels the current task.
CANCEL = b""
#: Seconds that a child has to stop by itself before it is killed.
GRACE_SECONDS = 1.0
_LENGTH = struct.Struct(">Q")


@dataclass(frozen=True, slots=True)
class Setup:
    """The first message to a child.

    Attributes:
        warehouse: Folder of the warehouse, or the listing of one in an object store.
        memory_mb: Memory limit of DuckDB in a process for queries, which may use more besides.
            The least limit of one for pages.
        shared_by: How many processes for pages share the memory of the machine; None in one for queries.
        is_nice: Whether the child runs at a lower priority.
    """

    warehouse: str | Listing
    memory_mb: int
    shared_by: int | None = None
    is_nice: bool = False


@dataclass(frozen=True, slots=True)
class Task:
    """A task for a child.

    Attributes:
        kind: The name of one of the `HANDLERS` of `worker`.
        arguments: Its arguments.
        seconds: Time limit; None for that of the pool.
    """

    kind: str
    arguments: dict[str, Any]
    seconds: float | None = None


@dataclass(frozen=True, slots=True)
class TaskResult:
    """The result of a task.

    Attributes:
        status: HTTP status code.
        body: HTML or JSON.
        is_page: Whether the body is HTML.
        needs_restart: Whether a new child should replace this one.
    """

    status: int
    body: bytes
    is_page: bool = False
    needs_restart: bool = False


def write(stream: IO[bytes], *frames: bytes) -> None:
    """Write frames and flush the stream."""
    for frame in frames:
        stream.write(_LENGTH.pack(len(frame)))
        stream.write(frame)
    stream.flush()


def read(stream: IO[bytes]) -> bytes | None:
    """Read a frame; return None if the other process has ended."""
    head = stream.read(_LENGTH.size)
    if len(head) < _LENGTH.size:
        return None
    (length,) = _LENGTH.unpack(head)
    frame = stream.read(length)
    return frame if len(frame) == length else None
