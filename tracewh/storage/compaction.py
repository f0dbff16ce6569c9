"""Compaction: merge the small Parquet files of a run's traces into one file per table.

Thousands of small files take long to open, and in a store each one costs a request or two, in time and
money. tracewh/storage/compacted_runs.py describes how readers use the merged files.
"""

from __future__ import annotations

import glob
import json
import os
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

import duckdb
import pyarrow as pa

from tracewh.errors import IngestError, is_disk_full
from tracewh.schema import PARTITION_KEYS, Table, later_tables, tables
from tracewh.storage import manifest
from tracewh.storage.arrow_dataset import dataset
from tracewh.storage.compacted_runs import CompactedRun, version
from tracewh.storage.layout import MANIFEST, Attempt, Object, TraceKeys
from tracewh.storage.listing import Folder
from tracewh.storage.object_store import ObjectStore
from tracewh.storage.open_store import open_store
from tracewh.storage.parquet import write_parquet
from tracewh.storage.remote import readable_errors
from tracewh.storage.staging import Session, spill_folder
from tracewh.storage.store import Store

#: Tables whose files are no larger than this on average are merged: such a file takes longer to open
#: than to read.
SMALL_BYTES = 1 << 20
#: Memory limit for merging; beyond it the database spills to disk.
MEMORY = "1GiB"
#: Compression level of zstd. A merged file is written once and read often.
LEVEL = 6

#: The files of a table, each with its run, worker and span.
Files = list[tuple[TraceKeys, Object]]


@dataclass(frozen=True, slots=True)
class MergedTable:
    """A merged table: the number of files, their size in bytes, and the size of the merged file."""

    table: str
    files: int
    read_bytes: int
    stored_bytes: int


@dataclass(frozen=True, slots=True)
class Compaction:
    """The result of compacting a run with `traces` traces.

    `tables` are the merged tables. If `unchanged` is set, they had been merged before. There are none if
    merging would gain nothing: the run has one trace that is whole, or its files are large. `damaged` of its
    traces then lack a file.
    """

    traces: int
    tables: tuple[str, ...] = ()
    unchanged: bool = False
    damaged: int = 0


def compact(
    warehouse: str | os.PathLike[str],
    run: str,
    force: bool = False,
    on_table: Callable[[MergedTable], None] = lambda merged: None,
) -> Compaction:
    """Merge the small Parquet files of a run's traces, so that queries open fewer files.

    The traces stay unchanged. Readers see all merged files or, if the call fails, none.

    Args:
        warehouse: The warehouse's folder, or its URL.
        run: Name of the run. A run that does not exist has no traces.
        force: Merge again even if the merged files are current.
        on_table: Called after each table.

    Raises:
        IngestError: The warehouse cannot be read or written, or traces were dropped meanwhile.
    """
    store = open_store(warehouse)
    found = store.contents(run)
    whole = {each.keys: each.tables for each in found.folders}
    required = tables().keys() - later_tables()
    whole = {keys: files for keys, files in whole.items() if required <= files.keys()}
    found_files = {
        name: [(keys, files[name]) for keys, files in whole.items() if name in files]
        for name in tables()
    }
    small = {
        name: files
        for name, files in found_files.items()
        if files and sum(file.bytes for _, file in files) <= SMALL_BYTES * len(files)
    }
    if len(whole) < 2 or not small:
        damaged = sum(keys[0] == run and keys not in whole for keys in store.names())
        return Compaction(len(whole) + damaged, damaged=damaged)
    versions = {keys: version(files["traces"]) for keys, files in whole.items()}
    with store.session() as session, _as_ingest_error(run, session), session.staging() as staged:
        unchanged = not force and any(_is_current(store, c, versions, small) for c in found.merged)
        if not unchanged:
            for name, files in small.items():
                size = _merge(store, tables()[name], files, staged)
                on_table(MergedTable(name, len(files), sum(file.bytes for _, file in files), size))
            _write_manifest(staged, versions)
            newest = max((max(each.attempts).generation for each in found.merged), default=0)
            attempt = Attempt.new(newest + 1)
            store.commit_merged(session, run, attempt, staged, versions, found.merged)
    return Compaction(len(found.folders), tuple(small), unchanged)


def _is_current(
    store: Store,
    merged: Folder,
    versions: Mapping[TraceKeys, str],
    small: Mapping[str, Files],
) -> bool:
    """Whether the merged files that readers see contain these versions and these tables."""
    if not merged.whole:
        return False
    with store.open_file(merged.newest[MANIFEST].key) as file:
        known = CompactedRun.parse(merged, file.read())
    wanted = {(worker, span): version for (_, worker, span), version in versions.items()}
    return known is not None and known.versions == wanted and known.files.keys() == small.keys()


def _merge(store: Store, table: Table, files: Files, folder: Path) -> int:
    """Merge the files of a table in the order of the traces; the size of the result in bytes."""
    columns = [(name, "VARCHAR") for name in PARTITION_KEYS]
    columns += [(column.name, column.type) for column in table.columns]
    config: dict[str, str | bool | int | float | list[str]] = {
        "memory_limit": MEMORY,
        "temp_directory": str(spill_folder(folder)),
    }
    with duckdb.connect(config=config) as con:
        con.execute("SET enable_progress_bar = false")
        if isinstance(store, ObjectStore):
            with readable_errors(store.name):
                con.from_arrow(dataset(store.location, files)).create_view("separate")
        else:
            con.execute(
                "SET VARIABLE files = ?::VARCHAR[]", [[glob.escape(file.key) for _, file in files]]
            )
            con.execute(
                "CREATE VIEW separate AS FROM read_parquet(getvariable('files')::VARCHAR[], "
                "hive_partitioning = true, "
                "hive_types = {'run': VARCHAR, 'worker': VARCHAR, 'span': VARCHAR})"
            )
        selected = ", ".join(f"t.{name}::{type_} AS {name}" for name, type_ in columns)
        path = folder / f"{table.name}.parquet"
        write_parquet(con, f"SELECT {selected} FROM separate AS t", path, LEVEL)
    return path.stat().st_size


def _write_manifest(folder: Path, versions: Mapping[TraceKeys, str]) -> None:
    """Write the manifest of the merged files."""
    traces: dict[str, dict[str, str]] = defaultdict(dict)
    for (_, worker, span), each in versions.items():
        traces[worker][span] = each
    files = {path.name: asdict(manifest.part(path)) for path in sorted(folder.glob("*.parquet"))}
    text = json.dumps({"traces": traces, "files": files}, indent=1)
    (folder / MANIFEST).write_text(text, "utf-8")


@contextmanager
def _as_ingest_error(run: str, session: Session) -> Iterator[None]:
    """Turn an error of compaction into an IngestError."""
    try:
        yield
    except (duckdb.Error, pa.ArrowException, OSError) as error:
        reason = str(error).partition("\n")[0]
        if is_disk_full(error):
            reason = session.full
        elif isinstance(error, OSError) and error.filename:
            reason = f"{error.filename}: {error.strerror}"
        raise IngestError(
            f"run {run!r} was not compacted: {reason}; if its traces changed meanwhile, try again, else "
            "run `tracewh check`"
        ) from None
