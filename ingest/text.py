"""The text of a file as it comes."""

from __future__ import annotations

from collections.abc import Iterator

from tracewh.ingest.errors import CutError


class Text:
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

    def grow(self, size: int = 1) -> bool:
        """Read on until the buffer is so much longer; False where the file ends before that."""
        chunks: list[bytes] = []
        while size > 0 and (chunk := self._next()):
            chunks.append(chunk)
            size -= len(chunk)
        if len(chunks) > 1:  # in one go: what grows by little is moved again and again
            self.buffer = bytearray().join([self.buffer, *chunks])
        elif chunks:
            self.buffer += chunks[0]
        return size <= 0

    def take(self, count: int) -> bytes:
        """Remove bytes from the front. What is left is copied: blocks point into the old buffer."""
        taken = bytes(self.buffer[:count])
        self.drop(count)
        return taken

    def drop(self, count: int) -> None:
        """Remove bytes from the front, without looking at them."""
        self.buffer = self.buffer[count:]

    def count_rest(self) -> int:
        """Read to the end of the file without keeping it; the number of bytes."""
        count = 0
        while chunk := self._next():
            count += len(chunk)
        return count

    def _next(self) -> bytes:
        try:
            return next(self._source, b"")
        except CutError as cut:
            self.cut = cut
            return b""
