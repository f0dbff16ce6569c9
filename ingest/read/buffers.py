"""The text of a file as it comes."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from concurrent.futures import Executor, Future
from contextlib import suppress

from tracewh.ingest.read.decompress import CutError

#: Buffers that are kept until their blocks are done with: so many blocks are on their way at a time.
BUFFERS_KEPT = 4

#: No sound text has so many blanks in a row.
MOST_BLANKS = 1 << 20
#: White space, and what a writer may pad a file with.
BLANKS = bytes(range(0x21))
_SPACE = 0x20


def fill_in_python(buffer: bytearray, parts: list[bytes | bytearray], /) -> None:
    """What `fill` does, while all other threads of Python wait."""
    if buffer:
        buffer.pop()  # refused while something points into it
    buffer[:] = b"".join(parts)


try:
    from tracewh.ingest.native import _events
except ImportError:
    fill = fill_in_python
else:
    fill = _events.fill


class Blanks:
    """Chunks of at most MOST_BLANKS bytes, without the blanks that follow so many others.

    Attributes:
        runs: In how many places some were left out.
    """

    def __init__(self, source: Iterator[bytes]) -> None:
        self.runs = 0
        self._source = source
        self._run = 0  # blanks at the end of what was given
        self._is_cut = False

    def __iter__(self) -> Iterator[bytes]:
        for chunk in self._source:
            before = self._run
            first = len(chunk) - len(chunk.lstrip(BLANKS)) if chunk[0] <= _SPACE else 0
            if first == len(chunk):
                self._run += first
            else:
                self._run = len(chunk) - len(chunk.rstrip(BLANKS)) if chunk[-1] <= _SPACE else 0
            excess = min(before + first - MOST_BLANKS, first)
            if excess <= 0:
                self._is_cut = False
                yield chunk
                continue
            self.runs += not self._is_cut
            self._is_cut = first == len(chunk)
            if left := chunk[excess:]:
                yield left


class TextBuffer:
    """`buffer` is the text that nobody has dealt with so far, as much of it as was read.

    Args:
        source: The file, decompressed.

    Attributes:
        cut: What ended the file early, once the text has ended.
    """

    def __init__(self, source: Iterator[bytes]) -> None:
        self.buffer = bytearray()
        self.cut: CutError | None = None
        self._source = source
        self._left: deque[bytearray] = deque(maxlen=BUFFERS_KEPT)
        self._ahead: Future[list[bytes]] | None = None

    def read_ahead(self, pool: Executor, size: int) -> None:
        """Read so much of what comes next while the caller does something else."""
        self._ahead = pool.submit(self._next, size)

    def grow(self, size: int = 1) -> bool:
        """Read on until the buffer is so much longer; False where the file ends before that."""
        chunks = self._read(size)
        if len(chunks) > 1:  # in one go: what grows by little is moved again and again
            self.buffer = self._joined([self.buffer, *chunks])
        elif chunks:
            self.buffer += chunks[0]
        return sum(map(len, chunks)) >= size

    def take(self, count: int) -> bytes:
        """Remove bytes from the front. What is left is copied: blocks point into the old buffer."""
        taken = bytes(self.buffer[:count])
        self.drop(count)
        return taken

    def drop(self, count: int) -> None:
        """Remove bytes from the front, without looking at them."""
        self._left.append(self.buffer)
        self.buffer = self.buffer[count:]

    def count_rest(self) -> int:
        """Read to the end of the file without keeping it; the number of bytes but for blanks at the end."""
        count = end = 0
        while chunks := self._read(1):
            for chunk in chunks:
                if left := len(chunk.rstrip(BLANKS)):
                    end = count + left
                count += len(chunk)
        return end

    def _joined(self, parts: list[bytes | bytearray]) -> bytearray:
        """The parts in a row, in a buffer that was in use before if there is one.

        Memory that is new to the process takes longer to get than to fill.
        """
        for position, buffer in enumerate(self._left):
            with suppress(BufferError):
                fill(buffer, parts)
                del self._left[position]
                return buffer
        buffer = bytearray()
        fill(buffer, parts)
        return buffer

    def _read(self, size: int) -> list[bytes]:
        """As many chunks as are so long together, or all that are left."""
        chunks = []
        if self._ahead:
            ahead, self._ahead = self._ahead, None
            chunks = ahead.result()
        return chunks + self._next(size - sum(map(len, chunks)))

    def _next(self, size: int) -> list[bytes]:
        chunks = []
        try:
            while size > 0 and (chunk := next(self._source, b"")):
                chunks.append(chunk)
                size -= len(chunk)
        except CutError as cut:
            self.cut = cut
        return chunks
