"""The warehouse in an object store, which has neither renames nor locks: names alone settle all.

tracewh/storage/layout.py says how a trace lies there, and when it is there.
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
from tracewh.storage.layout import MANIFEST, Attempt, Object
from tracewh.storage.listing import AT_ONCE, Contents, Folder, contents, folders
from tracewh.storage.manifest import Origin
from tracewh.storage.remote import Location, readable_errors
from tracewh.storage.remote.errors import NO_BUCKET
from tracewh.storage.staging import Session, abandoned, scratch
from tracewh.storage.store import UNKNOWN, Keys, Survey, Target

#: What is handed to a store at a time.
CHUNK_BYTES = 16 << 20


@dataclass(frozen=True, slots=True)
class ObjectTrace:
    """A trace that is in the warehouse."""

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
    def fetched(self) -> Iterator[Path]:
        """Its files for the moment, named and recorded as in a folder.

        Raises:
            OSError: It was dropped, the store cannot be asked, or there is no room here.
        """
        objects = self.folder.newest
        with scratch() as session, session.staging() as folder, ThreadPoolExecutor() as pool:
            list(pool.map(self._download, objects.values(), map(folder.joinpath, objects)))
            with suppress(ValueError):  # it is damaged, as whoever reads it will see
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
    """A warehouse in S3, Google Cloud or Azure; see `Store`. It can be pickled."""

    def __init__(self, location: Location) -> None:
        self.location = location
        self.name = location.url

    def make(self) -> None:
        """See that there is a bucket to write to.

        Raises:
            IngestError: There is none.
        """
        bucket = self.location.key.strip("/").partition("/")[0]
        with suppress(OSError):  # who may write need not be allowed to ask
            if self.location.filesystem.get_file_info(bucket).type.name == "NotFound":
                raise StoreError(f"{self.location.url}: {NO_BUCKET}")

    def names(self) -> list[Keys]:
        """Run, worker and span of every stored trace, damaged ones included."""
        with as_store_error():
            found = folders(self.location)
        return [each.keys for each in found if each.whole]

    def survey(self, workers: Iterable[tuple[str, str]]) -> Survey:
        """What a plan has to know of the traces of some workers, each a run and a worker.

        Their runs are listed once, and the manifests of these workers read. Since all is known then,
        what lost attempts and replaced generations left in these runs is removed as well.

        Raises:
            IngestError: There is no such bucket, or the store cannot be asked.
        """
        wanted = set(workers)
        with as_store_error():
            there = contents(self.location, sorted({run for run, _ in wanted}))
            found = there.folders
            if not found:
                self.make()
            self._sweep([*found, *there.copies])
            known = self._known(each for each in found if (each.run, each.worker) in wanted)
        return Survey(known, {each.keys: max(each.attempts).generation for each in found})

    def traces(self, run: str | None = None, worker: str | None = None) -> list[ObjectTrace]:
        """Every trace of the warehouse, or of a run or a worker of it; one that is damaged, too.

        Raises:
            IngestError: The store cannot be asked.
        """
        with as_store_error():
            found = folders(self.location, run and [run])
            return self._known(each for each in found if worker in (None, each.worker))

    @contextmanager
    def session(self) -> Iterator[Session]:
        """A place here to write traces to; the store is not asked.

        Raises:
            IngestError: There is none.
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
        """Put a staged trace into the warehouse, by its last object for readers; its span.

        Nothing is listed and nothing read: the same trace may be committed by several at once, and
        again by who does not know whether the last attempt was lost.

        Args:
            session: The session that staged it.
            target: Where it goes.
            staged: Its folder, whole.

        Raises:
            OSError: The store cannot be written, in one line. Nothing of it is visible.
        """
        attempt = Attempt.new(target.generation)
        manifest.write(staged, attempt)
        folder = layout.folder(target.run, target.worker, target.span)
        self._put(session, staged, f"{self.location.key}/data/{folder}", attempt.name)
        return target.span

    def contents(self, run: str | None = None) -> Contents:
        """The traces and copies of the warehouse, or of a run.

        Raises:
            IngestError: The store cannot be asked.
        """
        with as_store_error():
            return contents(self.location, None if run is None else [run])

    @contextmanager
    def opened(self, key: str) -> Iterator[Any]:
        """Open an object that a listing names.

        Raises:
            OSError: It cannot be read, in one line.
        """
        url = self.location.url_of(key)
        with readable_errors(url), self.location.filesystem.open_input_stream(key) as file:
            yield file

    def commit_copies(
        self,
        session: Session,
        run: str,
        attempt: Attempt,
        staged: Path,
        copied: Iterable[Keys],
        old: Iterable[Folder],
    ) -> None:
        """See `Store.commit_copies`; the last object makes them visible."""
        folder = f"{self.location.key}/data/{layout.copies(run, attempt)}"
        self._put(session, staged, folder, str, lambda: self._see(run, copied))
        self._sweep(old)

    def drop(self, run: str, worker: str | None = None, span: str | None = None) -> int:
        """Remove the traces of a run, or of one worker or span of it; the number removed.

        Objects of attempts that are under way stay, as what they write comes in afterwards.
        """
        with as_store_error(), ThreadPoolExecutor(AT_ONCE) as pool:
            there = contents(self.location, [run])
            found = [
                each
                for each in there.folders
                if worker in (None, each.worker) and span in (None, each.span) and each.whole
            ]
            for copies in there.copies if found else []:
                self._remove(copies)
            list(pool.map(self._remove, found))
        return len(found)

    def _sweep(self, found: Iterable[Folder]) -> None:
        """Remove what nobody sees and no reader has known of for a day, manifests first."""
        # Who may write need not be allowed to delete.
        with suppress(OSError), ThreadPoolExecutor(AT_ONCE) as pool:
            for left in zip(*map(abandoned, found), strict=True):
                list(pool.map(self._delete, chain.from_iterable(left)))

    def _remove(self, folder: Folder) -> None:
        whole = [folder.attempts[attempt] for attempt in folder.whole]
        for objects in whole:  # the newest is the last: until then readers see it as before
            self._delete(objects.pop(MANIFEST).key)
        for found in chain.from_iterable(objects.values() for objects in whole):
            self._delete(found.key)

    def _known(self, found: Iterable[Folder]) -> list[ObjectTrace]:
        stored = [each for each in found if each.whole]
        with ThreadPoolExecutor(AT_ONCE) as pool:
            origins = list(pool.map(self._origin, stored))
        return [
            ObjectTrace(*each.keys, origin, each, self.location)
            for each, origin in zip(stored, origins, strict=True)
            if origin
        ]

    def _origin(self, folder: Folder) -> Origin | None:
        """What a stored trace was made from, None where it was dropped meanwhile."""
        newest = folder.newest
        try:
            with self.opened(newest[MANIFEST].key) as file:
                return manifest.parse(file.read()).origin
        except FileNotFoundError:
            return None
        except ValueError:
            traces = newest.get("traces.parquet")
        try:
            return manifest.origin_of(traces.key, self.location.filesystem) if traces else UNKNOWN
        except (pa.ArrowException, OSError, KeyError, TypeError, IndexError):
            return UNKNOWN

    def _see(self, run: str, wanted: Iterable[Keys]) -> None:
        """See that traces of a run are there: what was dropped must not stay as a copy."""
        there = {each.keys for each in folders(self.location, [run]) if each.whole}
        for keys in wanted:
            if keys not in there:
                key = f"{self.location.key}/data/{layout.folder(*keys)}"
                raise FileNotFoundError(errno.ENOENT, "no such trace", self.location.url_of(key))

    def _put(
        self,
        session: Session,
        staged: Path,
        folder: str,
        name: Callable[[str], str],
        check: Callable[[], None] = lambda: None,
    ) -> None:
        """Upload a folder's files and, when they are there and all is well, the manifest."""

        def upload(path: Path) -> None:
            self._upload(session, path, f"{folder}/{name(path.name)}")

        files = list(staged.glob("*.parquet"))
        with ThreadPoolExecutor(len(files)) as pool:
            list(pool.map(upload, files))
        check()
        upload(staged / MANIFEST)

    def _upload(self, session: Session, path: Path, key: str) -> None:
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
    """What keeps a store from being asked, as our error."""
    try:
        yield
    except OSError as error:
        raise StoreError(f"{error.filename}: {error.strerror}") from None
