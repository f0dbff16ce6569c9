"""A trace file, as blocks of events that were never parsed.

A Kineto trace is one JSON object of any size; its `traceEvents` hold all but a little of it. The
file is decompressed a block at a time, and each block is cut into one string per event, over the
same bytes, without a Python object for any event. What stands before and after the events is kept
and parsed once at the end.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

from tracewh.errors import RefusedError
from tracewh.files import File
from tracewh.ingest.read.buffers import BLANKS, Blanks, TextBuffer
from tracewh.ingest.read.chunks import Block, Splitter, TextSplitter
from tracewh.ingest.read.decompress import decompressed
from tracewh.ingest.read.metadata import (
    WHITESPACE,
    find_events,
    is_list_of_events,
    metadata,
    what_it_is,
)

#: Decompressed bytes per block. Large enough that a block's fixed costs vanish, small enough that
#: much of what is made of it stays in the cache.
BLOCK_BYTES = 8 << 20
#: The first blocks are smaller, so that all threads have work soon.
FIRST_BYTES = 2 << 20

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_BARE = b"["


@dataclass(slots=True)
class TraceReader:
    """Reads one file. All but `blocks` is whole once `blocks` is exhausted.

    Args:
        path: The trace, plain, gzip or zstd by its first bytes, whatever its name.
        on_bytes: Called with the number of stored bytes read, as they are read.
        splitter: Cuts the text into events; without one, all events stay texts.

    Attributes:
        metadata: The other top-level keys of the file.
        content_hash: BLAKE2b-256 of the stored bytes.
        events: Events that the blocks hold.
        text_bytes: Their size in the file, decompressed.
        skipped_events: Events of the file that no block holds.
        ended: Whether the list of events is closed.
        reasons: What was repaired or left out, as docs/repairs.md lists it.
    """

    path: File
    on_bytes: Callable[[int], None] = lambda _: None
    splitter: Splitter | None = None
    metadata: dict[str, Any] = field(default_factory=dict)
    content_hash: str = ""
    events: int = 0
    text_bytes: int = 0
    skipped_events: int = 0
    ended: bool = False
    reasons: Counter[str] = field(default_factory=Counter)

    def blocks(self) -> Iterator[Block]:
        """Every event of the file, a block at a time. Damaged ones are repaired, or counted.

        Raises:
            RefusedError: The file is not a Kineto trace, or nothing of it can be read.
        """
        digest = hashlib.blake2b(digest_size=32)

        def stored(chunk: bytes) -> None:
            digest.update(chunk)
            self.on_bytes(len(chunk))

        blanks = Blanks(decompressed(lambda: self.path.open("rb"), stored))
        with ThreadPoolExecutor(1) as pool:
            yield from self._blocks(TextBuffer(iter(blanks)), pool)
        if blanks.runs:
            self.reasons["long_blanks"] = blanks.runs
        self.content_hash = digest.hexdigest()

    def _blocks(self, text: TextBuffer, pool: ThreadPoolExecutor) -> Iterator[Block]:
        head = self._head(text)
        splitter = self.splitter or TextSplitter()
        size = FIRST_BYTES
        while True:
            size = min(2 * size, BLOCK_BYTES)
            last = not text.grow(size)
            if not last:
                text.read_ahead(pool, min(2 * size, BLOCK_BYTES))
            cut = splitter.split(text.buffer, last)
            if cut.block.events:
                yield cut.block
                self.events += cut.block.events
            text.drop(cut.used)
            self.text_bytes += cut.used
            if cut.ended and head != _BARE and (end := find_events(text, head)):
                head += text.take(end)  # two profilers wrote into one file: more events follow
            elif cut.ended or last:
                break
        self.ended = cut.ended
        self.skipped_events = splitter.resync.skipped_events
        self.reasons.update(splitter.resync.reasons)
        self._finish(head, text, cut.ended)

    def _head(self, text: TextBuffer) -> bytes:
        """What stands up to the `[` of the events; the buffer then holds what follows."""
        while text.grow() and not text.buffer.strip(BLANKS):
            pass
        text.drop(len(text.buffer) - len(text.buffer.lstrip(b"\0")))  # padding
        if text.buffer.startswith(_BYTE_ORDER_MARK):
            text.drop(len(_BYTE_ORDER_MARK))
            self.reasons["byte_order_mark"] += 1
        start = text.buffer.lstrip(WHITESPACE)[:1]
        if start == b"{" and (end := find_events(text)):
            return text.take(end)
        if start == _BARE and is_list_of_events(text):
            return text.take(text.buffer.index(_BARE) + 1).lstrip()
        if text.cut:
            raise RefusedError(f"{text.cut}; too little is left to read: copy the file again")
        raise RefusedError(f"not a Kineto trace: {what_it_is(bytes(text.buffer))}")

    def _finish(self, head: bytes, text: TextBuffer, ended: bool) -> None:
        """Read the metadata, and count what is missing at the end of the file."""
        rest = bytes(text.buffer)
        if not ended:
            cut_off = len(rest.strip(BLANKS + b","))
            if cut_off or head != _BARE:  # a bare list may end without its bracket
                self.reasons["truncated_bytes"] += cut_off
            rest = b"]}"
        if head != _BARE:
            self.metadata = metadata(head + rest, self.reasons)
        elif ended:
            self.reasons["bytes_after_the_end"] += len(rest[1:].strip(BLANKS))
        self.reasons["bytes_after_the_end"] += text.count_rest()
        if text.cut:
            damaged = text.cut.reason.startswith("damaged")
            self.reasons["damaged_compression" if damaged else "truncated_bytes"] += damaged
        self.reasons = Counter(
            {cause: n for cause, n in self.reasons.items() if n or cause == "truncated_bytes"}
        )
