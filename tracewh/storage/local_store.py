"""A warehouse in a local folder: find, commit and remove traces."""

from __future__ import annotations

import fcntl
import glob
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from io import BufferedReader
from pathlib import Path

import pyarrow as pa

from tracewh.errors import IngestError
from tracewh.storage import compacted_runs, layout, manifest
from tracewh.storage.layout import Attempt, TraceKeys
from tracewh.storage.listing import Contents, Folder
from tracewh.storage.manifest import Origin
from tracewh.storage.staging import Session, abandoned, sweep
from tracewh.storage.store import UNKNOWN, KnownTraces, Target, free_span

STAGING, LOCK = ".staging", ".lock"


@dataclass(frozen=True, slots=True)
class LocalTrace:
    """A trace in the warehouse."""

    run: str
    worker: str
    span: str
    origin: Origin
    folder: Path

    @property
    def stored_bytes(self) -> int:
        """Size of its Parquet files."""
        return sum(path.stat().st_size for path in self.folder.glob("*.parquet"))

    @contextmanager
    def local_folder(self) -> Iterator[Path]:
        """The trace's folder in the warehouse."""
        yield self.folder


class LocalStore:
    """A warehouse in a folder; see `Store`."""

    def __init__(self, path: Path) -> None:
        self.path = Path(os.path.realpath(path))
        self.data = self.path / "data"
        #: The absolute path, for messages and commands.
        self.name = str(self.path)
        #: What `_source_paths` found: by folder of a trace, its version, its span and its source.
        self._sources: dict[str, tuple[tuple[int, int], str, str]] = {}

    def make(self) -> None:
        """Create the folders that traces are written to.

        Raises:
            IngestError: They cannot be created.
        """
        try:
            self.data.mkdir(parents=True, exist_ok=True)
            (self.path / STAGING).mkdir(exist_ok=True)
        except OSError as error:
            raise self._cannot_write(error) from None

    def is_made(self) -> bool:
        """Whether the folder exists that traces are in."""
        return self.data.is_dir()

    def names(self) -> list[TraceKeys]:
        """Run, worker and span of every stored trace, damaged ones included."""
        paths = (folder.relative_to(self.data) for folder in sorted(self.data.glob("*/*/*/")))
        return [keys for path in paths if (keys := layout.parse_trace_folder(path.as_posix()))]

    def known_traces(self, workers: Iterable[tuple[str, str]]) -> KnownTraces:
        """See `Store.known_traces`."""
        return KnownTraces(
            [trace for each in dict.fromkeys(workers) for trace in self.traces(*each)]
        )

    def traces(self, run: str | None = None, worker: str | None = None) -> Iterator[LocalTrace]:
        """Every trace of the warehouse, or of a run or a worker of it.

        A damaged trace is included; its origin is `UNKNOWN`.
        """
        wanted = "/".join(
            f"{key}=*" if name is None else layout.partition(key, name)
            for key, name in zip(layout.KEYS, (run, worker, None), strict=True)
        )
        for folder in sorted(self.data.glob(f"{wanted}/")):
            with suppress(FileNotFoundError):  # dropped meanwhile
                if keys := layout.parse_trace_folder(folder.relative_to(self.data).as_posix()):
                    yield LocalTrace(*keys, _origin(folder), folder)

    def folder(self, run: str, worker: str, span: str) -> Path:
        """The folder of a trace."""
        return self.data / layout.trace_folder(run, worker, span)

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the lock of the warehouse, so that no other process or thread adds or removes traces."""
        descriptor = os.open(self.path / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
        try:
            with suppress(OSError):  # a file system without locks: docs/warehouse.md
                fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield
        finally:
            os.close(descriptor)

    @contextmanager
    def session(self) -> Iterator[Session]:
        """A session for writing traces. First removes what crashed ingests left behind.

        Raises:
            IngestError: The warehouse cannot be written.
        """
        self.make()
        try:
            with self.locked():
                sweep(self.path / STAGING, self.data)
                session = Session(self.path / STAGING, "name another warehouse")
        except OSError as error:
            raise self._cannot_write(error) from None
        try:
            yield session
        finally:
            session.close()

    def commit(self, session: Session, target: Target, staged: Path) -> str:
        """See `Store.commit`."""
        manifest.write(staged)
        session.flush(staged)
        with self.locked():
            span = target.span
            if not target.is_fixed:
                taken = self._source_paths(target.run, target.worker)
                span = free_span(span, target.source_paths, taken)
            session.place(staged, folder := self.folder(target.run, target.worker, span))
        session.flush_parents(folder)
        return span

    def _source_paths(self, run: str, worker: str) -> dict[str, str]:
        """The source of each stored trace of a worker, by span.

        An ingest calls this for each trace of a worker, so it reads only those that are new since the last call.
        """
        folder = f"{layout.partition('run', run)}/{layout.partition('worker', worker)}"
        found = {}
        with suppress(FileNotFoundError), os.scandir(self.data / folder) as entries:
            for entry in sorted(entries, key=lambda entry: entry.name):
                with suppress(FileNotFoundError):  # dropped meanwhile
                    if not entry.is_dir():
                        continue
                    stat = entry.stat()
                    version = stat.st_ino, stat.st_ctime_ns
                    known = self._sources.get(entry.path)
                    if known is None or known[0] != version:
                        if not (keys := layout.parse_trace_folder(f"{folder}/{entry.name}")):
                            continue
                        known = version, keys[2], _origin(Path(entry.path)).source_path
                        self._sources[entry.path] = known
                    found[known[1]] = known[2]
        return found

    def drop(self, run: str, worker: str | None = None, span: str | None = None) -> int:
        """See `Store.drop`."""
        found = [trace for trace in self.traces(run, worker) if span in (None, trace.span)]
        if not found:
            return 0
        with self.session() as session, self.locked():
            for merged in compacted_runs.list_merged(self.data, [layout.run_folder(run)]):
                for attempt in merged.attempts:
                    session.remove(self.data / layout.merged_folder(run, attempt))
            return sum(session.remove(trace.folder) for trace in found)

    def contents(self, run: str | None = None) -> Contents:
        """See `Store.contents`."""
        runs = [layout.run_folder(run)] if run is not None else None
        found = [
            Folder(*keys, {Attempt(0): compacted_runs.objects(folder)})
            for folder in sorted(self.data.glob(f"{glob.escape(runs[0]) if runs else '*'}/*/*/"))
            if (keys := layout.parse_trace_folder(folder.relative_to(self.data).as_posix()))
        ]
        return Contents(found, compacted_runs.list_merged(self.data, runs))

    def open_file(self, key: str) -> BufferedReader:
        """Open a file that `contents` lists."""
        return open(key, "rb")

    def commit_merged(
        self,
        session: Session,
        run: str,
        attempt: Attempt,
        staged: Path,
        traces: Iterable[TraceKeys],
        old: Iterable[Folder],
    ) -> None:
        """See `Store.commit_merged`.

        Raises:
            FileNotFoundError: One of the traces was dropped.
        """
        session.flush(staged)
        with self.locked():
            for keys in traces:  # the merged files must not contain a dropped trace
                self.folder(*keys).stat()
            session.place(staged, folder := self.data / layout.merged_folder(run, attempt))
            for key in (key for each in old for keys in abandoned(each) for key in keys):
                Path(key).unlink(missing_ok=True)
                with suppress(OSError):  # not empty
                    Path(key).parent.rmdir()
        session.flush_parents(folder)

    def _cannot_write(self, error: OSError) -> IngestError:
        return IngestError(f"cannot write the warehouse {self.path}: {error.strerror}")


def _origin(folder: Path) -> Origin:
    """The source of a trace, from its manifest or traces.parquet; `UNKNOWN` if both are damaged."""
    with suppress(ValueError):
        if found := manifest.read(folder):
            return found.origin
    try:
        return manifest.origin_of(folder / "traces.parquet")
    except (pa.ArrowException, OSError, KeyError, TypeError, IndexError):
        if not folder.exists():
            raise FileNotFoundError(folder) from None
        return UNKNOWN
