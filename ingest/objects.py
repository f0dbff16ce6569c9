"""The warehouse in an object store, which has neither renames nor locks: names alone settle all.

tracewh/layout.py says how a trace lies there, and when it is there.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

from tracewh import layout
from tracewh.ingest import manifest
from tracewh.ingest.errors import IngestError, StoreError
from tracewh.ingest.manifest import Origin
from tracewh.ingest.staging import ABANDONED_SECONDS, Session, scratch
from tracewh.ingest.store import UNKNOWN, Keys, Store, Survey
from tracewh.layout import MANIFEST, Attempt
from tracewh.remote import Place, explained, is_url, is_writable, locate
from tracewh.remote.errors import NO_BUCKET
from tracewh.remote.listing import AT_ONCE, Folder, Object, folders

if TYPE_CHECKING:
    from tracewh.ingest.plan import Planned

#: What is handed to a store at a time.
CHUNK_BYTES = 16 << 20


@dataclass(frozen=True, slots=True)
class StoredObjects:
    """A trace that is in the warehouse."""

    run: str
    worker: str
    span: str
    origin: Origin
    folder: Folder
    place: Place

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
                manifest.rename(folder / MANIFEST)
            yield folder

    def _download(self, found: Object, path: Path) -> None:
        with (
            path.open("wb") as file,
            explained(self.place.url_of(found.key)),
            self.place.filesystem.open_input_stream(found.key) as stream,
        ):
            while chunk := stream.read(CHUNK_BYTES):
                file.write(chunk)


class ObjectStore:
    """A warehouse in S3, Google Cloud or Azure; what `Store` is for a folder. It can be pickled."""

    def __init__(self, place: Place) -> None:
        self.place = place
        self.name = place.url

    def make(self) -> None:
        """See that there is a bucket to write to.

        Raises:
            IngestError: There is none.
        """
        bucket = self.place.key.strip("/").partition("/")[0]
        with suppress(OSError):  # who may write need not be allowed to ask
            if self.place.filesystem.get_file_info(bucket).type.name == "NotFound":
                raise StoreError(f"{self.place.url}: {NO_BUCKET}")

    def names(self) -> list[Keys]:
        """Run, worker and span of every stored trace, damaged ones included."""
        with _as_store_error():
            found = folders(self.place)
        return [each.keys for each in found if each.whole]

    def survey(self, workers: Iterable[tuple[str, str]]) -> Survey:
        """What a plan has to know of the traces of some workers, each a run and a worker.

        Their runs are listed once, and the manifests of these workers read. Since all is known then,
        what lost attempts and replaced generations left in these runs is removed as well.

        Raises:
            IngestError: There is no such bucket, or the store cannot be asked.
        """
        wanted = set(workers)
        with _as_store_error():
            found = folders(self.place, sorted({run for run, _ in wanted}))
            if not found:
                self.make()
            # Who may write need not be allowed to delete.
            with suppress(OSError), ThreadPoolExecutor(AT_ONCE) as pool:
                for left in zip(*map(_left_behind, found), strict=True):
                    list(pool.map(self._delete, chain.from_iterable(left)))
            known = self._known(each for each in found if (each.run, each.worker) in wanted)
        return Survey(known, {each.keys: max(each.attempts).generation for each in found})

    def traces(self, run: str | None = None, worker: str | None = None) -> list[StoredObjects]:
        """Every trace of the warehouse, or of a run or a worker of it; one that is damaged, too.

        Raises:
            IngestError: The store cannot be asked.
        """
        with _as_store_error():
            found = folders(self.place, run and [run])
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

    def commit(self, session: Session, planned: Planned, staged: Path) -> str:
        """Put a staged trace into the warehouse, by its last object for readers; its span.

        Nothing is listed and nothing read: the same trace may be committed by several at once, and
        again by who does not know whether the last attempt was lost.

        Args:
            session: The session that staged it.
            planned: The file, with the span and the generation that it should get.
            staged: Its folder, whole.

        Raises:
            OSError: The store cannot be written, in one line. Nothing of it is visible.
        """
        source, attempt = planned.source, Attempt.new(planned.generation)
        manifest.seal(staged, attempt)
        folder = f"{self.place.key}/data/{layout.folder(source.run, source.worker, source.span)}"
        upload = partial(self._upload, session, folder, attempt)
        files = list(staged.glob("*.parquet"))
        with ThreadPoolExecutor(len(files)) as pool:
            list(pool.map(upload, files))
        upload(staged / MANIFEST)
        return source.span

    def drop(self, run: str, worker: str | None = None, span: str | None = None) -> int:
        """Remove the traces of a run, or of one worker or span of it; the number removed.

        Objects of attempts that are under way stay, as what they write comes in afterwards.
        """
        with _as_store_error(), ThreadPoolExecutor(AT_ONCE) as pool:
            found = [
                each
                for each in folders(self.place, [run])
                if worker in (None, each.worker) and span in (None, each.span) and each.whole
            ]
            list(pool.map(self._remove, found))
        return len(found)

    def _remove(self, folder: Folder) -> None:
        whole = [folder.attempts[attempt] for attempt in folder.whole]
        for objects in whole:  # the newest is the last: until then readers see it as before
            self._delete(objects.pop(MANIFEST).key)
        for found in chain.from_iterable(objects.values() for objects in whole):
            self._delete(found.key)

    def _known(self, found: Iterable[Folder]) -> list[StoredObjects]:
        stored = [each for each in found if each.whole]
        with ThreadPoolExecutor(AT_ONCE) as pool:
            origins = list(pool.map(self._origin, stored))
        return [
            StoredObjects(*each.keys, origin, each, self.place)
            for each, origin in zip(stored, origins, strict=True)
            if origin
        ]

    def _origin(self, folder: Folder) -> Origin | None:
        """What a stored trace was made from, None where it was dropped meanwhile."""
        filesystem, newest = self.place.filesystem, folder.newest
        record = newest[MANIFEST]
        try:
            with (
                explained(self.place.url_of(record.key)),
                filesystem.open_input_stream(record.key) as file,
            ):
                text = file.read()
            return manifest.parse(text).origin
        except FileNotFoundError:
            return None
        except ValueError:
            traces = newest.get("traces.parquet")
        try:
            return manifest.origin_of(traces.key, filesystem) if traces else UNKNOWN
        except (pa.ArrowException, OSError, KeyError, TypeError, IndexError):
            return UNKNOWN

    def _upload(self, session: Session, folder: str, attempt: Attempt, path: Path) -> None:
        key = f"{folder}/{attempt.name(path.name)}"
        with (
            path.open("rb") as file,
            explained(self.place.url_of(key), missing=NO_BUCKET),
            self.place.filesystem.open_output_stream(key) as stream,
        ):
            while chunk := file.read(CHUNK_BYTES):
                if session.interrupted:
                    raise InterruptedError
                stream.write(chunk)

    def _delete(self, key: str) -> None:
        with suppress(FileNotFoundError), explained(self.place.url_of(key)):
            self.place.filesystem.delete_file(key)


def store_of(warehouse: str | os.PathLike[str]) -> Store | ObjectStore:
    """The warehouse of a folder, or of a URL, to be written.

    Raises:
        IngestError: Nothing can be written by that URL, or nothing made of it.
    """
    if not is_url(warehouse):
        return Store(Path(warehouse))
    url = os.fspath(warehouse)
    if not is_writable(url):
        raise IngestError(
            f"{url}: a warehouse can only be asked here; write it to a folder and copy that, or to "
            "S3, Google Cloud or Azure"
        )
    with _as_store_error():
        return ObjectStore(locate(url))


def _left_behind(folder: Folder) -> tuple[list[str], list[str]]:
    """What nobody sees and no reader has known of for a day: keys of manifests, and of the rest.

    What was replaced counts from the moment in which it was; what was copied there without a
    manifest is not ours.
    """
    whole = folder.whole
    keys: tuple[list[str], list[str]] = [], []
    for attempt, objects in folder.attempts.items():
        if attempt == max(whole, default=None) or (not attempt.generation and attempt not in whole):
            continue
        newest = max(found.mtime_ns for found in objects.values())
        if attempt in whole:
            later = (each for each in whole if each > attempt)
            newest = max(newest, min(folder.attempts[each][MANIFEST].mtime_ns for each in later))
        if time.time() - newest / 1e9 > ABANDONED_SECONDS:
            for plain, found in objects.items():
                keys[plain != MANIFEST].append(found.key)
    return keys


@contextmanager
def _as_store_error() -> Iterator[None]:
    """What keeps a store from being asked, as our error."""
    try:
        yield
    except OSError as error:
        raise StoreError(f"{error.filename}: {error.strerror}") from None
