"""The traces of a warehouse in a store, as listings alone tell them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING
from urllib.parse import quote

from tracewh import layout
from tracewh.layout import Attempt
from tracewh.remote.errors import explained
from tracewh.remote.place import Place

if TYPE_CHECKING:
    from pyarrow.fs import FileInfo

#: Requests to a store side by side, where each is small and waits for its answer.
AT_ONCE = 32


@dataclass(frozen=True, slots=True)
class Object:
    """An object of a listing: its key, its bytes, and when it was written, since the epoch."""

    key: str
    bytes: int
    mtime_ns: int


@dataclass(frozen=True, slots=True)
class Folder:
    """The folder of a trace, and all that lies in it, by its name."""

    run: str
    worker: str
    span: str
    objects: dict[str, Object]

    @property
    def keys(self) -> tuple[str, str, str]:
        """Its run, worker and span."""
        return self.run, self.worker, self.span

    @property
    def newest(self) -> Attempt | None:
        """The attempt that readers see; None where none is whole.

        Azure shows an object before it has its contents: an empty manifest is none.
        """
        return layout.newest(name for name, found in self.objects.items() if found.bytes)

    def files(self) -> dict[str, Object]:
        """What readers see of it, by plain names, without the manifest; empty where nothing is."""
        newest = self.newest
        parts = ((layout.taken_apart(name), found) for name, found in self.objects.items())
        return {
            part[0]: found
            for part, found in parts
            if part and part[1] == newest and part[0].endswith(".parquet")
        }


def folders(place: Place, runs: Iterable[str] | None = None) -> list[Folder]:
    """The folders of a warehouse's traces, or of those of some runs, in order.

    One request gives a thousand objects or so, of any number of folders; Azure wants one per folder.

    Args:
        place: The warehouse.
        runs: Names of runs; None for all there are.

    Raises:
        OSError: The store cannot be asked; one line with the remedy.
    """
    data = f"{place.key}/data"
    with explained(place.url), ThreadPoolExecutor(AT_ONCE) as pool:
        if runs is not None:
            tops = [f"{data}/run={quote(run, safe='')}" for run in dict.fromkeys(runs)]
        elif place.filesystem.type_name == "gcs":  # knows no folders, but those with a marker
            tops = [data]
        else:
            tops = _subfolders(place, data)
        if place.filesystem.type_name == "abfs":  # one at a time for each folder that it goes into
            tops = list(chain.from_iterable(pool.map(partial(_subfolders, place), tops)))
        listings = pool.map(partial(_listed, place, recursive=True), tops)
        found: dict[tuple[str, str, str], dict[str, Object]] = defaultdict(dict)
        for info in chain.from_iterable(listings):
            below = info.path.strip("/").removeprefix(data.strip("/"))
            path, _, name = below.strip("/").rpartition("/")
            if info.is_file and (keys := layout.keys(path)):
                key = f"{data}/{path}/{name}"
                found[keys][name] = Object(key, info.size or 0, info.mtime_ns or 0)
    return [Folder(*keys, objects) for keys, objects in sorted(found.items())]


def _subfolders(place: Place, key: str) -> list[str]:
    return [info.path for info in _listed(place, key, recursive=False) if not info.is_file]


def _listed(place: Place, key: str, recursive: bool) -> Iterable[FileInfo]:
    from pyarrow.fs import FileSelector

    selector = FileSelector(key, allow_not_found=True, recursive=recursive)
    found: Iterable[FileInfo] = place.filesystem.get_file_info(selector)
    return found
