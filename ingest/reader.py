"""A trace file, as blocks of events that were never parsed.

A Kineto trace is one JSON object of any size; its `traceEvents` hold all but a little of it. The
file is decompressed a block at a time, and each block is cut into one string per event, over the
same bytes, without a Python object for any event. What stands before and after the events is kept
and parsed once at the end.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import orjson
import pyarrow as pa

from tracewh.ingest.errors import CutError, RefusedError
from tracewh.ingest.files import File
from tracewh.ingest.inflate import decompressed
from tracewh.ingest.split import Splitter

#: Decompressed bytes per block. Large enough that a block's fixed costs vanish, small enough that
#: the few blocks in flight do not matter beside the database's own memory.
BLOCK_BYTES = 32 << 20
#: The first blocks are smaller, so that all threads have work soon.
FIRST_BYTES = 2 << 20
#: No trace has more than this before its events.
HEAD_BYTES = 64 << 20

_WHITESPACE = b" \t\r\n"
_KEY = b'"traceEvents"'


@dataclass(frozen=True, slots=True)
class Block:
    """Events of a file in file order: the position of the first, the text of each, all texts."""

    first_event_id: int
    texts: pa.StringArray
    data: bytearray


@dataclass(slots=True)
class TraceReader:
    """Reads one file. `metadata` and `content_hash` are whole once `blocks` is exhausted.

    Args:
        path: The trace, plain, gzip or zstd by its first bytes, whatever its name.
        on_bytes: Called with the number of stored bytes read, as they are read.
    """

    path: File
    on_bytes: Callable[[int], None] = lambda _: None
    metadata: dict[str, Any] = field(default_factory=dict)
    content_hash: str = ""
    events: int = 0

    def blocks(self) -> Iterator[Block]:
        """Every event of the file, a block at a time.

        Raises:
            RefusedError: The file is not a Kineto trace, or is damaged.
        """
        digest = hashlib.blake2b(digest_size=32)

        def stored(chunk: bytes) -> None:
            digest.update(chunk)
            self.on_bytes(len(chunk))

        try:
            yield from self._events(_Chunks(decompressed(lambda: self.path.open("rb"), stored)))
        except CutError as cut:
            raise RefusedError(f"{cut}; copy the file again") from None
        self.content_hash = digest.hexdigest()

    def _events(self, chunks: _Chunks) -> Iterator[Block]:
        head, rest = _head(chunks)
        splitter = Splitter()
        offset = len(head)  # decompressed bytes before `buffer`, for messages
        buffer = bytearray(rest)
        size = FIRST_BYTES
        while True:
            size = min(2 * size, BLOCK_BYTES)
            last = not chunks.fill(buffer, len(buffer) + size)
            texts, used, ended = splitter.split(buffer, last, offset)
            if texts is not None and len(texts):
                yield Block(self.events, texts, buffer)
                self.events += len(texts)
            buffer = buffer[used:]  # a copy: the pieces still point into the old one
            offset += used
            if ended:
                tail = bytes(buffer) + chunks.rest()
                self.metadata = _metadata(head, tail, offset)
                return
            if last:
                raise RefusedError(
                    f"the file ends inside traceEvents, at byte {offset + len(buffer)} "
                    "(decompressed): it was cut off; record or copy it again"
                )


class _Chunks:
    """Decompressed bytes, by the size that is asked for."""

    def __init__(self, source: Iterator[bytes]) -> None:
        self._source = source

    def fill(self, buffer: bytearray, size: int) -> bool:
        """Grow the buffer to at least a size; False when the file has ended."""
        while len(buffer) < size:
            chunk = next(self._source, b"")
            if not chunk:
                return False
            buffer += chunk
        return True

    def next(self) -> bytes:
        return next(self._source, b"")

    def rest(self) -> bytes:
        return b"".join(self._source)


def _head(chunks: _Chunks) -> tuple[bytes, bytes]:
    """What stands up to the `[` of traceEvents, and the bytes after it that were read as well."""
    buffer = bytearray()
    sought = 0
    while chunk := chunks.next():
        buffer += chunk
        if len(buffer) > HEAD_BYTES or bytes(buffer.lstrip(_WHITESPACE)[:1]) not in (b"{", b""):
            break
        while (at := buffer.find(_KEY, sought)) >= 0:
            bracket = at + len(_KEY)
            while bracket < len(buffer) and buffer[bracket] in b" \t\r\n:":
                bracket += 1
            if bracket == len(buffer):
                break  # the next chunk shows what follows
            head = bytes(buffer[: bracket + 1])
            # The word may also stand in a string of the metadata: only the key makes this whole.
            if head.endswith(b"[") and _parsed(head + b"]}") is not None:
                return head, bytes(buffer[bracket + 1 :])
            sought = at + 1
        else:
            sought = max(sought, len(buffer) - len(_KEY))
    raise RefusedError(f"not a Kineto trace: {_what_it_is(bytes(buffer))}")


def _what_it_is(text: bytes) -> str:
    """The look-alikes that a log folder may well hold, told by how they begin."""
    start = b"".join(text[:200].split())[:2]
    if not start:
        return "the file is empty"
    if start == b"[[":
        return "a PyTorch memory timeline (a list of lists)"
    if start == b"[{":
        return "a bare list of events; record with torch.profiler, which writes an object"
    if start[:1] != b"{":
        return "not a JSON object"
    if b'"rocprofiler-sdk-tool"' in text:
        return "a rocprofv3 trace; export the PyTorch profiler's own trace"
    if b'"nodes"' in text and b'"schema"' in text:
        return "a PyTorch execution trace (it has nodes, not traceEvents)"
    return "a JSON object without traceEvents"


def _metadata(head: bytes, tail: bytes, offset: int) -> dict[str, Any]:
    value = _parsed(head + tail)
    if not isinstance(value, dict):
        raise RefusedError(
            f"not valid JSON after the events, from byte {offset} (decompressed); "
            "the file was cut off or damaged: record or copy it again"
        )
    return {key: found for key, found in value.items() if key != "traceEvents"}


def _parsed(text: bytes) -> Any:
    """The value, or None where the text is not JSON. Numbers beyond 64 bits are kept."""
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        try:
            return json.loads(text)
        except ValueError:
            return None
