"""A buffer over the decompressed text of a file, which reads ahead in another thread."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from concurrent.futures import Executor, Future
from contextlib import suppress

from tracewh.ingest.read.decompress import CutError

#: Number of used buffers to keep for reuse: as many blocks are being processed at the same time.
BUFFERS_KEPT = 4

#: The most blanks to keep in a row. No undamaged file has more.
MOST_BLANKS = 1 << 20
#: White space and control characters, with which some writers pad a file.
BLANKS = bytes(range(0x21))
_SPACE = 0x20


def fill_in_python(buffer: bytearray, parts: list[bytes | bytearray], /) -> None:
    """Replace the contents of a buffer by the joined parts. The compiled `fill` does it without the GIL."""
    if buffer:
        buffer.pop()  # raises BufferError while an Arrow array points into it
    buffer[:] = b"".join(parts)


try:
    from tracewh.ingest.native import _events
except ImportError:
    fill = fill_in_python
else:
    fill = _events.fill


class Blanks:
    """Drops all but the first MOST_BLANKS of consecutive blanks from a stream of chunks.

    Args:
        source: Chunks of at most MOST_BLANKS bytes.

    Attributes:
        runs: Number of places where blanks were dropped.
    """

    def __init__(self, source: Iterator[bytes]) -> None:
        self.runs = 0
        self._source = source
        self._run = 0  # number of blanks at the end of the stream so far
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
    """The text of a file that was read but not yet processed.

    Args:
        source: The decompressed file.

    Attributes:
        buffer: The text.
        cut: The error that ended the file early; None if there is none, or the end is not reached.
    """

    def __init__(self, source: Iterator[bytes]) -> None:
        self.buffer = bytearray()
        self.cut: CutError | None = None
        self._source = source
        self._left: deque[bytearray] = deque(maxlen=BUFFERS_KEPT)
        self._ahead: Future[list[bytes]] | None = None

    def read_ahead(self, pool: Executor, size: int) -> None:
        """Read this many bytes in another thread, for the next `grow`."""
        self._ahead = pool.submit(self._next, size)

    def grow(self, size: int = 1) -> bool:
        """Add at least this many bytes to the buffer; return False if the file ends before."""
        chunks = self._read(size)
        if len(chunks) > 1:  # at once: growing in small steps would copy the buffer each time
            self.buffer = self._joined([self.buffer, *chunks])
        elif chunks:
            self.buffer += chunks[0]
        return sum(map(len, chunks)) >= size

    def take(self, count: int) -> bytes:
        """Remove bytes from the front and return them."""
        taken = bytes(self.buffer[:count])
        self.drop(count)
        return taken

    def drop(self, count: int) -> None:
        """Remove bytes from the front. The rest is copied to a new buffer: blocks point into the old one."""
        self._left.append(self.buffer)
        self.buffer = self.buffer[count:]

    def count_rest(self) -> int:
        """Read and discard the rest of the file; return its size without the blanks at the end."""
        count = end = 0
        while chunks := self._read(1):
            for chunk in chunks:
                if left := len(chunk.rstrip(BLANKS)):
                    end = count + left
                count += len(chunk)
        return end

    def _joined(self, parts: list[bytes | bytearray]) -> bytearray:
        """Join parts, in an old buffer that is no longer in use if there is one.

        Getting new memory from the system takes longer than filling it.
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
        """Read chunks until they have this many bytes together, or the file ends."""
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
