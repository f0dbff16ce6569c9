"""A warehouse in an object store: find, commit and remove traces.

Object stores have neither renames nor locks. Consistency depends on object names alone:
tracewh/storage/layout.py defines them and says when a trace exists.
"""

from __future__ import annotations

import errno
import tempfile
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

import pyarrow as pa

from tracewh.errors import IngestError, StoreError
from tracewh.storage import layout, manifest
from tracewh.storage.layout import MANIFEST, Attempt, Object, TraceKeys
from tracewh.storage.listing import AT_ONCE, Contents, Folder, contents, folders
from tracewh.storage.manifest import Origin
from tracewh.storage.remote import Location, readable_errors
from tracewh.storage.remote.errors import NO_BUCKET
from tracewh.storage.staging import Session, abandoned, scratch
from tracewh.storage.store import UNKNOWN, KnownTraces, Target

#: Bytes per read or write.
CHUNK_BYTES = 16 << 20


@dataclass(frozen=True, slots=True)
class ObjectTrace:
    """A trace in the warehouse."""

    run: str
    worker: str
    span: str
    origin: Origin
    folder: Folder
    location: Location

    @property
    def stored_bytes(self) -> int:
        """Size of its Parquet files."""
        return sum(found.bytes for found in self.folder.tables.values())

    @contextmanager
    def local_folder(self) -> Iterator[Path]:
        """A temporary copy of the trace's files, with plain names in the folder and in the manifest.

        Raises:
            OSError: The trace was dropped, the store cannot be read, or the disk is full.
        """
        objects = self.folder.newest
        with scratch() as session, session.staging() as folder, ThreadPoolExecutor() as pool:
            list(pool.map(self._download, objects.values(), map(folder.joinpath, objects)))
            with suppress(ValueError):  # a damaged manifest; its reader reports it
                manifest.use_plain_names(folder / MANIFEST)
            yield folder

    def _download(self, found: Object, path: Path) -> None:
        with (
            path.open("wb") as file,
            readable_errors(self.location.url_of(found.key)),
            self.location.filesystem.open_input_stream(found.key) as stream,
        ):
            while chunk := stream.read(CHUNK_BYTES):
                file.write(chunk)


class ObjectStore:
    """A warehouse in S3, Google Cloud or Azure; see `Store`. It is picklable."""

    def __init__(self, location: Location) -> None:
        self.location = location
        self.name = location.url

    def make(self) -> None:
        """Check that the bucket exists.

        Raises:
            IngestError: The bucket does not exist.
        """
        bucket = self.location.key.strip("/").partition("/")[0]
        with suppress(OSError):  # write permission does not imply permission to look up the bucket
            if self.location.filesystem.get_file_info(bucket).type.name == "NotFound":
                raise StoreError(f"{self.location.url}: {NO_BUCKET}")

    def is_made(self) -> bool:
        """See `Store.is_made`."""
        return True

    def names(self) -> list[TraceKeys]:
        """Run, worker and span of every stored trace, damaged ones included."""
        with as_store_error():
            found = folders(self.location)
        return [each.keys for each in found if each.whole]

    def known_traces(self, workers: Iterable[tuple[str, str]]) -> KnownTraces:
        """See `Store.known_traces`.

        Lists the workers' runs once and reads the manifests of these workers. This listing is complete, so it
        also removes objects of failed attempts and replaced generations in these runs.

        Raises:
            IngestError: The bucket does not exist, or the store cannot be read.
        """
        wanted = set(workers)
        with as_store_error():
            listing = contents(self.location, sorted({run for run, _ in wanted}))
            found = listing.folders
            if not found:
                self.make()
            self._sweep([*found, *listing.merged])
            known = self._stored_traces(each for each in found if (each.run, each.worker) in wanted)
        return KnownTraces(known, {each.keys: max(each.attempts).generation for each in found})

    def traces(self, run: str | None = None, worker: str | None = None) -> list[ObjectTrace]:
        """Every trace of the warehouse, or of a run or a worker of it, damaged ones included.

        Raises:
            IngestError: The store cannot be read.
        """
        with as_store_error():
            found = folders(self.location, run and [run])
            return self._stored_traces(each for each in found if worker in (None, each.worker))

    @contextmanager
    def session(self) -> Iterator[Session]:
        """A local session for writing traces. Sends no request to the store.

        Raises:
            IngestError: The temporary folder cannot be written.
        """
        with ExitStack() as stack:
            try:
                session = stack.enter_context(scratch())
            except OSError as error:
                folder = tempfile.gettempdir()
                raise IngestError(
                    f"cannot write to the temporary folder {folder}: {error.strerror}; set TMPDIR"
                ) from None
            yield session

    def commit(self, session: Session, target: Target, staged: Path) -> str:
        """Upload a staged trace and return its span. Readers see it once its last object is written.

        Lists and reads nothing, so several processes may commit the same trace at once, and a process
        may commit again if it does not know whether its last attempt failed.

        Args:
            session: The session that staged it.
            target: Its place in the warehouse.
            staged: Its folder, complete.

        Raises:
            OSError: The store cannot be written. Nothing of the trace is visible.
        """
        attempt = Attempt.new(target.generation)
        manifest.write(staged, attempt)
        folder = layout.trace_folder(target.run, target.worker, target.span)
        self._upload_folder(session, staged, f"{self.location.key}/data/{folder}", attempt.name)
        return target.span

    def contents(self, run: str | None = None) -> Contents:
        """See `Store.contents`.

        Raises:
            IngestError: The store cannot be read.
        """
        with as_store_error():
            return contents(self.location, None if run is None else [run])

    @contextmanager
    def open_file(self, key: str) -> Iterator[Any]:
        """Open an object that `contents` lists.

        Raises:
            OSError: It cannot be read.
        """
        url = self.location.url_of(key)
        with readable_errors(url), self.location.filesystem.open_input_stream(key) as file:
            yield file

    def commit_merged(
        self,
        session: Session,
        run: str,
        attempt: Attempt,
        staged: Path,
        traces: Iterable[TraceKeys],
        old: Iterable[Folder],
    ) -> None:
        """See `Store.commit_merged`. Readers see the files once the last object is written."""
        folder = f"{self.location.key}/data/{layout.merged_folder(run, attempt)}"
        self._upload_folder(
            session, staged, folder, str, lambda: self._check_traces_exist(run, traces)
        )
        self._sweep(old)

    def drop(self, run: str, worker: str | None = None, span: str | None = None) -> int:
        """See `Store.drop`.

        Objects of attempts in progress stay. The traces of these attempts become visible later.
        """
        with as_store_error(), ThreadPoolExecutor(AT_ONCE) as pool:
            listed = contents(self.location, [run])
            found = [
                each
                for each in listed.folders
                if worker in (None, each.worker) and span in (None, each.span) and each.whole
            ]
            for merged in listed.merged if found else []:
                self._remove(merged)
            list(pool.map(self._remove, found))
        return len(found)

    def _sweep(self, found: Iterable[Folder]) -> None:
        """Remove objects that no reader has used for a day, manifests first."""
        # Write permission does not imply permission to delete.
        with suppress(OSError), ThreadPoolExecutor(AT_ONCE) as pool:
            for left in zip(*map(abandoned, found), strict=True):
                list(pool.map(self._delete, chain.from_iterable(left)))

    def _remove(self, folder: Folder) -> None:
        whole = [folder.attempts[attempt] for attempt in folder.whole]
        for objects in whole:  # the newest last: until then readers see the trace unchanged
            self._delete(objects.pop(MANIFEST).key)
        for found in chain.from_iterable(objects.values() for objects in whole):
            self._delete(found.key)

    def _stored_traces(self, found: Iterable[Folder]) -> list[ObjectTrace]:
        stored = [each for each in found if each.whole]
        with ThreadPoolExecutor(AT_ONCE) as pool:
            origins = list(pool.map(self._origin, stored))
        return [
            ObjectTrace(*each.keys, origin, each, self.location)
            for each, origin in zip(stored, origins, strict=True)
            if origin
        ]

    def _origin(self, folder: Folder) -> Origin | None:
        """The source of a stored trace; None if it was dropped meanwhile."""
        newest = folder.newest
        try:
            with self.open_file(newest[MANIFEST].key) as file:
                return manifest.parse(file.read()).origin
        except FileNotFoundError:
            return None
        except ValueError:
            traces = newest.get("traces.parquet")
        try:
            return manifest.origin_of(traces.key, self.location.filesystem) if traces else UNKNOWN
        except (pa.ArrowException, OSError, KeyError, TypeError, IndexError):
            return UNKNOWN

    def _check_traces_exist(self, run: str, wanted: Iterable[TraceKeys]) -> None:
        """Check that traces of a run still exist: merged files must not contain a dropped trace."""
        listed = {each.keys for each in folders(self.location, [run]) if each.whole}
        for keys in wanted:
            if keys not in listed:
                key = f"{self.location.key}/data/{layout.trace_folder(*keys)}"
                raise FileNotFoundError(errno.ENOENT, "no such trace", self.location.url_of(key))

    def _upload_folder(
        self,
        session: Session,
        staged: Path,
        folder: str,
        name: Callable[[str], str],
        check: Callable[[], None] = lambda: None,
    ) -> None:
        """Upload the Parquet files of a folder, run `check`, then upload the manifest."""

        def upload(path: Path) -> None:
            self._upload_file(session, path, f"{folder}/{name(path.name)}")

        files = list(staged.glob("*.parquet"))
        with ThreadPoolExecutor(len(files)) as pool:
            list(pool.map(upload, files))
        check()
        upload(staged / MANIFEST)

    def _upload_file(self, session: Session, path: Path, key: str) -> None:
        with (
            path.open("rb") as file,
            readable_errors(self.location.url_of(key), missing=NO_BUCKET),
            self.location.filesystem.open_output_stream(key) as stream,
        ):
            while chunk := file.read(CHUNK_BYTES):
                if session.interrupted:
                    raise InterruptedError
                stream.write(chunk)

    def _delete(self, key: str) -> None:
        with suppress(FileNotFoundError), readable_errors(self.location.url_of(key)):
            self.location.filesystem.delete_file(key)


@contextmanager
def as_store_error() -> Iterator[None]:
    """Turn an OSError of a store into a StoreError."""
    try:
        yield
    except OSError as error:
        raise StoreError(f"{error.filename}: {error.strerror}") from None
