"""What a reader of traces does: one for each profiler whose files tracewh reads.

A reader recognises its files by their content, lists the traces in a file, and reads one of them into the raw
tables (sql/derive/event_layout.sql), in the words of Kineto. Nesting, launches, steps and stacks are then found
by the same SQL for all. How a source records what a trace lacks is in sql/functions/recording_hint.sql, and
what no trace of it records in sql/blocks/source_limits.sql.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from tracewh.files import File
from tracewh.ingest.sources.files import TraceFolder
from tracewh.ingest.sources.source import Source

if TYPE_CHECKING:
    import duckdb


@dataclass(frozen=True, slots=True)
class Claim:
    """The files of a folder that are one trace together.

    Attributes:
        members: Their names, in the folder itself.
        is_whole: Whether the folder is nothing else: its other files and the folders below are not searched.
    """

    members: tuple[str, ...]
    is_whole: bool = True


@dataclass(slots=True)
class Contents:
    """What a reader found in a trace besides its events.

    Attributes:
        content_hash: BLAKE2b-256 of the bytes of the file; `manifest.content_hash` computes it.
        events: Number of rows in the raw tables.
        generation: Words for the format and its version, e.g. 'nsys-3.25'.
        metadata: What the file says about the trace, with the keys of Kineto where there is one:
            baseTimeNanoseconds (added to all times), deviceProperties (a list of objects), distributedInfo,
            hostname, Framework. All other keys become `traces.metadata`.
        reasons: Counts of what was repaired, skipped or is missing, by the causes of docs/repairs.md.
        skipped_events: Number of events that could not be read.
    """

    content_hash: str
    events: int
    generation: str
    metadata: Mapping[str, Any] = field(default_factory=dict)
    reasons: Mapping[str, int] = field(default_factory=dict)
    skipped_events: int = 0


@dataclass(frozen=True, slots=True)
class Reading:
    """What a reader gets to read a trace with.

    Attributes:
        con: Connection to a database with empty raw tables and the macros of sql/derive/event_kinds.sql.
        folder: An empty folder for temporary files, removed afterwards.
        on_bytes: To be called with the number of bytes read: in all, those of `source.path.stat()`.
        on_events: To be called with the number of events read.
        expect: To be called with the bytes of memory that the next statements may need.
    """

    con: duckdb.DuckDBPyConnection
    folder: Path
    on_bytes: Callable[[int], None]
    on_events: Callable[[int], None]
    expect: Callable[[int], None]


class Reader(Protocol):
    """Knows the files of one source."""

    @property
    def name(self) -> str:
        """One word, e.g. 'nsys': the value of `traces.source`."""

    def wants(self, name: str) -> bool:
        """Whether a file of this name is opened when a folder is searched. Only `recognise` decides."""

    def claim(self, names: Sequence[str]) -> Claim | None:
        """The files of a folder that are a trace together; None if there are none.

        Args:
            names: The names of all files in the folder, without those in folders below it.
        """

    def names(self, run: str, file: File) -> tuple[str, str]:
        """The names of the run and of the worker of a file, before `traces` looks into it.

        Args:
            run: The name of the run by the path of the file.
            file: The file, or the folder that `claim` took.
        """
        if isinstance(file, TraceFolder):
            return run, file.name
        name = file.name.removesuffix(".gz").removesuffix(".zst")
        return run, name.rpartition(".")[0] or name

    def form(self, file: File) -> int | None:
        """The place of a file among the forms of one recording, of which only the first is read.

        Files of the same run and worker in one folder are forms of one recording. None: each is a recording.
        """
        return None

    def recognise(self, file: File, start: bytes) -> bool:
        """Whether a file is of this source.

        Args:
            file: The file. It may be in an object store.
            start: Its first bytes, decompressed: `readers.START_BYTES`, or fewer.
        """

    def traces(
        self, source: Source, stored: Sequence[str], folder: Path | None
    ) -> Sequence[Source]:
        """The traces in a file, one per process or rank: copies of `source` with another worker and part.

        Args:
            source: The file, as it was found.
            stored: The workers in the warehouse that were ingested from the file as it is now. A reader that
                takes long to list traces may return these.
            folder: A folder for temporary files that exist until the end of the ingest; None on Spark.

        Raises:
            RefusedError: It cannot be read. The message is one line, with the remedy.
        """

    def unfinished(self, source: Source) -> str:
        """Why a file is not complete yet, in one line; '' if it is. `tracewh watch` asks."""


class TableReader(Reader, Protocol):
    """Reads the traces of one source into the raw tables.

    Every reader but that of Kineto, whose events are parsed while the file is read: `tracewh.ingest.ingest_trace`.
    """

    def read(self, source: Source, reading: Reading) -> Contents:
        """Read one trace into the raw tables.

        Args:
            source: One of `traces`.
            reading: What to read it with.

        Raises:
            RefusedError: It cannot be read. The message is one line, with the remedy.
        """
