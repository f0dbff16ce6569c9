"""What `tracewh serve` and its child processes say to each other: frames of bytes on a pipe.

A child writes an empty frame when it has the warehouse open, then two for each question.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tracewh.views.listing import Listing

#: The frame that stops the question that is being answered.
CANCEL = b""
#: A child has so many seconds to stop by itself, before it is killed.
GRACE_SECONDS = 1.0
_LENGTH = struct.Struct(">Q")


@dataclass(frozen=True, slots=True)
class Setup:
    """What a child is told first.

    Attributes:
        warehouse: Folder of the warehouse, or the listing of one in a store.
        memory_mb: What DuckDB may take, its process twice as much; None for DuckDB's own limit.
        is_nice: Whether it leaves the cores to other processes first.
    """

    warehouse: str | Listing
    memory_mb: int | None = None
    is_nice: bool = False


@dataclass(frozen=True, slots=True)
class Question:
    """What a child is asked: one of the functions of `worker`, by its name, and its arguments."""

    kind: str
    arguments: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Answer:
    """What a child answers.

    Attributes:
        status: Of HTTP.
        body: HTML or JSON.
        is_page: Whether it is HTML.
        is_spent: Whether the child shall be replaced by a new one.
    """

    status: int
    body: bytes
    is_page: bool = False
    is_spent: bool = False


def write(stream: IO[bytes], *frames: bytes) -> None:
    """Write frames, and let them go."""
    for frame in frames:
        stream.write(_LENGTH.pack(len(frame)))
        stream.write(frame)
    stream.flush()


def read(stream: IO[bytes]) -> bytes | None:
    """Read a frame; None where the other process has ended."""
    head = stream.read(_LENGTH.size)
    if len(head) < _LENGTH.size:
        return None
    (length,) = _LENGTH.unpack(head)
    frame = stream.read(length)
    return frame if len(frame) == length else None
