"""Trace files: local, in an object store, or piped in."""

from __future__ import annotations

import errno
import io
import os
import shutil
import stat
import sys
import tempfile
from collections.abc import Generator, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Literal

from tracewh.errors import IngestError
from tracewh.files import Stat
from tracewh.storage.remote import Location, readable_errors

#: Bytes per request to a store. Each request takes a round trip.
REQUEST_BYTES = 8 << 20

#: Why a trace of several files, or of a database, cannot be read in an object store.
ON_A_DISK = "such a trace is read from a disk: copy it to this machine, and ingest the copy"


@dataclass(frozen=True, slots=True)
class RemoteFile:
    """A file in a store; size and time are those of the listing that found it."""

    url: str
    name: str = field(compare=False)
    st_size: int = field(compare=False)
    st_mtime_ns: int = field(compare=False)
    key: str = field(compare=False)
    location: Location = field(compare=False)

    def __str__(self) -> str:
        return self.url

    def open(self, mode: Literal["rb"] = "rb", /) -> io.BufferedReader:
        """Open it for reading.

        Raises:
            OSError: It cannot be read, or changed since it was listed; one line with the remedy.
        """
        return io.BufferedReader(_Download(self), 1 << 18)

    def stat(self) -> Stat:
        """Its size and time when it was listed."""
        return self


class _Download(io.RawIOBase):
    """Reads a file of a store sequentially, one request ahead."""

    def __init__(self, file: RemoteFile) -> None:
        self._file = file
        self._ahead = ThreadPoolExecutor(1)
        with readable_errors(file.url):
            self._stream = file.location.filesystem.open_input_stream(file.key)
        self._next = self._ahead.submit(self._stream.read, REQUEST_BYTES)
        self._here = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        if not self._here:
            with readable_errors(self._file.url):
                self._here = memoryview(self._next.result())
                if not self._here:
                    self._check()
                    return 0
            self._next = self._ahead.submit(self._stream.read, REQUEST_BYTES)
        count = min(len(buffer), len(self._here))
        buffer[:count] = self._here[:count]
        self._here = self._here[count:]
        return count

    def _check(self) -> None:
        info = self._file.location.filesystem.get_file_info(self._file.key)
        if (info.size or 0, info.mtime_ns or 0) != (self._file.st_size, self._file.st_mtime_ns):
            raise OSError(errno.EIO, "changed while it was read; try again", self._file.url)

    def close(self) -> None:
        if not self.closed:
            self._ahead.shutdown(cancel_futures=True)
            self._stream.close()
        super().close()


class Piped:
    """Standard input or a named pipe, copied to an unnamed temporary file.

    A pipe can be read only once, and an ingest may need to read it twice.

    Args:
        path: The pipe; None for standard input.
    """

    def __init__(self, path: Path | None = None) -> None:
        self._path = path
        self._kept: IO[bytes] | None = None
        self.name = path.name if path else "stdin"

    def __str__(self) -> str:
        return str(self._path) if self._path else self.name

    @contextmanager
    def kept(self, folder: Path) -> Iterator[None]:
        """Copy it to a temporary file in a folder, which exists within this context.

        Raises:
            IngestError: It is a terminal, it cannot be read, or the disk is full.
        """
        if self._path is None and (sys.stdin is None or sys.stdin.isatty()):
            raise IngestError("- reads standard input, and no trace is piped into it")
        try:
            source = self._path.open("rb") if self._path else nullcontext(sys.stdin.buffer)
        except OSError as error:
            raise IngestError(f"cannot read {self}: {error.strerror}") from None
        try:
            self._kept = tempfile.TemporaryFile(dir=folder)  # noqa: SIM115  # read later
            with source as opened:
                shutil.copyfileobj(opened, self._kept, 1 << 20)
            self._kept.flush()
        except OSError as error:
            what = self._path or "standard input"
            raise IngestError(f"cannot keep {what} in {folder}: {error.strerror}") from None
        with self._kept:
            yield

    def open(self, mode: Literal["rb"], /) -> io.BufferedReader:
        """Open the copy for reading, for one reader at a time."""
        assert self._kept is not None
        copy = os.fdopen(os.dup(self._kept.fileno()), mode)
        copy.seek(0)
        return copy

    def stat(self) -> Stat:
        """Size and modification time of the copy."""
        assert self._kept is not None
        return os.fstat(self._kept.fileno())


STDIN = Piped()


@dataclass(frozen=True, slots=True)
class TraceFolder:
    """Files of a folder that are one trace together. As a `File`, it is their names, sizes and bytes in a row.

    Attributes:
        path: The folder; its URL if it is in an object store, where it cannot be read.
        members: The names of the files, sorted.
        reader: The name of the reader that claims them.
        problem: Why they cannot be read; '' if they can.
    """

    path: Path | str
    members: tuple[str, ...] = field(compare=False)
    reader: str = field(compare=False)
    problem: str = field(default="", compare=False)

    def __str__(self) -> str:
        return str(self.path)

    @property
    def name(self) -> str:
        """Name of the folder."""
        return os.path.basename(self.path)

    def open(self, mode: Literal["rb"] = "rb", /) -> io.BufferedReader:
        """Open all files, one after the other, each after a line with its name and size."""
        return io.BufferedReader(_Members(Path(self.path), self.members), 1 << 18)

    def stat(self) -> Stat:
        """The sum of the sizes, and the latest modification time."""
        found = [Path(self.path, name).stat() for name in self.members]
        return FolderStat(
            sum(each.st_size for each in found),
            max((each.st_mtime_ns for each in found), default=0),
        )


@dataclass(frozen=True, slots=True)
class FolderStat:
    """Size and time of a `TraceFolder`."""

    st_size: int
    st_mtime_ns: int


class _Members(io.RawIOBase):
    """Reads the files of a folder one after the other, each after a line with its name and size."""

    def __init__(self, path: Path, members: Sequence[str]) -> None:
        self._files = self._opened(path, members)
        self._file: IO[bytes] = io.BytesIO()

    @staticmethod
    def _opened(path: Path, members: Sequence[str]) -> Generator[IO[bytes]]:
        for name in members:
            with (path / name).open("rb") as file:
                yield io.BytesIO(f"{name} {os.fstat(file.fileno()).st_size}\n".encode())
                yield file

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        while not (data := self._file.read(len(buffer))):
            file = next(self._files, None)
            self._file = file or io.BytesIO()
            if file is None:
                return 0
        buffer[: len(data)] = data
        return len(data)

    def close(self) -> None:
        self._files.close()
        super().close()


def is_pipe(path: str | os.PathLike[str]) -> bool:
    """Whether a path names a pipe, which can be read once."""
    try:
        return stat.S_ISFIFO(os.stat(path).st_mode)
    except OSError:
        return False
