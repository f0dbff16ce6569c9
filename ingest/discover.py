"""Paths in, trace files out: which run, worker and span each file is, from its path and name.

The rules are those of the TensorBoard plugin, so that a log folder means what it always meant: a
run is a folder that holds traces, named by its path below the ingested folder; the worker is the
file name up to the time stamp; a worker's recordings are numbered in the order of their stamps.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from tracewh.ingest.errors import IngestError

#: `worker0.1623143089861.pt.trace.json.gz`: worker, stamp, suffixes.
_NAME = re.compile(
    r"(?P<worker>.*?)(?:\.(?P<stamp>\d+))?(?:\.pt\.trace)?\.(?:json|raw)(?:\.gz|\.zst)?"
)
_SUFFIXES = (".json", ".json.gz", ".json.zst", ".raw.gz")


@dataclass(frozen=True, slots=True)
class Source:
    """A file that may be a trace, and what its path says of it."""

    path: Path
    run: str
    worker: str
    span: str
    trace_name: str


def discover(paths: Iterable[str | os.PathLike[str]], run: str | None = None) -> list[Source]:
    """Every file with a trace's suffix, in the order of run, worker and span.

    Args:
        paths: Files, run folders, or folders of runs; folders are searched recursively.
        run: Name to give the run. Where the paths hold several runs, it goes before each name.

    Raises:
        IngestError: A path does not exist, or no path holds a file with a trace's suffix.
    """
    found: dict[Path, str] = {}
    paths = list(paths)
    for given in paths:
        path = Path(given).resolve()
        if path.is_file():
            found.setdefault(path, path.parent.name)
        elif path.is_dir():
            for file in _files(path):
                relative = file.parent.relative_to(path).as_posix()
                found.setdefault(file, path.name if relative == "." else relative)
        else:
            raise IngestError(f"no such file or folder: {given}")
    if not found:
        names = ", ".join(f"*{suffix}" for suffix in _SUFFIXES[:3])
        raise IngestError(f"no trace files ({names}) in {', '.join(map(str, paths))}")
    several = len(set(found.values())) > 1
    sources = []
    for file, name in found.items():
        if run is not None:
            name = f"{run}/{name}" if several else run
        sources.append(_source(file, name))
    return sorted(sources, key=lambda s: (s.run, s.worker, s.span.rjust(9), s.path))


def _files(folder: Path) -> Iterable[Path]:
    for root, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        # A warehouse holds no traces to ingest; but the log folder itself may be one as well.
        if "tracewh.duckdb" in names:
            folders[:] = [name for name in folders if name != "data"]
            if Path(root) != folder:
                folders.clear()
                continue
        yield from (Path(root, name) for name in sorted(names) if name.endswith(_SUFFIXES))


def _source(path: Path, run: str) -> Source:
    worker, stamp = _worker_and_stamp(path.name)
    return Source(path, run, worker, _span(path, worker, stamp), _stem(path.name))


def _worker_and_stamp(name: str) -> tuple[str, str | None]:
    named = _NAME.fullmatch(name)
    if named is None:
        return name, None
    return named["worker"] or name, named["stamp"]


def _stem(name: str) -> str:
    return re.sub(r"(\.pt\.trace)?\.(json|raw)(\.gz|\.zst)?$", "", name)


def _span(path: Path, worker: str, stamp: str | None) -> str:
    """The place of a stamp among all stamps of the worker in its folder, from 1."""
    if stamp is None:
        return "default"
    stamps: Sequence[str] = sorted(
        {
            other_stamp
            for other in path.parent.iterdir()
            if other.name.endswith(_SUFFIXES)
            for other_worker, other_stamp in [_worker_and_stamp(other.name)]
            if other_worker == worker and other_stamp is not None
        }
    )
    return str(stamps.index(stamp) + 1)
