"""Compacted runs: the small Parquet files of a run's traces, merged into one file per table.

data/run=R/_compact.3-9f0c1d2e/steps.parquet, ..., _manifest.json        on disk and in a store

The manifest of the merged files names the version of each trace that was merged. A reader uses the
merged files for these versions, and the trace's own folder for a trace that was replaced or added
later. So code that adds or replaces traces need not know about merged files. Glob patterns for traces
do not match them.
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
from tracewh.storage.layout import PARQUET, Attempt, Object, TraceKeys
from tracewh.storage.listing import Folder


@dataclass(frozen=True, slots=True)
class CompactedRun:
    """The merged files of a run that readers see.

    Attributes:
        run: Name of the run.
        files: The file of each merged table.
        versions: The merged version of each trace, by worker and span.
    """

    run: str
    files: Mapping[str, Object]
    versions: Mapping[tuple[str, str], str]

    @classmethod
    def parse(cls, merged: Folder, manifest: bytes) -> CompactedRun | None:
        """Parse the newest manifest; None if it is damaged, as the traces' own files still exist."""
        try:
            content: Any = json.loads(manifest)
            versions = {
                (worker, span): version
                for worker, spans in content["traces"].items()
                for span, version in spans.items()
            }
            files = {name.removesuffix(PARQUET): merged.newest[name] for name in content["files"]}
        except (AttributeError, KeyError, TypeError, ValueError, RecursionError):
            return None
        return cls(merged.run, files, versions)

    def outdated(self, present: Mapping[TraceKeys, str]) -> frozenset[tuple[str, str]] | None:
        """The traces, by worker and span, whose rows in the merged files are outdated.

        Args:
            present: The version of each trace to read, by run, worker and span.

        Returns:
            None if these are more than half of the merged traces, e.g. if a query reads one of
            thousands. Read the traces' own files then.
        """
        outdated = frozenset(
            keys
            for keys, version in self.versions.items()
            if present.get((self.run, *keys)) != version
        )
        return outdated if 2 * len(outdated) <= len(self.versions) else None


def version(traces: Object) -> str:
    """The version of a trace, from its traces.parquet: it changes when the trace is replaced."""
    _, attempt = layout.parse_name(traces.key.rpartition("/")[2]) or ("", Attempt(0))
    if attempt.generation:
        return f"{attempt.generation}-{attempt.token}"
    return f"{traces.bytes}-{traces.mtime_ns}"


def list_merged(data: Path, runs: Iterable[str] | None = None) -> list[Folder]:
    """The merged files in a warehouse's folder data/, of all runs or of those with the given folders."""
    found: dict[str, Folder] = {}
    for run in runs or names(data):
        for name in names(data / run):
            if named := layout.parse_merged_folder(f"{run}/{name}"):
                merged = found.setdefault(named[0], Folder(named[0]))
                merged.attempts[named[1]] = objects(data / run / name)
    return list(found.values())


def names(folder: str | Path) -> list[str]:
    """Sorted names in a folder; none if it does not exist."""
    try:
        return sorted(os.listdir(folder))
    except (FileNotFoundError, NotADirectoryError):  # dropped meanwhile; not written by tracewh
        return []


def objects(folder: Path) -> dict[str, Object]:
    """The files of a folder by name; none if it does not exist."""
    found = {}
    for name in names(folder):
        with suppress(FileNotFoundError):
            path = folder / name
            found[name] = Object(str(path), path.stat().st_size, path.stat().st_mtime_ns)
    return found
