"""What a warehouse is to those who write it: the same for a folder and for an object store."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from io import BufferedIOBase
from pathlib import Path
from typing import Protocol

from tracewh.storage.layout import Attempt
from tracewh.storage.listing import Contents, Folder
from tracewh.storage.manifest import Origin
from tracewh.storage.staging import Session

#: Run, worker and span of a trace.
Keys = tuple[str, str, str]

#: The origin of a trace whose own records cannot be read. No source file matches it.
UNKNOWN = Origin("", -1, -1, "", 0)


class StoredTrace(Protocol):
    """A trace that is in the warehouse."""

    @property
    def run(self) -> str:
        """Name of its run."""

    @property
    def worker(self) -> str:
        """Name of its worker."""

    @property
    def span(self) -> str:
        """Its span."""

    @property
    def origin(self) -> Origin:
        """The file that it was made from."""

    @property
    def stored_bytes(self) -> int:
        """Size of its Parquet files."""

    def fetched(self) -> AbstractContextManager[Path]:
        """A folder with its files, named as in a folder; a copy where the trace is in an object store.

        Raises:
            OSError: The trace was dropped, the store cannot be read, or there is no room here.
        """


@dataclass(frozen=True, slots=True)
class Survey:
    """What an ingest needs to know of a warehouse before it starts.

    Attributes:
        traces: The stored traces of the workers in question.
        generations: The newest generation in the folder of each trace, in an object store.
    """

    traces: Sequence[StoredTrace]
    generations: Mapping[Keys, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Target:
    """Where a trace goes.

    Attributes:
        run: Name of the run.
        worker: Name of the worker.
        span: The span that it should get.
        source_path: The file that it is made from; '' for a pipe, which is another trace each time.
        generation: The generation of the attempt to write it, in an object store: one more than the
            newest that was there.
    """

    run: str
    worker: str
    span: str
    source_path: str
    generation: int = 1


class Store(Protocol):
    """A warehouse that can be written."""

    @property
    def name(self) -> str:
        """Its absolute path, or its URL."""

    def make(self) -> None:
        """Create what has to be there before a trace is written.

        Raises:
            IngestError: It cannot be created.
        """

    def names(self) -> list[Keys]:
        """Run, worker and span of every stored trace, damaged ones included."""

    def survey(self, workers: Iterable[tuple[str, str]]) -> Survey:
        """What is stored of some workers, each a run and a worker."""

    def traces(self, run: str | None = None, worker: str | None = None) -> Iterable[StoredTrace]:
        """Every trace of the warehouse, or of a run or a worker of it, damaged ones included."""

    def session(self) -> AbstractContextManager[Session]:
        """A local folder to write traces to.

        Raises:
            IngestError: There is none.
        """

    def commit(self, session: Session, target: Target, staged: Path) -> str:
        """Make a staged trace visible to readers in one step, and return the span that it got.

        Args:
            session: The session that staged it.
            target: Where it goes.
            staged: Its folder, complete.

        Raises:
            OSError: The warehouse cannot be written. Nothing of the trace is visible.
        """

    def drop(self, run: str, worker: str | None = None, span: str | None = None) -> int:
        """Remove the traces of a run, or of one worker or span of it; the number removed."""

    def contents(self, run: str | None = None) -> Contents:
        """The files of the warehouse's traces and compacted runs, or of one run."""

    def opened(self, key: str) -> AbstractContextManager[BufferedIOBase]:
        """Open a file that `contents` lists.

        Raises:
            OSError: It cannot be read.
        """

    def commit_copies(
        self,
        session: Session,
        run: str,
        attempt: Attempt,
        staged: Path,
        copied: Iterable[Keys],
        old: Iterable[Folder],
    ) -> None:
        """Make the merged files of a run visible to readers in one step.

        Args:
            session: The session that staged them.
            run: The run.
            attempt: Their name.
            staged: Their folder, complete.
            copied: The traces that they hold.
            old: The merged files that were there. Those that no reader can still use are removed.

        Raises:
            OSError: The warehouse cannot be written, or one of the traces was dropped. Nothing of the
                merged files is visible.
        """


def free_span(span: str, source_path: str, taken: Mapping[str, str]) -> str:
    """The span that a file already has in the warehouse; else its own, or the next free number.

    Args:
        span: What its name says.
        source_path: The file; '' for a pipe.
        taken: The spans of its worker that are in the warehouse, and the files that they are of.
    """
    for known, path in taken.items():
        if path == source_path:
            return known
    number = 1
    while span in taken:
        number += 1
        span = str(number)
    return span
