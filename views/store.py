"""A warehouse in a store, to read: its Parquet files as Arrow datasets.

DuckDB's own reader of S3 is an extension that has to be downloaded, and knows neither Azure's nor
Hadoop's URLs; Arrow reads from all that tracewh ingests from, filters and columns pushed down.
"""

from __future__ import annotations

import errno
from collections import defaultdict
from typing import TYPE_CHECKING

from tracewh.remote import explained, locate

if TYPE_CHECKING:
    import duckdb

    from tracewh.views.spec import Spec


class StoredFiles:
    """The Parquet files of a warehouse, listed once.

    Args:
        url: The warehouse's folder.

    Raises:
        OSError: It holds no traces, or the store cannot be asked; one line with the remedy.
    """

    def __init__(self, url: str) -> None:
        from pyarrow.fs import FileSelector

        self._place = locate(url)
        self.url = self._place.url
        self._data = f"{self._place.key}/data"
        self._files: dict[str, list[str]] = defaultdict(list)
        with explained(self.url):
            selector = FileSelector(self._data, allow_not_found=True, recursive=True)
            for info in self._place.filesystem.get_file_info(selector):
                below = info.path.removeprefix(self._data).strip("/").split("/")
                if info.is_file and info.extension == "parquet" and len(below) == 4:
                    self._files[below[3].removesuffix(".parquet")].append(info.path)
        if "traces" not in self._files:
            said = f"holds no traces; copy a warehouse's folder data/ to {self.url}/data"
            raise FileNotFoundError(errno.ENOENT, said, self.url)

    def create_view(self, con: duckdb.DuckDBPyConnection, table: Spec) -> None:
        """Create a table's view over its files.

        Raises:
            OSError: The files cannot be read.
        """
        import pyarrow as pa
        from pyarrow import dataset

        keys = pa.schema([(key, pa.string()) for key in ("run", "worker", "span")])
        with explained(self.url):
            found = dataset.dataset(
                sorted(self._files[table.name]),
                filesystem=self._place.filesystem,
                format="parquet",
                partitioning=dataset.partitioning(keys, flavor="hive"),
                partition_base_dir=self._data,
            )
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
