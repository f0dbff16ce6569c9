"""The protocol for writing a warehouse, shared by folders and object stores."""

from __future__ import annotations

from collections.abc import Collection, Container, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from io import BufferedIOBase
from pathlib import Path
from typing import Protocol

from tracewh.storage.layout import Attempt, TraceKeys
from tracewh.storage.listing import Contents, Folder
from tracewh.storage.manifest import Origin
from tracewh.storage.staging import Session

#: The origin of a trace whose own records cannot be read. No source file matches it.
UNKNOWN = Origin("", -1, -1, "", 0)


class StoredTrace(Protocol):
    """A trace in the warehouse."""

    @property
    def run(self) -> str:
        """Name of its run."""

    @property
    def worker(self) -> str:
        """Name of its worker."""

    @property
    def span(self) -> str:
        """Name of its span."""

    @property
    def origin(self) -> Origin:
        """Its source file."""

    @property
    def stored_bytes(self) -> int:
        """Size of its Parquet files."""

    def local_folder(self) -> AbstractContextManager[Path]:
        """A folder with the trace's files under their plain names; a temporary copy if they are in a store.

        Raises:
            OSError: The trace was dropped, the store cannot be read, or the disk is full.
        """


@dataclass(frozen=True, slots=True)
class KnownTraces:
    """The contents of a warehouse that an ingest needs before it starts.

    Attributes:
        traces: The stored traces of the workers in question.
        generations: In an object store, the newest generation in the folder of each trace.
    """

    traces: Sequence[StoredTrace]
    generations: Mapping[TraceKeys, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Target:
    """The place of a trace in the warehouse.

    Attributes:
        run: Name of the run.
        worker: Name of the worker.
        span: The preferred span.
        source_paths: The source file, and files that hold the same; none for a pipe, which is a new trace each time.
        generation: In an object store, the generation of the attempt to write it: one more than the
            newest that exists.
        is_fixed: Whether the trace gets this span, also if another trace has it. In an object store, each does.
    """

    run: str
    worker: str
    span: str
    source_paths: Collection[str]
    generation: int = 1
    is_fixed: bool = False


class Store(Protocol):
    """A warehouse that tracewh can write."""

    @property
    def name(self) -> str:
        """Its absolute path, or its URL."""

    def make(self) -> None:
        """Create what must exist before a trace is written.

        Raises:
            IngestError: It cannot be created.
        """

    def is_made(self) -> bool:
        """Whether nobody removed what `make` created; true of an object store, where it creates nothing."""

    def names(self) -> list[TraceKeys]:
        """Run, worker and span of every stored trace, damaged ones included."""

    def known_traces(self, workers: Iterable[tuple[str, str]]) -> KnownTraces:
        """The stored traces of some workers, each given as run and worker."""

    def traces(self, run: str | None = None, worker: str | None = None) -> Iterable[StoredTrace]:
        """Every trace of the warehouse, or of a run or a worker of it, damaged ones included."""

    def session(self) -> AbstractContextManager[Session]:
        """A local folder to write traces to.

        Raises:
            IngestError: The folder cannot be created.
        """

    def commit(self, session: Session, target: Target, staged: Path) -> str:
        """Make a staged trace visible to readers in one step and return its span.

        Args:
            session: The session that staged it.
            target: Its place in the warehouse.
            staged: Its folder, complete.

        Raises:
            OSError: The warehouse cannot be written. Nothing of the trace is visible.
        """

    def drop(self, run: str, worker: str | None = None, span: str | None = None) -> int:
        """Remove the traces of a run, or of one worker or span of it, and return their number."""

    def contents(self, run: str | None = None) -> Contents:
        """The files of all traces and compacted runs, or those of one run."""

    def open_file(self, key: str) -> AbstractContextManager[BufferedIOBase]:
        """Open a file that `contents` lists.

        Raises:
            OSError: It cannot be read.
        """

    def commit_merged(
        self,
        session: Session,
        run: str,
        attempt: Attempt,
        staged: Path,
        traces: Iterable[TraceKeys],
        old: Iterable[Folder],
    ) -> None:
        """Make the merged files of a run visible to readers in one step.

        Args:
            session: The session that staged them.
            run: The run.
            attempt: The attempt that names them.
            staged: Their folder, complete.
            traces: The traces whose rows they contain.
            old: Earlier merged files of the run. Those that no reader can still use are removed.

        Raises:
            OSError: The warehouse cannot be written, or one of the traces was dropped. Nothing of the
                merged files is visible.
        """


def free_span(span: str, source_paths: Collection[str], taken: Mapping[str, str]) -> str:
    """The span that a file already has in the warehouse; otherwise its own span or the next free number.

    Args:
        span: The span from the file's name.
        source_paths: The file, and files that hold the same; none for a pipe.
        taken: The spans of its worker in the warehouse, with their source files.
    """
    for known, path in taken.items():
        if path in source_paths:
            return known
    return next_free(span, taken)


def next_free(span: str, taken: Container[str]) -> str:
    """A span if it is free; otherwise the next number that is."""
    number = 1
    while span in taken:
        number += 1
        span = str(number)
    return span
