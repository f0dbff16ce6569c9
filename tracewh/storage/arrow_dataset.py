"""Parquet files of a store as one Arrow dataset that DuckDB can query."""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce
from operator import and_
from typing import Any

from tracewh.storage import layout
from tracewh.storage.layout import Object, TraceKeys
from tracewh.storage.listing import AT_ONCE, raise_io_threads
from tracewh.storage.remote.location import Location

#: Most bytes of large files to read ahead, and fewest files to read ahead (Arrow's default).
AHEAD_BYTES, FEWEST_AHEAD = 256 << 20, 4


def dataset(location: Location, files: Iterable[tuple[TraceKeys | None, Object]]) -> Any:
    """An Arrow dataset over files, with few requests per file and many requests at once.

    Args:
        location: The store.
        files: Each file with its run, worker and span, or with None if it has them as columns. At least
            one file, and all of one kind.

    Raises:
        OSError, pyarrow.ArrowException: The first file cannot be read.
    """
    import pyarrow as pa
    from pyarrow import dataset

    parquet = dataset.ParquetFileFormat()
    fragments, largest, keys = [], 1, None
    for keys, found in files:
        largest = max(largest, found.bytes)
        partition = zip(layout.KEYS, keys or (), strict=False)
        filters = [dataset.field(key) == value for key, value in partition]
        # A known size saves a request.
        fragment = parquet.make_fragment(
            found.key,
            location.filesystem,
            reduce(and_, filters) if filters else None,
            file_size=found.bytes,
        )
        fragments.append(fragment)
    schema = fragments[0].physical_schema
    for key in layout.KEYS if keys else ():
        schema = schema.append(pa.field(key, pa.string()))
    ahead = max(FEWEST_AHEAD, min(AT_ONCE, AHEAD_BYTES // largest))
    raise_io_threads()

    class Ahead(dataset.FileSystemDataset):  # type: ignore[misc]  # Arrow has no types
        """Reads ahead more files than Arrow's default of four, whose latencies would add up."""

        def scanner(self, **options: object) -> object:
            return super().scanner(fragment_readahead=ahead, **options)

    return Ahead(fragments, schema, parquet, location.filesystem)
