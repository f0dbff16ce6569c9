"""The traces of a warehouse in a store, found by listing objects only."""

from __future__ import annotations

import os
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING

from tracewh.storage import layout
from tracewh.storage.layout import MANIFEST, PARQUET, Attempt, Object, TraceKeys
from tracewh.storage.remote.errors import readable_errors
from tracewh.storage.remote.location import Location

if TYPE_CHECKING:
    from pyarrow.fs import FileInfo

#: Number of concurrent small requests to a store.
AT_ONCE = 32


@dataclass(frozen=True, slots=True)
class Folder:
    """The folder of a trace, with the objects of each attempt to write it, by plain names.

    Without worker and span: the merged files of a run, see tracewh/storage/compacted_runs.py.
    """

    run: str
    worker: str = ""
    span: str = ""
    attempts: dict[Attempt, dict[str, Object]] = field(default_factory=dict)

    @property
    def keys(self) -> TraceKeys:
        """Run, worker and span."""
        return self.run, self.worker, self.span

    @property
    def whole(self) -> list[Attempt]:
        """The attempts that have a manifest, oldest first. Readers see the last one.

        An empty manifest does not count: Azure lists an object before its contents are written.
        """
        return sorted(
            attempt
            for attempt, objects in self.attempts.items()
            if MANIFEST in objects and objects[MANIFEST].bytes
        )

    @property
    def newest(self) -> dict[str, Object]:
        """The files that readers see, including the manifest; none if no attempt has a manifest."""
        whole = self.whole
        return self.attempts[whole[-1]] if whole else {}

    @property
    def tables(self) -> dict[str, Object]:
        """The Parquet files that readers see, by table name."""
        found = self.newest.items()
        return {name.removesuffix(PARQUET): o for name, o in found if name.endswith(PARQUET)}


@dataclass(frozen=True, slots=True)
class Contents:
    """The folders of a warehouse's traces, sorted, and the merged files of its runs."""

    folders: list[Folder]
    merged: list[Folder]


def folders(location: Location, runs: Iterable[str] | None = None) -> list[Folder]:
    """The folders of all traces or of those of some runs, sorted; see `contents`."""
    return contents(location, runs).folders


def contents(location: Location, runs: Iterable[str] | None = None) -> Contents:
    """List the traces and merged files of a warehouse, or of some of its runs.

    One request returns about a thousand objects from any number of folders. Azure needs one per folder.

    Args:
        location: The warehouse.
        runs: Names of runs; None for all.

    Raises:
        OSError: The store cannot be read; the message is one line with the remedy.
    """
    raise_io_threads()
    data = f"{location.key}/data"
    with readable_errors(location.url), ThreadPoolExecutor(AT_ONCE) as pool:
        if runs is not None:
            tops = [f"{data}/{layout.run_folder(run)}" for run in dict.fromkeys(runs)]
        elif location.filesystem.type_name == "gcs":  # lists only folders that have a marker object
            tops = [data]
        else:
            tops = _subfolders(location, data)
        if location.filesystem.type_name == "abfs":  # lists nested folders one at a time
            tops = list(chain.from_iterable(pool.map(partial(_subfolders, location), tops)))
        listings = pool.map(partial(_listed, location, recursive=True), tops)
        found: dict[str, Folder] = {}
        merged: dict[str, Folder] = {}
        for info in chain.from_iterable(listings):
            below = info.path.strip("/").removeprefix(data.strip("/"))
            path, _, name = below.strip("/").rpartition("/")
            part = layout.parse_name(name)
            if not info.is_file or not part or not part[0].endswith((PARQUET, MANIFEST)):
                continue
            each = Object(f"{data}/{path}/{name}", info.size or 0, info.mtime_ns or 0)
            if keys := layout.parse_trace_folder(path):
                attempts = found.setdefault(path, Folder(*keys)).attempts
                attempts.setdefault(part[1], {})[part[0]] = each
            elif named := layout.parse_merged_folder(path):
                attempts = merged.setdefault(named[0], Folder(named[0])).attempts
                attempts.setdefault(named[1], {})[name] = each
    return Contents(sorted(found.values(), key=lambda folder: folder.keys), list(merged.values()))


def raise_io_threads() -> None:
    """Let Arrow send `AT_ONCE` requests at once, unless ARROW_IO_THREADS sets the number."""
    import pyarrow as pa

    if "ARROW_IO_THREADS" not in os.environ:
        pa.set_io_thread_count(max(AT_ONCE, pa.io_thread_count()))


def _subfolders(location: Location, key: str) -> list[str]:
    return [info.path for info in _listed(location, key, recursive=False) if not info.is_file]


def _listed(location: Location, key: str, recursive: bool) -> Iterable[FileInfo]:
    from pyarrow.fs import FileSelector

    selector = FileSelector(key, allow_not_found=True, recursive=recursive)
    found: Iterable[FileInfo] = location.filesystem.get_file_info(selector)
    return found
