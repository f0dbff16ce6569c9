"""Integrity checks of a warehouse: files, hashes, row counts and links between rows."""

from __future__ import annotations

import json
import os
import shlex
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

from tracewh.errors import IngestError, StoreError
from tracewh.quoting import quote_file
from tracewh.schema import SQL, later_tables, tables
from tracewh.storage import layout, manifest
from tracewh.storage.layout import MANIFEST
from tracewh.storage.listing import Folder
from tracewh.storage.local_store import STAGING, LocalStore
from tracewh.storage.manifest import Manifest, Part
from tracewh.storage.open_store import open_store
from tracewh.storage.staging import leftovers
from tracewh.storage.store import Store, StoredTrace
from tracewh.temporary import temporary

#: Memory limit for checking the links of one trace; beyond it the database spills to disk.
MEMORY = "1GiB"


@dataclass(frozen=True, slots=True)
class Problem:
    """A problem, the file that has it, and the command that repairs it.

    Run, worker and span are None if the problem concerns no single trace.
    """

    run: str | None
    worker: str | None
    span: str | None
    file: str
    problem: str
    remedy: str


@dataclass(frozen=True, slots=True)
class Checked:
    """The result of checking a trace: the size of its files in bytes, and its problems."""

    trace: StoredTrace
    stored_bytes: int
    problems: tuple[Problem, ...]


def check(warehouse: str | os.PathLike[str], run: str | None = None) -> Iterator[Checked]:
    """Check every byte of every trace, or of the traces of one run.

    A trace on disk that is dropped or replaced during its check is checked again. A trace in a store is
    downloaded first; replaced objects stay there for a day.

    Raises:
        IngestError: The store cannot be read.
    """
    store = open_store(warehouse)
    return _check_local(store, run) if isinstance(store, LocalStore) else _check_remote(store, run)


def left_behind(warehouse: str | os.PathLike[str]) -> list[Problem]:
    """Folders that crashed ingests left in a warehouse on disk. They do no harm."""
    store = LocalStore(Path(warehouse))
    return [
        Problem(
            None,
            None,
            None,
            path.relative_to(store.path).as_posix(),
            "left behind by a crashed ingest",
            f"tracewh ingest LOGDIR -w {shlex.quote(store.name)}",
        )
        for path in sorted(leftovers(store.path / STAGING))
    ]


def check_merged(warehouse: str | os.PathLike[str], run: str | None = None) -> list[Problem]:
    """Problems of the merged files that readers see, of all compacted runs or of one.

    Raises:
        IngestError: The store cannot be read.
    """
    store = open_store(warehouse)
    return [
        Problem(
            merged.run,
            None,
            None,
            f"{layout.merged_folder('', max(merged.whole)).partition('/')[2]}/{name}",
            problem,
            f"tracewh compact --force {shlex.quote(merged.run)} -w {shlex.quote(store.name)}",
        )
        for merged in store.contents(run).merged
        if merged.whole
        for name, problem in _check_merged_files(store, merged)
    ]


def _check_merged_files(store: Store, merged: Folder) -> Iterator[tuple[str, str]]:
    """Names of merged files that differ from what was written, each with the problem."""
    found = merged.newest
    try:
        with store.open_file(found[MANIFEST].key) as file:
            record = manifest.parts(json.loads(file.read()))
    except (AttributeError, KeyError, TypeError, ValueError, OSError, RecursionError) as error:
        yield MANIFEST, f"it is damaged or cannot be read ({error})"
        return
    for name, part in sorted(record.items()):
        if name not in found:
            yield name, "it is missing"
            continue
        try:
            with store.open_file(found[name].key) as file:
                sound = manifest.stream_hash(file) == part.blake2b
        except OSError as error:
            yield name, f"it cannot be read ({error.strerror})"
            continue
        if not sound:
            yield name, "its contents differ from what was written"


def _check_local(store: LocalStore, run: str | None) -> Iterator[Checked]:
    for trace in store.traces(run):
        while inode := _inode(trace.folder):
            found = _check_trace(store, trace, trace.folder)
            if not found.problems or _inode(trace.folder) == inode:
                yield found
                break


def _check_remote(store: Store, run: str | None) -> Iterator[Checked]:
    for trace in store.traces(run):
        try:
            with trace.local_folder() as folder:
                found = _check_trace(store, trace, folder)
        except FileNotFoundError:  # dropped meanwhile
            continue
        except OSError as error:
            raise StoreError(f"{error.filename}: {error.strerror}") from None
        yield found


def _check_trace(store: Store, trace: StoredTrace, folder: Path) -> Checked:
    remedy = _remedy(store.name, trace)
    try:
        if said := manifest.newer_layout(folder / "traces.parquet"):
            found, remedy = [("", said.partition(". ")[0])], layout.UPDATE
        else:
            found = list(_check_files(folder)) or list(_check_links(folder))
        size = trace.stored_bytes
    except (
        FileNotFoundError
    ):  # the folder itself: the trace was dropped, which the caller notices too
        found, size = [("", "it no longer exists")], 0
    problems = (Problem(trace.run, trace.worker, trace.span, *each, remedy) for each in found)
    return Checked(trace, size, tuple(problems))


def require_sound(store: Store, trace: StoredTrace, copy: Path) -> None:
    """Refuse to copy a damaged trace: the copy would have a manifest of its own, and count as sound.

    Args:
        store: The warehouse.
        trace: The trace.
        copy: A folder with copies of its files and of its manifest.

    Raises:
        IngestError: It is damaged. The message has the command that repairs it.
    """
    for file, problem in _check_files(copy):
        raise IngestError(
            f"the trace {trace.run}/{trace.worker}/{trace.span} is damaged: {file}: {problem}; to repair:\n"
            f"  {_remedy(store.name, trace)}"
        )


def _inode(folder: Path) -> int:
    """The inode of a folder, which changes when it is replaced; 0 if it does not exist."""
    try:
        return folder.stat().st_ino
    except FileNotFoundError:
        return 0


def _check_files(folder: Path) -> Iterator[tuple[str, str]]:
    """Names of files that differ from what was written, each with the problem."""
    try:
        record = manifest.read(folder)
    except (ValueError, OSError) as error:
        yield MANIFEST, f"it is damaged or cannot be read ({error})"
        record = None
    else:
        if record is None:
            yield MANIFEST, "it is missing: nothing says what the other files must hold"
    wanted = {f"{table}.parquet" for table in tables().keys() - later_tables()}
    if record is not None:
        wanted |= record.files.keys()
    present = {path.name for path in folder.iterdir()} - {MANIFEST}
    for name in sorted(wanted - present):
        yield name, "it is missing"
    known = {f"{table}.parquet" for table in tables()}
    for name in sorted(present - wanted - known):
        yield name, "it was not written by an ingest"
    sound = True
    for name in sorted(wanted & present):
        if problem := _check_file(folder / name, record.files.get(name) if record else None):
            sound = False
            yield name, problem
    if sound and record is not None and not wanted - present:
        yield from _check_manifest(folder, record)


def _check_file(path: Path, part: Part | None) -> str:
    """The problem of a Parquet file; '' if there is none."""
    try:
        if part is not None and (size := path.stat().st_size) != part.bytes:
            return f"it has {size:,} bytes, {part.bytes:,} were written"
        if part is not None and manifest.content_hash(path) != part.blake2b:
            return "its contents differ from what was written"
        if part is None:  # nothing to compare with: check at least that it can be read
            with pq.ParquetFile(path) as file:
                for _ in file.iter_batches():
                    pass
    except (OSError, pa.ArrowException) as error:
        return f"it cannot be read ({str(error).partition(chr(10))[0]})"
    return ""


def _check_manifest(folder: Path, record: Manifest) -> Iterator[tuple[str, str]]:
    """Differences between the manifest and the files that it describes."""
    for name, part in sorted(record.files.items()):
        try:
            found = manifest.rows(folder / name)
        except pa.ArrowException:
            yield name, "it is not a Parquet file"
            return
        if found != part.rows:
            yield name, f"it has {found:,} rows, {part.rows:,} were written"
    if record.origin != manifest.origin_of(folder / "traces.parquet"):
        yield MANIFEST, "it names a different source than traces.parquet"


def _check_links(folder: Path) -> Iterator[tuple[str, str]]:
    """Links to rows that do not exist in the trace.

    Raises:
        IngestError: The check needs more memory, or more space in the temporary folder.
    """
    with (
        temporary() as spill,
        duckdb.connect(config={"memory_limit": MEMORY, "temp_directory": str(spill)}) as con,
    ):
        try:
            for name, table in tables().items():
                file = folder / f"{name}.parquet"
                if table.is_later and not file.exists():
                    continue
                columns = ", ".join(column.name for column in table.columns)
                con.execute(
                    f"CREATE VIEW {name} AS SELECT {columns}"
                    f" FROM read_parquet({quote_file(file)}, hive_partitioning = false)"
                )
            sql = (SQL / "derive" / "broken_links.sql").read_text("utf-8")
            broken = con.execute(sql).fetchall()
        except duckdb.OutOfMemoryException as error:
            raise IngestError(
                f"the links of {folder} cannot be checked: they need more than {MEMORY} of memory and the space that is "
                f"left in {tempfile.gettempdir()}; name another folder in TMPDIR"
            ) from error
        except duckdb.Error as error:  # another version did not write all columns
            yield "", f"its tables cannot be queried ({str(error).partition(chr(10))[0]})"
            return
    for file, link, rows, example in broken:
        yield (
            f"{file}.parquet",
            f"{link} of {rows:,} rows refers to a row that does not exist, e.g. {example}",
        )


def repair(warehouse: str, run: str, worker: str, span: str) -> str:
    """The command that repairs a trace of a warehouse on disk."""
    store = LocalStore(Path(warehouse))
    found = next((trace for trace in store.traces(run, worker) if trace.span == span), None)
    where = f"-w {shlex.quote(store.name)}"
    return _remedy(store.name, found) if found else f"tracewh check {where}"


def _remedy(warehouse: str, trace: StoredTrace) -> str:
    """The command that ingests a trace again, or drops it if its source file no longer exists."""
    where = f"-w {shlex.quote(warehouse)}"
    source = trace.origin.source_path
    if "://" in source or Path(source).is_file():
        run = shlex.quote(trace.run)
        return f"tracewh ingest --force --run {run} {where} {shlex.quote(source)}"
    worker, span = shlex.quote(trace.worker), shlex.quote(trace.span)
    return f"tracewh drop {shlex.quote(trace.run)} --worker {worker} --span {span} {where}"
