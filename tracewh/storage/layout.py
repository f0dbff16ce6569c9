"""How a trace lies in a warehouse: the names of its folder and files, here and in a store.

data/run=R/worker=W/span=S/traces.parquet, ..., _manifest.json           in a folder, by one rename
data/run=R/worker=W/span=S/traces.2-9f0c1d2e.parquet, ...,
                           _manifest.2-9f0c1d2e.json                     in an object store
data/run=R/_compact.2-9f0c1d2e/traces.parquet, ..., _manifest.json       copies: tracewh/storage/compacted_runs.py

In a store nothing is renamed and nothing overwritten. Each attempt to write a trace names its objects
after itself and writes its manifest last of all, so a trace is there if and only if a manifest is, and
its files are those of the newest one. What else lies there belongs to attempts that were lost, are
under way, or were followed by another.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple, Self
from urllib.parse import quote, unquote

#: What a trace is known by, in the order of its folders.
KEYS = ("run", "worker", "span")
#: The manifest of a trace. Spark, Hive and Arrow take a name with an underscore for no data.
MANIFEST = "_manifest.json"
PARQUET = ".parquet"
#: What a file system takes for the name of a file or folder.
MOST_BYTES = 255
#: What Hive, and so DuckDB, Spark and Arrow, read as NULL.
_NULL = "__HIVE_DEFAULT_PARTITION__"

_COPIES = re.compile(r"run=([^/]+)/_compact\.([1-9][0-9]*)-([0-9a-f]{8})")
_NAME = re.compile(
    r"(?P<stem>[^.]+)(?:\.(?P<generation>[1-9][0-9]*)-(?P<token>[0-9a-f]{8}))?(?P<suffix>\.\w+)"
)


@dataclass(frozen=True, slots=True)
class Object:
    """An object of a listing: its key, its bytes, and when it was written, since the epoch."""

    key: str
    bytes: int
    mtime_ns: int


class Attempt(NamedTuple):
    """One writing of a trace; the greater one is the newer one.

    `generation` is one more than the newest that its plan saw; `token` tells apart attempts that
    went on at once. Generation 0 is a folder that was copied to a store, its files without either.
    """

    generation: int
    token: str = ""

    @classmethod
    def new(cls, generation: int) -> Self:
        """An attempt that nothing was written by so far."""
        return cls(generation, secrets.token_hex(4))

    def name(self, plain: str) -> str:
        """What it calls a file: `traces.parquet` is `traces.2-9f0c1d2e.parquet`."""
        if not self.generation:
            return plain
        stem, dot, suffix = plain.rpartition(".")
        return f"{stem}.{self.generation}-{self.token}{dot}{suffix}"


def parse_name(name: str) -> tuple[str, Attempt] | None:
    """The plain name of a file and the attempt that wrote it; None for a name of another kind."""
    found = _NAME.fullmatch(name)
    if found is None:
        return None
    attempt = Attempt(int(found["generation"] or 0), found["token"] or "")
    return found["stem"] + found["suffix"], attempt


def newest(names: Iterable[str]) -> Attempt | None:
    """Of the files of a trace's folder, the attempt that readers see; None where none is whole."""
    parts = map(parse_name, names)
    return max((part[1] for part in parts if part and part[0] == MANIFEST), default=None)


def folder(run: str, worker: str, span: str) -> str:
    """The folder of a trace below data/. Characters that a path cannot hold are percent-encoded."""
    return "/".join(part(key, name) for key, name in zip(KEYS, (run, worker, span), strict=True))


def part(key: str, name: str) -> str:
    """The name of one of these folders."""
    encoded = quote(name, safe="")
    if name == _NULL:
        encoded = encoded.replace("_", "%5F", 1)
    return f"{key}={encoded}"


def problem(key: str, name: str) -> str:
    """Why no trace can have such a run, worker or span; '' where it can."""
    if not name:
        return f"a {key} needs a name"
    if (size := len(part(key, name))) > MOST_BYTES:
        return f"the name of a {key} is too long for a folder, {size} bytes with '{key}=': {name[:40]}..."
    return ""


def keys(path: str) -> tuple[str, str, str] | None:
    """Run, worker and span of a folder below data/; None for one of another kind."""
    parts = [part.partition("=") for part in path.split("/")]
    if tuple(key for key, _, _ in parts) != KEYS:
        return None
    run, worker, span = (unquote(name) for _, _, name in parts)
    return run, worker, span


def run(name: str) -> str:
    """The folder of a run below data/."""
    return part("run", name)


def copies(name: str, attempt: Attempt) -> str:
    """The folder below data/ of what an attempt to compact a run writes."""
    return f"{run(name)}/_compact.{attempt.generation}-{attempt.token}"


def copies_of(path: str) -> tuple[str, Attempt] | None:
    """The run and the attempt of a folder of copies below data/; None for one of another kind."""
    found = _COPIES.fullmatch(path)
    return (unquote(found[1]), Attempt(int(found[2]), found[3])) if found else None
