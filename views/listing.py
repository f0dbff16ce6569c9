"""A snapshot of the traces of a warehouse and their files, in a folder or in an object store.

    listing = Listing.of("s3://bucket/wh")
    mine = listing.only(trace for trace in listing.traces if trace.run == "resnet")
    with Warehouse(mine) as warehouse:  # also in another process: a listing can be pickled
        warehouse.kernel_stats(run="resnet").show()

A listing does not change while traces are ingested. Its files can be read for a day after they are
replaced. tracewh/storage/layout.py describes the files.

Arrow reads the files of an object store, with filters and columns pushed down, from every store that
tracewh ingests from. DuckDB's S3 reader is an extension that must be downloaded, and it supports neither
Azure nor Hadoop URLs.
"""

from __future__ import annotations

import errno
import os
import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Self

from tracewh.quoting import quote_file, quote_literal
from tracewh.schema import later_tables
from tracewh.storage import compacted_runs, layout
from tracewh.storage.arrow_dataset import dataset
from tracewh.storage.compacted_runs import CompactedRun
from tracewh.storage.layout import MANIFEST, PARQUET, Object, TraceKeys
from tracewh.storage.listing import AT_ONCE, Folder, contents
from tracewh.storage.remote import Location, is_url, locate, readable_errors

if TYPE_CHECKING:
    import duckdb

    from tracewh.views.spec import Spec


@dataclass(frozen=True, slots=True)
class Trace:
    """A stored trace, and the file of each of its tables: a path, or a key in the object store."""

    run: str
    worker: str
    span: str
    files: Mapping[str, Object]

    @property
    def keys(self) -> TraceKeys:
        """Its run, worker and span."""
        return self.run, self.worker, self.span

    @property
    def version(self) -> str:
        """The version of the trace, which changes when the trace is replaced."""
        return compacted_runs.version(self.files["traces"]) if "traces" in self.files else ""


@dataclass(frozen=True, slots=True)
class Listing:
    """The traces of a warehouse, or some of them.

    Attributes:
        path: The warehouse's folder, or its URL as text.
        traces: The traces, sorted by run, worker and span.
        location: Location in the object store; None for a folder.
        compacted: The merged files that replace most of the traces that they were made of.
    """

    path: Path | str
    traces: tuple[Trace, ...]
    location: Location | None = None
    compacted: tuple[CompactedRun, ...] = ()

    @classmethod
    def of(cls, warehouse: str | os.PathLike[str]) -> Self:
        """List a warehouse.

        Raises:
            OSError: It holds no traces, or the store cannot be reached; one line with the remedy.
        """
        if is_url(warehouse):
            location = locate(os.fspath(warehouse))
            found = contents(location)
            traces = (Trace(*each.keys, each.tables) for each in found.folders if each.whole)
            listing = cls(
                location.url, tuple(traces), location, _download_compacted(location, found.merged)
            )
        else:
            root = Path(os.path.realpath(warehouse))
            merged = compacted_runs.list_merged(root / "data")
            listing = cls(root, tuple(_local(root / "data")), None, read_compacted(merged))
        if not listing.traces:
            where = f"-w {shlex.quote(str(listing.path))}"
            said = f"holds no traces; ingest some with `tracewh ingest LOGDIR {where}`"
            raise FileNotFoundError(errno.ENOENT, said, str(listing.path))
        return listing

    def only(self, traces: Iterable[Trace]) -> Self:
        """Return a listing of some of its traces."""
        some = tuple(traces)
        versions = {trace.keys: trace.version for trace in some}
        compacted = (each for each in self.compacted if each.outdated(versions) is not None)
        return replace(self, traces=some, compacted=tuple(compacted))

    def names(self, runs: Iterable[str] | None = None) -> list[TraceKeys]:
        """Return run, worker and span of each trace; `runs` is ignored, because all are known."""
        return [trace.keys for trace in self.traces]

    def versions(self, is_wanted: Callable[[str], bool] | None = None) -> dict[TraceKeys, str]:
        """Return the version of each trace, which changes when the trace is replaced.

        Args:
            is_wanted: Whether to list the traces of a run; None for all runs.
        """
        return {
            trace.keys: trace.version
            for trace in self.traces
            if is_wanted is None or is_wanted(trace.run)
        }

    def files(self, table: str) -> list[str]:
        """Return the paths or URLs of a table's files."""
        keys = [trace.files[table].key for trace in self.traces if table in trace.files]
        return [self.location.url_of(key) for key in keys] if self.location else keys

    def create_view(self, con: duckdb.DuckDBPyConnection, table: Spec) -> None:
        """Create a table's view over its files.

        Raises:
            OSError: The files cannot be read.
        """
        versions = {trace.keys: trace.version for trace in self.traces}
        merged = MergedFiles(self.compacted, versions)
        merged_traces, parts = merged.traces(table.name), merged.of(table.name)
        own = [
            (trace.keys, trace.files[table.name])
            for trace in self.traces
            if table.name in trace.files and trace.keys not in merged_traces
        ]
        if not own and not parts and table.name not in later_tables():
            said = f"holds no {table.name}.parquet: it is damaged; ingest again with --force"
            raise OSError(errno.EIO, said, str(self.path))
        if self.location is None:
            files = ", ".join(quote_file(found.key) for _, found in own)
            create_view(con, table, read(f"[{files}]") if own else None, parts)
            return
        # In a separate schema, so that SHOW TABLES shows the same as for a folder.
        con.execute("CREATE SCHEMA IF NOT EXISTS files")
        con.execute("USE files")
        with readable_errors(self.location.url):
            if own:
                con.from_arrow(dataset(self.location, own)).create_view(table.name)
            for number, part in enumerate(parts):
                found = dataset(self.location, [(None, file) for file in part.files])
                con.from_arrow(found).create_view(f"{table.name}_{number}")
        con.execute("USE main")
        create_view(con, table, f"files.{table.name}" if own else None, parts, in_store=True)


@dataclass(frozen=True, slots=True)
class Part:
    """Merged files of a table, and the workers and spans to skip in them."""

    files: tuple[Object, ...]
    outdated: frozenset[tuple[str, str]] = frozenset()


class MergedFiles:
    """The merged files that replace the files of traces.

    Args:
        compacted: All merged files.
        versions: Version of each trace to read, by run, worker and span.
    """

    def __init__(
        self, compacted: Iterable[CompactedRun], versions: Mapping[TraceKeys, str]
    ) -> None:
        self._standing = [
            (each, outdated)
            for each in compacted
            if (outdated := each.outdated(versions)) is not None
        ]

    def of(self, table: str) -> list[Part]:
        """Return the merged files of a table."""
        found = [
            (each.files[table], outdated)
            for each, outdated in self._standing
            if table in each.files
        ]
        whole = tuple(file for file, outdated in found if not outdated)
        parts = [Part((file,), outdated) for file, outdated in found if outdated]
        return [Part(whole), *parts] if whole else parts

    def traces(self, table: str) -> set[TraceKeys]:
        """Return the traces whose rows of a table are in merged files, by run, worker and span."""
        return {
            (each.run, *keys)
            for each, outdated in self._standing
            if table in each.files
            for keys in each.versions.keys() - outdated
        }


def create_view(
    con: duckdb.DuckDBPyConnection,
    table: Spec,
    own: str | None,
    parts: Iterable[Part],
    in_store: bool = False,
) -> None:
    """Create or replace a table's view.

    Args:
        con: The connection.
        table: The table.
        own: SQL that reads the files of the traces themselves; None if there are none to read. Without merged
            files either, the view is empty.
        parts: The merged files to read; in an object store, views named files.TABLE_NUMBER read them.
        in_store: Whether Arrow reads the files, for which JSON is text.
    """
    columns = ", ".join(
        f"CAST(t.{column.name} AS JSON) AS {column.name}"
        if in_store and column.type == "JSON"
        else f"t.{column.name}"
        for column in table.columns
    )
    selects = [f"SELECT {columns} FROM {own} AS t"] if own else []
    for number, part in enumerate(parts):
        # No hive partitioning: the files have the column run, and so has the name of their folder.
        files = ", ".join(quote_file(file.key) for file in part.files)
        here = f"read_parquet([{files}], hive_partitioning = false)"
        source = f"files.{table.name}_{number}" if in_store else here
        rows = ", ".join(
            f"({quote_literal(worker)}, {quote_literal(span)})"
            for worker, span in sorted(part.outdated)
        )
        where = f" WHERE (t.worker, t.span) NOT IN (VALUES {rows})" if rows else ""
        selects.append(f"SELECT {columns} FROM {source} AS t{where}")
    if not selects:
        nulls = ", ".join(f"NULL::{column.type} AS {column.name}" for column in table.columns)
        selects = [f"SELECT {nulls} WHERE FALSE"]
    con.execute(f"CREATE OR REPLACE VIEW {table.name} AS {' UNION ALL '.join(selects)}")


def read(files: str) -> str:
    """Return SQL that reads Parquet files, with run, worker and span of their paths as columns."""
    return (
        f"read_parquet({files}, hive_partitioning = true, "
        "hive_types = {'run': VARCHAR, 'worker': VARCHAR, 'span': VARCHAR})"
    )


def read_compacted(folders: Iterable[Folder]) -> tuple[CompactedRun, ...]:
    """Read the manifests of merged files in a folder."""
    return _parse_all(folders, lambda key: Path(key).read_bytes())


def _download_compacted(location: Location, folders: Iterable[Folder]) -> tuple[CompactedRun, ...]:
    def fetch(key: str) -> bytes:
        with (
            readable_errors(location.url_of(key)),
            location.filesystem.open_input_stream(key) as file,
        ):
            return bytes(file.read())

    return _parse_all(folders, fetch)


def _parse_all(
    folders: Iterable[Folder], fetch: Callable[[str], bytes]
) -> tuple[CompactedRun, ...]:
    def parse(each: Folder) -> CompactedRun | None:
        with suppress(FileNotFoundError):  # dropped meanwhile
            return CompactedRun.parse(each, fetch(each.newest[MANIFEST].key))
        return None

    with ThreadPoolExecutor(AT_ONCE) as pool:
        read = pool.map(parse, (each for each in folders if each.whole))
        return tuple(each for each in read if each)


def _local(data: Path) -> Iterator[Trace]:
    for folder in sorted(data.glob("*/*/*/")):
        keys = layout.parse_trace_folder(folder.relative_to(data).as_posix())
        if keys is None or not (folder / "traces.parquet").exists():
            continue
        with os.scandir(folder) as entries:
            found = [(e.name, e.path, e.stat()) for e in entries if e.name.endswith(PARQUET)]
        yield Trace(
            *keys,
            {
                name.removesuffix(PARQUET): Object(path, stat.st_size, stat.st_mtime_ns)
                for name, path, stat in found
            },
        )
