"""Names of the folders and files of a warehouse, on disk and in an object store.

data/run=R/worker=W/span=S/traces.parquet, ..., _manifest.json           on disk, placed by one rename
data/run=R/worker=W/span=S/traces.2-9f0c1d2e.parquet, ...,
                           _manifest.2-9f0c1d2e.json                     in an object store
data/run=R/_compact.2-9f0c1d2e/traces.parquet, ..., _manifest.json       merged files, see compacted_runs.py

Objects in a store are never renamed or overwritten. Each attempt to write a trace puts its own suffix
into the names of its objects and writes the manifest last. So a trace exists if and only if it has a
manifest, and its files are those of the newest manifest. Other objects belong to attempts that failed,
are in progress, or were replaced.
"""

from __future__ import annotations

import os
import re
import secrets
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import NamedTuple, Self
from urllib.parse import quote, unquote

from tracewh.files import printable
from tracewh.schema import tables

#: Version of the Parquet layout, which each trace has in its table `traces`. Increase it when a table or column is
#: renamed or dropped: then older versions of tracewh say that they are too old to read the trace.
LAYOUT_VERSION = 1
#: The command that updates tracewh, for a trace of a newer layout.
UPDATE = "pip install --upgrade tracewh"
#: The key of a trace, in the order of its folders.
KEYS = ("run", "worker", "span")
#: A glob for the folders of traces below data/.
TRACE_FOLDERS = "/".join(f"{key}=*" for key in KEYS)
#: Run, worker and span of a trace.
TraceKeys = tuple[str, str, str]
#: The manifest of a trace. Spark, Hive and Arrow ignore files whose names start with an underscore.
MANIFEST = "_manifest.json"
PARQUET = ".parquet"
#: The folder of graph captures in the folder of a run; so their run is called RUN/capture_traces. The function
#: replaying_run in sql/functions knows it too.
CAPTURES = "capture_traces"
#: Longest name of a file or folder that file systems accept.
MAX_NAME_BYTES = 255
#: The partition values, in small letters, that are read as NULL: the first one by Hive, and so by DuckDB, Spark and
#: Arrow, in capitals only; the second one by DuckDB before 2.0.
_NULLS = ("__hive_default_partition__", "null")

_MERGED = re.compile(r"run=([^/]+)/_compact\.([1-9][0-9]*)-([0-9a-f]{8})")
_NAME = re.compile(
    r"(?P<stem>[^.]+)(?:\.(?P<generation>[1-9][0-9]*)-(?P<token>[0-9a-f]{8}))?(?P<suffix>\.\w+)"
)


@dataclass(frozen=True, slots=True)
class Object:
    """An object in a listing: its key, its size in bytes, and its modification time in ns since the epoch."""

    key: str
    bytes: int
    mtime_ns: int


class Attempt(NamedTuple):
    """One attempt to write a trace. A newer attempt compares greater.

    `generation` is one more than the newest one that the planner saw. `token` distinguishes concurrent
    attempts. Generation 0 is a folder that was copied to a store; its file names have neither.
    """

    generation: int
    token: str = ""

    @classmethod
    def new(cls, generation: int) -> Self:
        """A new attempt, with a random token."""
        return cls(generation, secrets.token_hex(4))

    def name(self, plain: str) -> str:
        """The attempt's name of a file: `traces.parquet` becomes `traces.2-9f0c1d2e.parquet`."""
        if not self.generation:
            return plain
        stem, dot, suffix = plain.rpartition(".")
        return f"{stem}.{self.generation}-{self.token}{dot}{suffix}"


def parse_name(name: str) -> tuple[str, Attempt] | None:
    """The plain name of a file and the attempt that wrote it; None for any other name."""
    match = _NAME.fullmatch(name)
    if match is None:
        return None
    attempt = Attempt(int(match["generation"] or 0), match["token"] or "")
    return match["stem"] + match["suffix"], attempt


def newest(names: Iterable[str]) -> Attempt | None:
    """The attempt that readers see among a trace's files; None if no attempt has a manifest."""
    parts = map(parse_name, names)
    return max((part[1] for part in parts if part and part[0] == MANIFEST), default=None)


def trace_folder(run: str, worker: str, span: str) -> str:
    """The folder of a trace below data/. Characters that a path cannot contain are percent-encoded."""
    return "/".join(
        partition(key, name) for key, name in zip(KEYS, (run, worker, span), strict=True)
    )


def partition(key: str, name: str) -> str:
    """The name of one folder level, `key=name`."""
    encoded = quote(name, safe="")
    if name.lower() in _NULLS:
        encoded = f"%{ord(name[0]):02X}{name[1:]}"
    return f"{key}={encoded}"


def name_problem(key: str, name: str) -> str:
    """Why a name cannot be used for a run, worker or span; '' if it can."""
    if not name:
        return f"a {key} needs a name"
    if name != printable(name):
        return f"the name of a {key} is not UTF-8"
    if (size := len(partition(key, name))) > MAX_NAME_BYTES:
        return f"the name of a {key} is too long for a folder, {size} bytes with '{key}=': {name[:40]}..."
    return ""


def tilde_problem(warehouse: str) -> str:
    """Why the path of a warehouse does not lead to a home folder, as it would in a shell; '' if it does not begin with ~.

    A shell leaves the ~ of `--warehouse=~/wh` and of a text in quotes as it is. The folder would be called `~`.
    """
    if (whole := os.path.expanduser(warehouse)) == warehouse:
        return ""
    return f"only a shell replaces ~ with a home folder; write {whole}, or ./{warehouse} if a folder has that name"


def place_problem(warehouse: str) -> str:
    """Why a warehouse cannot be in a folder; '' if it can.

    DuckDB takes each folder `key=name` above a file for a column of that name, not only those below data/, and shows
    it instead of the column of the file.

    Args:
        warehouse: The absolute path.
    """
    for part in Path(warehouse).parts:
        key, _, name = part.partition("=")
        if part.count("=") == 1 and key.lower() in _columns():
            return (
                f"DuckDB would show {name!r} as the {key} of all rows, because of the folder {part!r}: rename that"
                " folder, or choose another place"
            )
    return ""


@cache
def _columns() -> frozenset[str]:
    """The names of the columns of all tables."""
    names = (column.name for table in tables().values() for column in table.columns)
    return frozenset({*KEYS, *names})


def parse_trace_folder(path: str) -> TraceKeys | None:
    """Run, worker and span of a folder below data/; None for any other folder."""
    parts = [part.partition("=") for part in path.split("/")]
    if tuple(key for key, _, _ in parts) != KEYS:
        return None
    run, worker, span = (unquote(name) for _, _, name in parts)
    return run, worker, span


def replaying_run(run: str) -> str:
    """The run whose graphs were captured in this one: R for R/capture_traces; any other run is its own."""
    return f"{run}/".partition(f"/{CAPTURES}/")[0].rstrip("/")


def run_folder(run: str) -> str:
    """The folder of a run below data/."""
    return partition("run", run)


def partition_name(name: str) -> str:
    """The run, worker or span of one folder level, `key=name`."""
    return unquote(name.partition("=")[2])


def merged_folder(run: str, attempt: Attempt) -> str:
    """The folder below data/ for the merged files that an attempt to compact a run writes."""
    return f"{run_folder(run)}/_compact.{attempt.generation}-{attempt.token}"


def parse_merged_folder(path: str) -> tuple[str, Attempt] | None:
    """The run and the attempt of a folder of merged files below data/; None for any other folder."""
    match = _MERGED.fullmatch(path)
    return (unquote(match[1]), Attempt(int(match[2]), match[3])) if match else None
