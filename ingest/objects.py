"""The warehouse in an object store, which has neither renames nor locks: names alone settle all.

tracewh/layout.py says how a trace lies there, and when it is there.
"""

from __future__ import annotations

import os
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from functools import partial
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
    stored_bytes: int


class ObjectStore:
    """A warehouse in S3, Google Cloud or Azure; what `Store` is for a folder. It can be pickled."""

    def __init__(self, place: Place) -> None:
        self.place = place

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
        return [each.keys for each in found if each.newest]

    def survey(self, workers: Iterable[tuple[str, str]]) -> Survey:
        """What a plan has to know of the traces of some workers, each a run and a worker.

        Their runs are listed once, and the manifests of these workers read. Since all is known then,
        what lost attempts and replaced generations left in these runs is removed as well.

        Raises:
            IngestError: There is no such bucket, or the store cannot be asked.
        """
        wanted = set(workers)
        with _as_store_error(), ThreadPoolExecutor(AT_ONCE) as pool:
            found = folders(self.place, sorted({run for run, _ in wanted}))
            if not found:
                self.make()
            stored = [each for each in found if each.newest and (each.run, each.worker) in wanted]
            origins = list(pool.map(self._origin, stored))
            with suppress(OSError):  # who may write need not be allowed to delete
                for left in zip(*map(_left_behind, found), strict=True):
                    list(pool.map(self._delete, [key for keys in left for key in keys]))
        return Survey(
            [
                StoredObjects(*each.keys, origin, _bytes(each))
                for each, origin in zip(stored, origins, strict=True)
                if origin
            ],
            {each.keys: _newest_generation(each) for each in found},
        )

    def session(self) -> AbstractContextManager[Session]:
        """A place here to write traces to; the store is not asked.

        Raises:
            OSError: There is no room.
        """
        return scratch()

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
                if worker in (None, each.worker) and span in (None, each.span) and each.newest
            ]
            list(pool.map(self._remove, found))
        return len(found)

    def _remove(self, folder: Folder) -> None:
        attempts = _attempts(folder)
        whole = sorted(attempt for attempt, objects in attempts.items() if MANIFEST in objects)
        for attempt in whole:  # the newest is the last: until then readers see it as before
            self._delete(attempts[attempt].pop(MANIFEST).key)
        for attempt in whole:
            for found in attempts[attempt].values():
                self._delete(found.key)

    def _origin(self, folder: Folder) -> Origin | None:
        """What a stored trace was made from, None where it was dropped meanwhile."""
        filesystem, newest = self.place.filesystem, folder.newest
        assert newest is not None
        record = folder.objects[newest.name(MANIFEST)]
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
            traces = folder.objects.get(newest.name("traces.parquet"))
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
            f"{url}: a warehouse is written to a folder, S3, Google Cloud or Azure; write it to a "
            "folder and copy that there"
        )
    with _as_store_error():
        return ObjectStore(locate(url))


def _attempts(folder: Folder) -> dict[Attempt, dict[str, Object]]:
    """What each attempt wrote, by plain names. An empty manifest is none."""
    found: dict[Attempt, dict[str, Object]] = defaultdict(dict)
    for name, each in folder.objects.items():
        part = layout.taken_apart(name)
        if part and (part[0].endswith(".parquet") or (part[0] == MANIFEST and each.bytes)):
            found[part[1]][part[0]] = each
    return found


def _left_behind(folder: Folder) -> tuple[list[str], list[str]]:
    """What nobody sees and no reader has known of for a day: manifests, and then the rest.

    What was replaced counts from the moment in which it was; what was copied there without a
    manifest is not ours.
    """
    attempts = _attempts(folder)
    manifests = {each: found[MANIFEST] for each, found in attempts.items() if MANIFEST in found}
    keys: tuple[list[str], list[str]] = [], []
    for attempt, objects in attempts.items():
        if attempt == folder.newest or (not attempt.generation and attempt not in manifests):
            continue
        times = [found.mtime_ns for found in objects.values()]
        if attempt in manifests:
            later = [found.mtime_ns for each, found in manifests.items() if each > attempt]
            times.append(min(later))
        if time.time() - max(times) / 1e9 > ABANDONED_SECONDS:
            for plain, found in objects.items():
                keys[plain != MANIFEST].append(found.key)
    return keys


def _bytes(folder: Folder) -> int:
    return sum(found.bytes for found in folder.files().values())


def _newest_generation(folder: Folder) -> int:
    """The greatest that any attempt has, whole or not."""
    return max((attempt.generation for attempt in _attempts(folder)), default=0)


@contextmanager
def _as_store_error() -> Iterator[None]:
    """What keeps a store from being asked, as our error."""
    try:
        yield
    except OSError as error:
        raise StoreError(f"{error.filename}: {error.strerror}") from None
