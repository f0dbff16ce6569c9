"""Parquet files of a store as one Arrow dataset, which DuckDB reads."""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce
from operator import and_
from typing import Any

from tracewh.storage import layout
from tracewh.storage.layout import Object
from tracewh.storage.listing import AT_ONCE, more_threads
from tracewh.storage.remote.location import Location

#: How much of large files may be under way at once; but Arrow has so many files under way at least.
AHEAD_BYTES, FEWEST_AHEAD = 256 << 20, 4


def dataset(location: Location, files: Iterable[tuple[tuple[str, str, str] | None, Object]]) -> Any:
    """Files as Arrow reads them: as few requests as it takes, and many of them at once.

    Args:
        location: The store.
        files: Run, worker and span of each, None where it holds them as columns; at least one, and
            all of one kind.

    Raises:
        OSError, pyarrow.ArrowException: The first cannot be read.
    """
    import pyarrow as pa
    from pyarrow import dataset

    parquet = dataset.ParquetFileFormat()
    fragments, largest, keys = [], 1, None
    for keys, found in files:
        largest = max(largest, found.bytes)
        told = zip(layout.KEYS, keys or (), strict=False)
        within = [dataset.field(key) == value for key, value in told]
        # Where the size is known, nobody asks for it.
        fragment = parquet.make_fragment(
            found.key,
            location.filesystem,
            reduce(and_, within) if within else None,
            file_size=found.bytes,
        )
        fragments.append(fragment)
    schema = fragments[0].physical_schema
    for key in layout.KEYS if keys else ():
        schema = schema.append(pa.field(key, pa.string()))
    ahead = max(FEWEST_AHEAD, min(AT_ONCE, AHEAD_BYTES // largest))
    more_threads()

    class Ahead(dataset.FileSystemDataset):  # type: ignore[misc]  # Arrow has no types
        """Has more files under way than Arrow's four, which wait for their answers one by one."""

        def scanner(self, **options: object) -> object:
            return super().scanner(fragment_readahead=ahead, **options)

    return Ahead(fragments, schema, parquet, location.filesystem)
