"""Decompress gzip and zstd files, and find out where damaged data begins."""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator, Iterator
from typing import IO, NamedTuple, Protocol

from isal import igzip_lib

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

#: Stored bytes per read. More is slower: the decompressed data would not fit into the CPU cache.
READ_BYTES = 1 << 18
#: Maximum number of decompressed bytes per chunk.
OUT_BYTES = 1 << 20

#: What the error of a zstd window of more than 128 MiB contains: each file that is read would need so much memory.
_TOO_LARGE = "Frame requires too much memory"
_LARGE_WINDOW = "compressed with zstd --long, with a window of more than 128 MiB"
_WITH_WINDOW = "decompress it first: zstd -d --long=31"


class CutError(Exception):
    """Compressed data ends early, is damaged, or something else follows it. All data before that was yielded first.

    Args:
        stored_byte: Position in the stored file where the damage begins.
        reason: What is wrong there, such as 'the gzip data ends early'.
        after: Number of stored bytes after compressed data that is whole.
        remedy: What to do, if the file need not be copied again.
    """

    def __init__(
        self, stored_byte: int, reason: str, after: int = 0, remedy: str | None = None
    ) -> None:
        super().__init__(f"{reason}, at byte {stored_byte}")
        self.stored_byte = stored_byte
        self.reason = reason
        self.after = after
        self.remedy = remedy


class _Decompressor(Protocol):
    """The interface of `bz2.BZ2Decompressor`, which the other decompressors share."""

    @property
    def eof(self) -> bool: ...
    @property
    def needs_input(self) -> bool: ...
    @property
    def unused_data(self) -> bytes: ...
    def decompress(self, data: bytes, max_length: int, /) -> bytes: ...


class _Format(NamedTuple):
    name: str
    starts: tuple[bytes, ...]
    new: Callable[[], _Decompressor]
    error: type[Exception]


_FORMATS = (
    _Format(
        "gzip",
        (b"\x1f\x8b",),
        lambda: igzip_lib.IgzipDecompressor(flag=igzip_lib.DECOMP_GZIP),
        igzip_lib.error,  # type: ignore[arg-type]  # its stub calls the class an instance
    ),
    # A data frame, or a skippable frame, as pzstd writes first.
    _Format(
        "zstd",
        (b"\x28\xb5\x2f\xfd", *(bytes([0x50 + n]) + b"\x2a\x4d\x18" for n in range(16))),
        zstd.ZstdDecompressor,
        zstd.ZstdError,
    ),
)


def decompress(
    reopen: Callable[[], IO[bytes]], on_stored: Callable[[bytes], None] = lambda _: None
) -> Iterator[bytes]:
    """Yield the decompressed bytes of a gzip, zstd or uncompressed file, recognized by its first bytes.

    Several gzip members or zstd frames in a row are joined.

    Args:
        reopen: Opens the file at its first byte. Called a second time if the file is damaged.
        on_stored: Called with all stored bytes in order, including those after the damage.

    Raises:
        CutError: The compressed data ends early, is damaged, or something else follows it. All data that could be
            decompressed was yielded before.
    """
    with reopen() as file:
        chunk = file.read(READ_BYTES)
        found = next((form for form in _FORMATS if chunk.startswith(form.starts)), None)
        if found is None:
            while chunk:
                on_stored(chunk)
                yield chunk
                chunk = file.read(READ_BYTES)
            return
        stream = _Stream(found)
        before = given = 0  # stored bytes before the chunk, and decompressed bytes yielded
        while chunk:
            on_stored(chunk)
            try:
                for data in stream.feed(chunk):
                    given += len(data)
                    yield data
            except found.error as error:
                while rest := file.read(READ_BYTES):
                    on_stored(rest)
                at = yield from _up_to_damage(reopen, found, before, given)
                if _TOO_LARGE in str(error):
                    raise CutError(at, _LARGE_WINDOW, remedy=_WITH_WINDOW) from None
                raise CutError(at, f"damaged {found.name} data ({error})") from None
            before += len(chunk)
            chunk = file.read(READ_BYTES)
    if not stream.ended:
        raise CutError(before, f"the {found.name} data ends early")
    if after := stream.after:
        raise CutError(before - after, f"something else follows the {found.name} data", after)


class _Stream:
    """Decompresses a sequence of gzip members or zstd frames."""

    def __init__(self, form: _Format) -> None:
        self._form = form
        self._now = form.new()
        self._start = (
            b""  # after the last member: too few bytes to tell whether another one follows
        )
        self._after = 0

    @property
    def ended(self) -> bool:
        """Whether the last member is complete."""
        return self._now.eof

    @property
    def after(self) -> int:
        """Number of bytes after the last member."""
        return self._after + len(self._start)

    def feed(self, data: bytes) -> Iterator[bytes]:
        while True:
            if self._now.eof:
                if self._after:
                    self._after += len(data)
                    return
                # Tapes and some stores add padding, and scripts a line break.
                data = (self._start + data).lstrip(b"\0\t\n\r ")
                self._start = b""
                if not data.startswith(self._form.starts):
                    if any(start.startswith(data) for start in self._form.starts):
                        self._start = data
                    else:
                        self._after = len(data)
                    return
                self._now = self._form.new()
            if out := self._now.decompress(data, OUT_BYTES):
                yield out
            if self._now.eof:
                data = self._now.unused_data
            elif self._now.needs_input:
                return
            else:
                data = b""


def _up_to_damage(
    reopen: Callable[[], IO[bytes]], form: _Format, before: int, given: int
) -> Generator[bytes, None, int]:
    """Decompress the file again, the damaged chunk byte by byte, and yield the data that is still missing.

    Returns:
        The stored byte at which decompression fails.
    """
    stream = _Stream(form)
    skip = given
    at = 0
    with reopen() as file:
        try:
            while chunk := file.read(min(READ_BYTES, max(1, before - at))):
                for data in stream.feed(chunk):
                    if new := data[skip:]:
                        yield new
                    skip = max(0, skip - len(data))
                at += len(chunk)
        except form.error:
            pass
    return at
