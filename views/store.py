"""The traces of a warehouse and the files of their tables, listed once: in a store, or in a folder.

    listing = Listing.of("s3://bucket/wh")
    mine = listing.only(trace for trace in listing.traces if trace.run == "resnet")
    with Warehouse(mine) as warehouse:  # also in another process: a listing can be pickled
        warehouse.kernel_stats(run="resnet").show()

A listing stays as it is while traces are ingested, and what it names can be read for a day after that
was replaced. tracewh/layout.py says what is listed.

DuckDB's own reader of S3 is an extension that has to be downloaded, and knows neither Azure's nor
Hadoop's URLs; Arrow reads from all that tracewh ingests from, filters and columns pushed down.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import reduce
from operator import and_
from pathlib import Path
from typing import TYPE_CHECKING, Self

from tracewh import layout
from tracewh.remote import Place, explained, is_url, locate
from tracewh.remote.listing import AT_ONCE, Object, folders, more_threads
from tracewh.views.values import quoted

if TYPE_CHECKING:
    import duckdb

    from tracewh.views.spec import Spec

#: How much of large files may be under way at once; but Arrow has so many files under way at least.
AHEAD_BYTES, FEWEST_AHEAD = 256 << 20, 4


@dataclass(frozen=True, slots=True)
class Trace:
    """A stored trace, and the file of each of its tables: a path, or a key of the store."""

    run: str
    worker: str
    span: str
    files: Mapping[str, Object]


@dataclass(frozen=True, slots=True)
class Listing:
    """The traces of a warehouse, or some of them.

    Attributes:
        path: The warehouse's folder, or its URL as text.
        traces: In the order of run, worker and span.
        place: Where it lies; None in a folder.
    """

    path: Path | str
    traces: tuple[Trace, ...]
    place: Place | None = None

    @classmethod
    def of(cls, warehouse: str | os.PathLike[str]) -> Self:
        """List a warehouse.

        Raises:
            OSError: It holds no traces, or the store cannot be asked; one line with the remedy.
        """
        if is_url(warehouse):
            place = locate(os.fspath(warehouse))
            found = (Trace(*each.keys, each.tables) for each in folders(place) if each.whole)
            listing = cls(place.url, tuple(found), place)
        else:
            root = Path(os.path.abspath(warehouse))
            listing = cls(root, tuple(_local(root / "data")))
        if not listing.traces:
            said = f"holds no traces; `tracewh ingest LOGDIR -w {listing.path}` brings some in"
            raise FileNotFoundError(errno.ENOENT, said, str(listing.path))
        return listing

    def only(self, traces: Iterable[Trace]) -> Self:
        """Some of its traces."""
        return replace(self, traces=tuple(traces))

    def files(self, table: str) -> list[str]:
        """The paths or URLs of a table's files."""
        keys = [trace.files[table].key for trace in self.traces if table in trace.files]
        return [self.place.url_of(key) for key in keys] if self.place else keys

    def create_view(self, con: duckdb.DuckDBPyConnection, table: Spec) -> None:
        """Create a table's view over its files.

        Raises:
            OSError: The files cannot be read.
        """
        if self.place is None:
            columns = ", ".join(f"t.{column.name}" for column in table.columns)
            files = ", ".join(map(quoted, self.files(table.name)))
            con.execute(
                f"CREATE VIEW {table.name} AS SELECT {columns} FROM {read(f'[{files}]')} AS t"
            )
            return
        with explained(self.place.url):
            found = _dataset(self.place, self.traces, table.name)
        # In a schema of its own, so that SHOW TABLES shows what a folder's does.
        con.execute("CREATE SCHEMA IF NOT EXISTS files")
        con.execute("USE files")
        con.from_arrow(found).create_view(table.name)
        con.execute("USE main")
        columns = ", ".join(
            f"CAST(t.{column.name} AS JSON) AS {column.name}"  # text to Arrow
            if column.type == "JSON"
            else f"t.{column.name}"
            for column in table.columns
        )
        con.execute(f"CREATE VIEW {table.name} AS SELECT {columns} FROM files.{table.name} AS t")


def read(files: str) -> str:
    """SQL that reads Parquet files of a warehouse, with the keys of their paths as columns."""
    return (
        f"read_parquet({files}, hive_partitioning = true, "
        "hive_types = {'run': VARCHAR, 'worker': VARCHAR, 'span': VARCHAR})"
    )


def _local(data: Path) -> Iterator[Trace]:
    for folder in sorted(data.glob("*/*/*")):
        keys = layout.keys(folder.relative_to(data).as_posix())
        if keys is None or not (folder / "traces.parquet").exists():
            continue
        files = {}
        for path in folder.glob("*.parquet"):
            stat = path.stat()
            files[path.stem] = Object(str(path), stat.st_size, stat.st_mtime_ns)
        yield Trace(*keys, files)


def _dataset(place: Place, traces: Iterable[Trace], table: str) -> object:
    """A table as Arrow reads it: as few requests as it takes, and many of them at once."""
    import pyarrow as pa
    from pyarrow import dataset

    parquet = dataset.ParquetFileFormat()
    fragments, largest = [], 1
    for trace in traces:
        if found := trace.files.get(table):
            largest = max(largest, found.bytes)
            keys = (dataset.field(key) == getattr(trace, key) for key in layout.KEYS)
            # Where the size is known, nobody asks for it.
            fragment = parquet.make_fragment(
                found.key, place.filesystem, reduce(and_, keys), file_size=found.bytes
            )
            fragments.append(fragment)
    if not fragments:
        raise OSError(f"holds no {table}.parquet: it is damaged; ingest again with --force")
    schema = fragments[0].physical_schema
    for key in layout.KEYS:
        schema = schema.append(pa.field(key, pa.string()))
    ahead = max(FEWEST_AHEAD, min(AT_ONCE, AHEAD_BYTES // largest))
    more_threads()

    class Ahead(dataset.FileSystemDataset):  # type: ignore[misc]  # Arrow has no types
        """Has more files under way than Arrow's four, which wait for their answers one by one."""

        def scanner(self, **options: object) -> object:
            return super().scanner(fragment_readahead=ahead, **options)

    return Ahead(fragments, schema, parquet, place.filesystem)
