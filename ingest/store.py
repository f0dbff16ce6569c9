"""The warehouse on disk: where a trace lives, what is in already, and how one appears whole."""

from __future__ import annotations

import ctypes
import os
import shutil
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote, unquote

import pyarrow.parquet as pq

from tracewh.ingest.errors import IngestError


@dataclass(frozen=True, slots=True)
class Stored:
    """A trace that is in the warehouse."""

    folder: Path
    run: str
    worker: str
    span: str
    source_path: str
    source_bytes: int
    source_mtime_ns: int
    content_hash: str
    events: int

    @property
    def stored_bytes(self) -> int:
        """Size of its Parquet files."""
        return sum(path.stat().st_size for path in self.folder.iterdir())


class Store:
    """A warehouse folder."""

    def __init__(self, path: Path) -> None:
        self.path = path.resolve()
        self.data = self.path / "data"

    def make(self) -> None:
        """Make the folders that traces are written to.

        Raises:
            IngestError: They cannot be made.
        """
        try:
            self.data.mkdir(parents=True, exist_ok=True)
            (self.path / ".staging").mkdir(exist_ok=True)
        except OSError as error:
            raise IngestError(f"cannot write the warehouse {self.path}: {error.strerror}") from None

    def traces(self) -> Iterator[Stored]:
        """Every trace of the warehouse, from the small file that describes it."""
        columns = ["source_path", "source_bytes", "source_mtime_ns", "content_hash", "events"]
        for path in sorted(self.data.glob("run=*/worker=*/span=*/traces.parquet")):
            row = pq.ParquetFile(path).read(columns=columns).to_pylist()[0]
            run, worker, span = (unquote(part.partition("=")[2]) for part in path.parent.parts[-3:])
            yield Stored(path.parent, run, worker, span, **row)

    def folder(self, run: str, worker: str, span: str) -> Path:
        """Where a trace lives. Characters that a path cannot hold are percent-encoded."""
        names = (("run", run), ("worker", worker), ("span", span))
        return self.data.joinpath(*(f"{key}={quote(value, safe='')}" for key, value in names))

    @contextmanager
    def staging(self, folder: Path) -> Iterator[Path]:
        """A folder to write a trace to; it becomes `folder` by one rename when all went well."""
        staged = self.path / ".staging" / uuid.uuid4().hex
        staged.mkdir()
        try:
            yield staged
            _flush(staged)
            folder.parent.mkdir(parents=True, exist_ok=True)
            _replace(staged, folder)
        finally:
            shutil.rmtree(staged, ignore_errors=True)

    def drop(self, run: str, worker: str | None = None, span: str | None = None) -> int:
        """Remove the traces of a run, or of one worker or span of it; the number removed."""
        removed = 0
        for trace in list(self.traces()):
            wanted = (
                trace.run == run and worker in (None, trace.worker) and span in (None, trace.span)
            )
            if wanted:
                self.make()
                gone = self.path / ".staging" / uuid.uuid4().hex
                trace.folder.rename(gone)
                shutil.rmtree(gone)
                removed += 1
                for parent in (trace.folder.parent, trace.folder.parent.parent):
                    if not any(parent.iterdir()):
                        parent.rmdir()
        return removed


def _flush(folder: Path) -> None:
    """Make sure a crash after the rename finds the files with their contents."""
    for path in (*folder.iterdir(), folder):
        descriptor = os.open(path, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _replace(staged: Path, folder: Path) -> None:
    """Put a folder in the place of another: readers see the old one or the new one, whole."""
    if not folder.exists():
        staged.rename(folder)
    elif not _exchange(staged, folder):
        old = staged.with_name(f"{staged.name}-old")
        folder.rename(old)
        staged.rename(folder)
        shutil.rmtree(old, ignore_errors=True)


def _exchange(one: Path, other: Path) -> bool:
    """Swap two folders in one step, where the system can: Linux, on most file systems."""
    try:
        rename = ctypes.CDLL(None, use_errno=True).renameat2
    except (OSError, AttributeError):
        return False
    here, exchange = -100, 2  # AT_FDCWD, RENAME_EXCHANGE
    return bool(rename(here, os.fsencode(one), here, os.fsencode(other), exchange) == 0)
