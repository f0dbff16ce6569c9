"""Read a trace file as blocks of events, with constant memory.

A Kineto trace is one JSON object of any size, and nearly all of it is the list `traceEvents`. `TraceReader`
decompresses the file block by block. A splitter splits each block into events: Arrow strings over the same
bytes, without a Python object per event. The text before and after the events is parsed once at the end.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

from tracewh.errors import RefusedError
from tracewh.files import File
from tracewh.ingest.read.buffers import BLANKS, Blanks, TextBuffer
from tracewh.ingest.read.chunks import Block, Splitter, TextSplitter
from tracewh.ingest.read.decompress import decompress
from tracewh.ingest.read.metadata import (
    describe_file,
    find_events,
    is_list_of_events,
    parse_metadata,
)

#: Decompressed bytes per block: large enough that the fixed costs of a block are small, small enough that
#: much of its data stays in the CPU cache.
BLOCK_BYTES = 8 << 20
#: The first blocks are smaller, so that all threads start to work early.
FIRST_BYTES = 2 << 20

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_BARE = b"["
#: Searched for at the start of a buffer, which `strip` would copy.
_ONLY_BLANKS = re.compile(rb"[\x00-\x20]*+\Z")
_PADDING = re.compile(rb"\x00+")
_FIRST = re.compile(rb"[ \t\r\n]*+(.)", re.DOTALL)


@dataclass(slots=True)
class TraceReader:
    """Reads one file. The attributes are complete after the last block.

    Args:
        path: The trace: uncompressed, gzip or zstd. Its first bytes decide, not its name.
        on_bytes: Called with the number of stored bytes read, as they are read.
        splitter: Splits the text into events; by default a `TextSplitter`.

    Attributes:
        metadata: The other top-level keys of the file.
        content_hash: BLAKE2b-256 of the stored bytes.
        events: Number of events in the blocks.
        text_bytes: Size of their text, decompressed.
        skipped_events: Number of events of the file that are in no block.
        ended: Whether the list of events has its closing bracket.
        reasons: Counts of repairs and skipped data, by the causes of docs/repairs.md.
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
        """Yield all events of the file, block by block. Damaged events are repaired, or skipped and counted.

        Raises:
            RefusedError: The file is not a Kineto trace, or nothing of it can be read.
        """
        digest = hashlib.blake2b(digest_size=32)

        def stored(chunk: bytes) -> None:
            digest.update(chunk)
            self.on_bytes(len(chunk))

        blanks = Blanks(decompress(lambda: self.path.open("rb"), stored))
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
        """Take the text up to the `[` of the events from the buffer."""
        while text.grow() and _ONLY_BLANKS.match(text.buffer):
            pass
        if padding := _PADDING.match(text.buffer):
            text.drop(padding.end())
        if text.buffer.startswith(_BYTE_ORDER_MARK):
            text.drop(len(_BYTE_ORDER_MARK))
            self.reasons["byte_order_mark"] += 1
        found = _FIRST.match(text.buffer)
        start = found[1] if found else b""
        if start == b"{" and (end := find_events(text)):
            return text.take(end)
        if start == _BARE and is_list_of_events(text):
            return text.take(text.buffer.index(_BARE) + 1).lstrip()
        if text.cut and not text.cut.after:
            remedy = text.cut.remedy or "too little is left to read: copy the file again"
            raise RefusedError(f"{text.cut}; {remedy}")
        raise RefusedError(f"not a Kineto trace: {describe_file(bytes(text.buffer))}")

    def _finish(self, head: bytes, text: TextBuffer, ended: bool) -> None:
        """Read the metadata, and count what is missing at the end of the file."""
        rest = bytes(text.buffer)
        if not ended:
            cut_off = len(rest.strip(BLANKS + b","))
            if cut_off or head != _BARE:  # a bare list may end without its bracket
                self.reasons["truncated_bytes"] += cut_off
            rest = b"]}"
        if head != _BARE:
            self.metadata = parse_metadata(head + rest, self.reasons)
        elif ended:
            self.reasons["bytes_after_the_end"] += len(rest[1:].strip(BLANKS))
        self.reasons["bytes_after_the_end"] += text.count_rest()
        if text.cut and text.cut.after and ended:
            self.reasons["bytes_after_the_end"] += text.cut.after
        elif text.cut:
            damaged = bool(text.cut.after) or text.cut.reason.startswith("damaged")
            self.reasons["damaged_compression" if damaged else "truncated_bytes"] += damaged
        self.reasons = Counter(
            {cause: n for cause, n in self.reasons.items() if n or cause == "truncated_bytes"}
        )
