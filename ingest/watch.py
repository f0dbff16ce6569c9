"""Ingest traces while a training job writes them.

Folders are scanned repeatedly, because network file systems do not notify of changes that other hosts make. A
file is ingested when two scans in a row found it unchanged and it is complete. Being unchanged is not enough: a
writer may pause for longer than the interval between two scans.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from tracewh.errors import IngestError, StoreError
from tracewh.ingest.api import FileResult, ingest_sources
from tracewh.ingest.sources.discover import Source, discover
from tracewh.ingest.sources.files import is_pipe
from tracewh.ingest.sources.readers import reader_named
from tracewh.storage import layout
from tracewh.storage.open_store import open_store

#: A complete file that was refused is tried again after 1, 2, 4, ... scans, up to this number. A
#: full disk may be freed, but one message per scan would be too many.
MOST_SCANS = 64


@dataclass(slots=True)
class _Seen:
    """A file at the last scan: its size and time, whether it is done, and how often it failed."""

    size: int
    mtime_ns: int
    is_done: bool = False
    failures: int = 0
    wait: int = 0


class Watch:
    """The files below some folders, from scan to scan.

    Args:
        paths: Log folders, local or in an object store. A folder may be created later.
        warehouse: The warehouse's folder, or its URL in a store.
        run: Name of the run of all files, instead of the names of their folders; graph captures are `RUN/capture_traces`.
        jobs: Number of files to read at the same time; all cores by default.
        step_range: See `tracewh.ingest`.
        on_result: Called once per file that was tried, as soon as its result is known.
        on_left: Called once with a file that is skipped until it changes, and the reason.
        on_store_error: Called at every scan with a path whose store cannot be read, and the reason.

    Raises:
        IngestError: The warehouse cannot be created, a path is standard input, or no run can have this name.
    """

    def __init__(
        self,
        paths: Iterable[str | os.PathLike[str]],
        warehouse: str | os.PathLike[str],
        *,
        run: str | None = None,
        jobs: int | None = None,
        step_range: str | None = None,
        on_result: Callable[[FileResult], None] | None = None,
        on_left: Callable[[Source, str], None] | None = None,
        on_store_error: Callable[[str, str], None] | None = None,
    ) -> None:
        self._store = open_store(warehouse)
        self._paths = [os.fspath(path) for path in paths]
        if "-" in self._paths:
            raise IngestError("- is standard input, which can be read once: tracewh ingest -")
        for path in filter(is_pipe, self._paths):
            raise IngestError(
                f"{path} is a pipe, which can be read once: tracewh ingest {shlex.quote(path)}"
            )
        if run is not None and (problem := layout.name_problem("run", run)):
            raise IngestError(f"{problem}; give it one with --run")
        self._store.make()
        self._stored: set[tuple[str, int, int]] = set()
        self._run = run
        self._jobs = jobs
        self._step_range = step_range
        self._on_result = on_result
        self._on_left = on_left
        self._on_store_error = on_store_error
        self._seen: dict[str, _Seen] = {}

    def scan(self) -> list[FileResult]:
        """Scan once, and ingest the files that are new, complete and unchanged since the scan before.

        Returns:
            The result of each file that was tried; often there is none.

        Raises:
            IngestError: The warehouse cannot be written.
        """
        if not self._store.is_made():  # somebody removed it: it gets all traces again
            self._store.make()
            self._seen.clear()
            self._stored.clear()
        sources = self._sources()
        new = {(each.run, each.worker) for each in sources if str(each.path) not in self._seen}
        if new:
            origins = [trace.origin for trace in self._store.known_traces(new).traces]
            self._stored |= {(o.source_path, o.source_bytes, o.source_mtime_ns) for o in origins}
        ready = [source for source in sources if self._is_ready(source)]
        if not ready:
            return []
        results = ingest_sources(ready, self._store, self._jobs, on_result=self._on_result)
        # A file may hold several traces.
        refused = {str(result.source) for result in results if result.status == "refused"}
        for path in {str(source.path) for source in ready}:
            seen = self._seen[path]
            seen.is_done = path not in refused
            if not seen.is_done:
                seen.failures += 1
                seen.wait = min(2**seen.failures, MOST_SCANS)
        return results

    def _sources(self) -> Sequence[Source]:
        found: dict[str, Source] = {}
        for path in self._paths:
            try:
                for source in discover([path], step_range=self._step_range):
                    found.setdefault(str(source.path), source)
            except StoreError as error:
                if self._on_store_error:
                    self._on_store_error(path, str(error))
            except (IngestError, OSError):  # nothing there yet, or it moved during the scan
                continue
        sources = found.values()
        return [replace(s, run=self._named(s.run)) if self._run else s for s in sources]

    def _named(self, run: str) -> str:
        """The name that was given, for a run; for its graph captures the name that says whose they are."""
        return f"{self._run}{run.removeprefix(layout.replaying_run(run))}"

    def _is_ready(self, source: Source) -> bool:
        key = str(source.path)
        try:
            stat = source.path.stat()
        except OSError:
            self._seen.pop(key, None)
            return False
        seen = self._seen.get(key)
        if seen is None or (seen.size, seen.mtime_ns) != (stat.st_size, stat.st_mtime_ns):
            seen = self._seen[key] = _Seen(stat.st_size, stat.st_mtime_ns)
            known = (key, seen.size, seen.mtime_ns) in self._stored
            seen.is_done = known and seen.mtime_ns != 0
            return False
        seen.wait -= 1
        if seen.is_done or seen.wait > 0:
            return False
        if seen.failures == 0 and (reason := _unfinished(source)):
            seen.is_done = True
            if self._on_left:
                self._on_left(source, reason)
            return False
        return True


def _unfinished(source: Source) -> str:
    """Why a file is not a complete trace; '' if it is one."""
    return source.problem or reader_named(source.reader).unfinished(source)
