"""Find trace files, and the run, worker and span of each from its path and name.

The rules are those of the TensorBoard plugin. A run is a folder with trace files, named by its path below the
ingested folder. The worker is the file name up to the time stamp. The spans of a worker are numbered in the
order of their time stamps.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace

from tracewh.errors import IngestError
from tracewh.files import File
from tracewh.ingest.sources.files import STDIN, Search
from tracewh.storage import layout

#: `worker0.1623143089861.pt.trace.json.gz`: worker, stamp, suffixes.
_NAME = re.compile(
    r"(?P<worker>.*?)(?:\.(?P<stamp>\d+))?(?:\.pt\.trace)?\.(?:json|raw)(?:\.gz|\.zst)?"
)
_SUFFIXES = (".json", ".json.gz", ".json.zst", ".raw.gz")


@dataclass(frozen=True, slots=True)
class Source:
    """A file that may be a trace, with the names from its path."""

    path: File
    run: str
    worker: str
    span: str
    trace_name: str


def discover(paths: Iterable[str | os.PathLike[str]], run: str | None = None) -> list[Source]:
    """Find all files with a suffix of trace files, in the order of run, worker and span.

    Args:
        paths: Files, run folders, or folders of runs. Folders are searched recursively. A path may be a URL
            in an object store; - is standard input.
        run: Name of the run. If the paths contain several runs, it is put in front of their names.

    Raises:
        IngestError: A path does not exist or cannot be read, or there is no file with a suffix of trace
            files.
    """
    search = Search(lambda name: name.endswith(_SUFFIXES))
    found: dict[File, Source] = {}
    paths = list(paths)
    for given in paths:
        if os.fspath(given) == "-":
            found.setdefault(STDIN, Source(STDIN, "stdin", "stdin", "default", "stdin"))
            continue
        for folder in search.folders(given):
            spans = _spans(folder.names)
            for file in folder.files:
                worker, stamp = _worker_and_stamp(file.name)
                span = spans.get((worker, stamp), "default")
                source = Source(file, folder.run, worker, span, _stem(file.name))
                found.setdefault(file, source)
    if not found:
        names = ", ".join(f"*{suffix}" for suffix in _SUFFIXES[:3])
        raise IngestError(f"no trace files ({names}) in {', '.join(map(str, paths))}")
    sources = list(found.values())
    if run is not None:
        several = len({source.run for source in sources}) > 1
        sources = [replace(s, run=f"{run}/{s.run}" if several else run) for s in sources]
    for source in sources:
        for key in layout.KEYS:
            if said := layout.name_problem(key, getattr(source, key)):
                remedy = "" if key != "run" else "; give it one with --run"
                raise IngestError(f"{source.path}: {said}{remedy}")
    return sorted(sources, key=lambda s: (s.run, s.worker, s.span.rjust(9), str(s.path)))


def _worker_and_stamp(name: str) -> tuple[str, str | None]:
    named = _NAME.fullmatch(name)
    if named is None:
        return name, None
    return named["worker"] or name, named["stamp"]


def _stem(name: str) -> str:
    return re.sub(r"(\.pt\.trace)?\.(json|raw)(\.gz|\.zst)?$", "", name)


def _spans(names: Iterable[str]) -> dict[tuple[str, str | None], str]:
    """Number the time stamps of each worker of a folder, from 1."""
    stamps: dict[str, set[str]] = {}
    for name in names:
        if name.endswith(_SUFFIXES):
            worker, stamp = _worker_and_stamp(name)
            if stamp is not None:
                stamps.setdefault(worker, set()).add(stamp)
    return {
        (worker, stamp): str(number)
        for worker, found in stamps.items()
        for number, stamp in enumerate(sorted(found), 1)
    }
