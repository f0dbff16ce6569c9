"""Whether a warehouse holds what its ingests wrote: files, hashes, rows, links, and nothing else."""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

from tracewh.errors import StoreError
from tracewh.quoting import quoted
from tracewh.schema import SQL, tables
from tracewh.storage import layout, manifest
from tracewh.storage.layout import MANIFEST
from tracewh.storage.listing import Folder
from tracewh.storage.local_store import STAGING, LocalStore
from tracewh.storage.manifest import Manifest, Part
from tracewh.storage.open_store import open_store
from tracewh.storage.staging import leftovers
from tracewh.storage.store import Store, StoredTrace
from tracewh.temporary import temporary

#: What the check of one trace's links may use; beyond it the database spills to disk.
MEMORY = "1GiB"


@dataclass(frozen=True, slots=True)
class Problem:
    """Something that is wrong, in which file, and the command that repairs it.

    Without a trace it concerns the warehouse.
    """

    run: str | None
    worker: str | None
    span: str | None
    file: str
    problem: str
    remedy: str


@dataclass(frozen=True, slots=True)
class Checked:
    """A trace that was looked at, the bytes of its files, and what is wrong with it."""

    trace: StoredTrace
    stored_bytes: int
    problems: tuple[Problem, ...]


def check(warehouse: str | os.PathLike[str], run: str | None = None) -> Iterator[Checked]:
    """Look at every byte of every trace, or of those of one run.

    A trace that is dropped or replaced while it is looked at is looked at again. One in a store is
    fetched; what was replaced stays there for a day.

    Raises:
        IngestError: The store cannot be asked.
    """
    store = open_store(warehouse)
    return _in_place(store, run) if isinstance(store, LocalStore) else _fetched(store, run)


def left_behind(warehouse: str | os.PathLike[str]) -> list[Problem]:
    """What ingests that died left in a warehouse's folder. It does no harm."""
    store = LocalStore(Path(warehouse))
    return [
        Problem(
            None,
            None,
            None,
            path.relative_to(store.path).as_posix(),
            "left behind by an ingest that died",
            f"tracewh ingest LOGDIR -w {shlex.quote(store.name)}",
        )
        for path in sorted(leftovers(store.path / STAGING))
    ]


def check_copies(warehouse: str | os.PathLike[str], run: str | None = None) -> list[Problem]:
    """What is wrong with the copies of compacted runs, or of one; those that readers see.

    Raises:
        IngestError: The store cannot be asked.
    """
    store = open_store(warehouse)
    return [
        Problem(
            copies.run,
            None,
            None,
            f"{layout.copies('', max(copies.whole)).partition('/')[2]}/{name}",
            said,
            f"tracewh compact --force {shlex.quote(copies.run)} -w {shlex.quote(store.name)}",
        )
        for copies in store.contents(run).copies
        if copies.whole
        for name, said in _copies(store, copies)
    ]


def _copies(store: Store, copies: Folder) -> Iterator[tuple[str, str]]:
    """Files of copies that are not as they were written, each with what is wrong."""
    found = copies.newest
    try:
        with store.opened(found[MANIFEST].key) as file:
            record = {name: Part(**part) for name, part in json.loads(file.read())["files"].items()}
    except (AttributeError, KeyError, TypeError, ValueError, OSError) as error:
        yield MANIFEST, f"it is damaged or cannot be read ({error})"
        return
    for name, part in sorted(record.items()):
        if name not in found:
            yield name, "it is missing"
            continue
        try:
            with store.opened(found[name].key) as file:
                sound = manifest.stream_hash(file) == part.blake2b
        except OSError as error:
            yield name, f"it cannot be read ({error.strerror})"
            continue
        if not sound:
            yield name, "its bytes are not those that were written"


def _in_place(store: LocalStore, run: str | None) -> Iterator[Checked]:
    for trace in store.traces(run):
        while inode := _inode(trace.folder):
            found = _checked(store, trace, trace.folder)
            if not found.problems or _inode(trace.folder) == inode:
                yield found
                break


def _fetched(store: Store, run: str | None) -> Iterator[Checked]:
    for trace in store.traces(run):
        try:
            with trace.fetched() as folder:
                found = _checked(store, trace, folder)
        except FileNotFoundError:  # dropped meanwhile
            continue
        except OSError as error:
            raise StoreError(f"{error.filename}: {error.strerror}") from None
        yield found


def _checked(store: Store, trace: StoredTrace, folder: Path) -> Checked:
    try:
        found = list(_files(folder)) or list(_links(folder))
        size = trace.stored_bytes
    except FileNotFoundError:  # the folder itself: it was dropped, as the caller sees too
        found, size = [("", "it is gone")], 0
    remedy = _remedy(store.name, trace)
    problems = (Problem(trace.run, trace.worker, trace.span, *each, remedy) for each in found)
    return Checked(trace, size, tuple(problems))


def _inode(folder: Path) -> int:
    """What tells a folder from the one that takes its place; 0 where there is none."""
    try:
        return folder.stat().st_ino
    except FileNotFoundError:
        return 0


def _files(folder: Path) -> Iterator[tuple[str, str]]:
    """Files that are not as they were written, each with what is wrong."""
    try:
        record = manifest.read(folder)
    except (ValueError, OSError) as error:
        yield MANIFEST, f"it is damaged or cannot be read ({error})"
        record = None
    else:
        if record is None:
            yield MANIFEST, "it is missing: nothing says what the other files must hold"
    wanted = {f"{table}.parquet" for table in tables()}
    if record is not None:
        wanted |= record.files.keys()
    present = {path.name for path in folder.iterdir()} - {MANIFEST}
    for name in sorted(wanted - present):
        yield name, "it is missing"
    for name in sorted(present - wanted):
        yield name, "it was not written by an ingest"
    sound = True
    for name in sorted(wanted & present):
        if said := _file(folder / name, record.files.get(name) if record else None):
            sound = False
            yield name, said
    if sound and record is not None and not wanted - present:
        yield from _record(folder, record)


def _file(path: Path, part: Part | None) -> str:
    """What is wrong with a Parquet file; '' for nothing."""
    try:
        if part is not None and (size := path.stat().st_size) != part.bytes:
            return f"it has {size:,} bytes, {part.bytes:,} were written"
        if part is not None and manifest.content_hash(path) != part.blake2b:
            return "its bytes are not those that were written"
        if part is None:  # nothing to compare with: at least it can be read
            with pq.ParquetFile(path) as file:
                for _ in file.iter_batches():
                    pass
    except (OSError, pa.ArrowException) as error:
        return f"it cannot be read ({str(error).partition(chr(10))[0]})"
    return ""


def _record(folder: Path, record: Manifest) -> Iterator[tuple[str, str]]:
    """Where the manifest and the files that it describes disagree."""
    for name, part in sorted(record.files.items()):
        try:
            found = manifest.rows(folder / name)
        except pa.ArrowException:
            yield name, "it is no Parquet file"
            return
        if found != part.rows:
            yield name, f"it has {found:,} rows, {part.rows:,} were written"
    if record.origin != manifest.origin_of(folder / "traces.parquet"):
        yield MANIFEST, "it names another source than traces.parquet does"


def _links(folder: Path) -> Iterator[tuple[str, str]]:
    """Links that point to no row of the trace."""
    with (
        temporary() as spill,
        duckdb.connect(config={"memory_limit": MEMORY, "temp_directory": str(spill)}) as con,
    ):
        try:
            for name, table in tables().items():
                path = quoted(str(folder / f"{name}.parquet"))
                columns = ", ".join(column.name for column in table.columns)
                con.execute(
                    f"CREATE VIEW {name} AS SELECT {columns}"
                    f" FROM read_parquet({path}, hive_partitioning = false)"
                )
            sql = (SQL / "derive" / "broken_links.sql").read_text("utf-8")
            broken = con.execute(sql).fetchall()
        except duckdb.Error as error:  # columns that another version did not write
            yield "", f"its tables cannot be asked ({str(error).partition(chr(10))[0]})"
            return
    for file, link, rows, example in broken:
        yield (
            f"{file}.parquet",
            f"{link} of {rows:,} rows names a row that is not there, e.g. {example}",
        )


def repair(warehouse: str, run: str, worker: str, span: str) -> str:
    """The command that makes a trace in a folder whole again."""
    store = LocalStore(Path(warehouse))
    found = next((trace for trace in store.traces(run, worker) if trace.span == span), None)
    where = f"-w {shlex.quote(store.name)}"
    return _remedy(store.name, found) if found else f"tracewh check {where}"


def _remedy(warehouse: str, trace: StoredTrace) -> str:
    """The command that makes a trace whole again, or takes it out where its source is gone."""
    where = f"-w {shlex.quote(warehouse)}"
    source = trace.origin.source_path
    if "://" in source or Path(source).is_file():
        run = shlex.quote(trace.run)
        return f"tracewh ingest --force --run {run} {where} {shlex.quote(source)}"
    worker, span = shlex.quote(trace.worker), shlex.quote(trace.span)
    return f"tracewh drop {shlex.quote(trace.run)} --worker {worker} --span {span} {where}"
