"""Compacted runs: the small tables of all traces of a run, copied to one file a table.

data/run=R/_compact.3-9f0c1d2e/steps.parquet, ..., _manifest.json        in a folder and in a store

The copies stand for a trace as long as the trace is the one that was copied. Their manifest says which
version of each that was, and a reader takes what has another one, or came later, from its own folder.
So whoever puts traces in or replaces them need not know of copies, and who goes by patterns of names
does not see them.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tracewh.storage import layout
from tracewh.storage.layout import PARQUET, Attempt, Object
from tracewh.storage.listing import Folder


@dataclass(frozen=True, slots=True)
class Compacted:
    """The copies of a run that readers see.

    Attributes:
        run: Name of the run.
        files: The file of each table that was copied.
        versions: Which version of each trace was, by worker and span.
    """

    run: str
    files: Mapping[str, Object]
    versions: Mapping[tuple[str, str], str]

    @classmethod
    def parse(cls, copies: Folder, manifest: bytes) -> Compacted | None:
        """What the newest manifest says; None where it is damaged, for the traces are still there."""
        try:
            found: Any = json.loads(manifest)
            versions = {
                (worker, span): version
                for worker, spans in found["traces"].items()
                for span, version in spans.items()
            }
            files = {name.removesuffix(PARQUET): copies.newest[name] for name in found["files"]}
        except (AttributeError, KeyError, TypeError, ValueError):
            return None
        return cls(copies.run, files, versions)

    def gone(
        self, present: Mapping[tuple[str, str, str], str]
    ) -> frozenset[tuple[str, str]] | None:
        """The traces, by worker and span, of which the copies must not be read.

        Args:
            present: The version of each trace that is to be read, by run, worker and span.

        Returns:
            None where more than half of them are: their own files are read then, as for one of
            thousands.
        """
        gone = frozenset(
            keys
            for keys, version in self.versions.items()
            if present.get((self.run, *keys)) != version
        )
        return gone if 2 * len(gone) <= len(self.versions) else None


def version(traces: Object) -> str:
    """What tells a trace from the one that was there before it, by its traces.parquet."""
    _, attempt = layout.parse_name(traces.key.rpartition("/")[2]) or ("", Attempt(0))
    if attempt.generation:
        return f"{attempt.generation}-{attempt.token}"
    return f"{traces.bytes}-{traces.mtime_ns}"


def in_folder(data: Path, runs: Iterable[str] | None = None) -> list[Folder]:
    """The copies in a warehouse's folder data/, or those of some runs, named by their folders."""
    found: dict[str, Folder] = {}
    for run in runs or names(data):
        for name in names(data / run):
            if named := layout.copies_of(f"{run}/{name}"):
                copies = found.setdefault(named[0], Folder(named[0]))
                copies.attempts[named[1]] = objects(data / run / name)
    return list(found.values())


def names(folder: str | Path) -> list[str]:
    """What a folder holds, in order; nothing where it is gone."""
    try:
        return sorted(os.listdir(folder))
    except (FileNotFoundError, NotADirectoryError):  # dropped meanwhile; not ours
        return []


def objects(folder: Path) -> dict[str, Object]:
    """The files of a folder, by their names; none where it is gone."""
    found = {}
    for name in names(folder):
        with suppress(FileNotFoundError):
            path = folder / name
            found[name] = Object(str(path), path.stat().st_size, path.stat().st_mtime_ns)
    return found
