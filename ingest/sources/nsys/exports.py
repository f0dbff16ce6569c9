"""An export as relations of a DuckDB connection: SQLite by ADBC, which yields Arrow, or Parquet."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Collection, Iterator
from contextlib import closing, suppress
from functools import cached_property
from pathlib import Path
from typing import Protocol

import duckdb
import pyarrow as pa

from tracewh.arrow_columns import joined
from tracewh.errors import RefusedError
from tracewh.ingest.sources.files import TraceFolder
from tracewh.ingest.sources.nsys.schema import TABLES, NsysTable
from tracewh.ingest.sources.sqlite_files import missing_bytes, opened, uri
from tracewh.quoting import quote_file, quote_identifier

#: Rows per batch. A column gets its type from the first batch, so the NULLs are replaced in SQLite.
_BATCH_ROWS = 1 << 16
_NULL = -(2**63)


class Export(Protocol):
    """The tables of an export."""

    def columns(self, table: str) -> set[str]:
        """The columns of a table; none if it is missing."""

    def processes(self, table: str) -> set[int]:
        """The processes that have rows in a table: globalPid >> 24."""

    def relation(
        self,
        con: duckdb.DuckDBPyConnection,
        table: str,
        where: str = "",
        only: Collection[str] = (),
    ) -> str:
        """SQL for the rows of a table, with the columns of `schema`, to be read once.

        Args:
            con: The connection that will read it.
            table: One of `schema.TABLES`.
            where: A condition on its columns.
            only: The columns that are needed, if not all are; others may be NULL.
        """

    def rows(self, table: str) -> int:
        """About the number of rows of a table, without reading it."""

    def check(self, failed: duckdb.Error) -> None:
        """Raise what went wrong while DuckDB read a relation, if anything did.

        Args:
            failed: The error of the statement that read it.
        """


class SqliteExport:
    """An export as SQLite file.

    Args:
        path: The file.
        on_rows: Called with the number of rows read, as they are read.
    """

    def __init__(self, path: Path, on_rows: Callable[[int], None] = lambda _: None) -> None:
        if missing := missing_bytes(path):
            raise RefusedError(f"cut off: {missing:,} bytes are missing at the end; copy it again")
        self._path, self.on_rows = path, on_rows
        self._error: BaseException | None = None

    @cached_property
    def _columns(self) -> dict[str, set[str]]:
        try:
            with opened(self._path) as con:
                names = con.execute("SELECT s.name FROM sqlite_master AS s WHERE s.type = 'table'")
                return {
                    name: {
                        row[1]
                        for row in con.execute(f"PRAGMA table_info({quote_identifier(name)})")
                    }
                    for (name,) in names.fetchall()
                    if name in TABLES
                }
        except sqlite3.Error as error:
            raise _damaged(error) from None

    def columns(self, table: str) -> set[str]:
        """See `Export.columns`."""
        return self._columns.get(table, set())

    def processes(self, table: str) -> set[int]:
        """See `Export.processes`."""
        owner = TABLES[table].owner
        if owner not in self.columns(table):
            return set()
        try:
            with opened(self._path) as con:
                rows = con.execute(
                    f"SELECT DISTINCT t.{owner} >> 24 FROM {table} AS t WHERE t.{owner} IS NOT NULL"
                )
                return {int(key) for (key,) in rows}
        except sqlite3.Error as error:
            raise _damaged(error) from None

    def rows(self, table: str) -> int:
        """See `Export.rows`."""
        if not self.columns(table):
            return 0
        with suppress(sqlite3.Error), opened(self._path) as con:
            [(last,)] = con.execute(f"SELECT max(t.rowid) FROM {table} AS t").fetchall()
            return int(last or 0)
        return 0

    def relation(
        self,
        con: duckdb.DuckDBPyConnection,
        table: str,
        where: str = "",
        only: Collection[str] = (),
    ) -> str:
        """See `Export.relation`."""
        spec, known = TABLES[table], self.columns(table)
        present = known.intersection(only) if only else known
        if not present:
            return _empty(spec)
        numbers = [name for name in spec.numbers if name in present]
        texts = [name for name in spec.texts if name in present]
        read = [f'coalesce(CAST(t."{name}" AS INTEGER), {_NULL}) AS "{name}"' for name in numbers]
        read += [f'CAST(coalesce(t."{name}", \'\') AS TEXT) AS "{name}"' for name in texts]
        sql = f"SELECT {', '.join(read)} FROM {table} AS t"
        if where:
            sql += f" WHERE {where}"
        schema = pa.schema(
            [*((name, pa.int64()) for name in numbers), *((name, pa.string()) for name in texts)]
        )
        name = f"nsys_stream_{table}"
        with suppress(duckdb.Error):
            con.unregister(name)
        con.register(name, pa.RecordBatchReader.from_batches(schema, self._batches(sql, schema)))
        values = [
            f'nullif(s."{each}", {_NULL}) AS "{each}"'
            if each in numbers
            else f'NULL::BIGINT AS "{each}"'
            for each in spec.numbers
        ]
        values += [
            f'nullif(s."{each}", \'\') AS "{each}"'
            if each in texts
            else f'NULL::VARCHAR AS "{each}"'
            for each in spec.texts
        ]
        return f"(SELECT {', '.join(values)} FROM {name} AS s)"

    def _batches(self, sql: str, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
        from adbc_driver_sqlite import dbapi

        try:
            with closing(dbapi.connect(uri(self._path))) as con, closing(con.cursor()) as cursor:
                cursor.adbc_statement.set_options(
                    **{"adbc.sqlite.query.batch_rows": str(_BATCH_ROWS)}
                )
                cursor.execute(sql)
                for batch in cursor.fetch_record_batch():
                    self.on_rows(len(batch))
                    yield _with_valid_text(batch.cast(schema))
        except BaseException as error:
            self._error = error
            raise

    def check(self, failed: duckdb.Error) -> None:
        """See `Export.check`."""
        error, self._error = self._error, None
        if isinstance(error, GeneratorExit) or error is None:
            return
        if isinstance(error, InterruptedError):
            raise error
        raise _damaged(error)


class ParquetExport:
    """An export as a folder with one Parquet file per table.

    Args:
        folder: The folder.
    """

    def __init__(self, folder: TraceFolder) -> None:
        self._path, self._members = Path(folder.path), set(folder.members)
        self._known: dict[str, set[str]] = {}
        self._unsigned: dict[str, set[str]] = {}

    def _file(self, table: str) -> Path:
        return self._path / f"{table}.parquet"

    def columns(self, table: str) -> set[str]:
        """See `Export.columns`."""
        import pyarrow.parquet as pq

        if f"{table}.parquet" not in self._members:
            return set()
        if table not in self._known:
            try:
                schema = pq.read_schema(self._file(table))
            except (OSError, pa.ArrowException) as error:
                raise RefusedError(f"{table}.parquet: {_line(error)}; copy it again") from None
            self._known[table] = set(schema.names)
            self._unsigned[table] = {each.name for each in schema if each.type == pa.uint64()}
        return self._known[table]

    def processes(self, table: str) -> set[int]:
        """See `Export.processes`."""
        owner = TABLES[table].owner
        if owner not in self.columns(table):
            return set()
        try:
            with duckdb.connect() as con:
                rows = con.execute(
                    f"SELECT DISTINCT ({self._value(table, owner)})::BIGINT >> 24"
                    f' FROM {self._scan(table)} AS t WHERE t."{owner}" IS NOT NULL'
                ).fetchall()
        except duckdb.Error as error:
            self.check(error, f"{table}.parquet")
            raise
        return {int(key) for (key,) in rows}

    def rows(self, table: str) -> int:
        """See `Export.rows`."""
        import pyarrow.parquet as pq

        return int(pq.read_metadata(self._file(table)).num_rows) if self.columns(table) else 0

    def relation(
        self,
        con: duckdb.DuckDBPyConnection,
        table: str,
        where: str = "",
        only: Collection[str] = (),
    ) -> str:
        """See `Export.relation`. DuckDB reads the columns that a statement needs."""
        spec, present = TABLES[table], self.columns(table)
        if not present:
            return _empty(spec)
        casts = [(name, "BIGINT") for name in spec.numbers] + [
            (name, "VARCHAR") for name in spec.texts
        ]
        values = [
            f'({self._value(table, name)})::{type_} AS "{name}"'
            if name in present
            else f'NULL::{type_} AS "{name}"'
            for name, type_ in casts
        ]
        inner = f"SELECT {', '.join(values)} FROM {self._scan(table)} AS t"
        return f"(SELECT t.* FROM ({inner}) AS t WHERE {where})" if where else f"({inner})"

    def _value(self, table: str, name: str) -> str:
        """SQL for a column. What is above the largest number with a sign keeps its bits, as in SQLite."""
        column = f't."{name}"'
        if name not in self._unsigned[table]:
            return column
        return f"coalesce(try_cast({column} AS BIGINT), {column}::HUGEINT - {2**64})"

    def _scan(self, table: str) -> str:
        return f"read_parquet({quote_file(self._file(table))}, hive_partitioning = false)"

    def check(self, failed: duckdb.Error, file: str = "a Parquet file") -> None:
        """See `Export.check`. What DuckDB's reader of Parquet finds has no class of its own, or names the file."""
        said = _line(failed)
        named = next((name for name in self._members if f'/{name}"' in said), "")
        if named or type(failed) is duckdb.Error:
            raise RefusedError(f"{named or file} is damaged; copy it again")


def _with_valid_text(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Replace bytes that are not UTF-8: SQLite does not check texts, and DuckDB fails on them."""
    try:
        batch.validate(full=True)
    except pa.ArrowInvalid:
        columns = [
            joined(
                [
                    text.decode("utf-8", "replace").encode()
                    for text in column.cast(pa.binary()).to_pylist()
                ]
            )
            if column.type == pa.string()
            else column
            for column in batch.columns
        ]
        return pa.record_batch(columns, batch.schema)
    return batch


def _empty(spec: NsysTable) -> str:
    values = [f'NULL::BIGINT AS "{name}"' for name in spec.numbers]
    values += [f'NULL::VARCHAR AS "{name}"' for name in spec.texts]
    return f"(SELECT {', '.join(values)} WHERE false)"


def _damaged(error: BaseException) -> RefusedError:
    return RefusedError(f"damaged: {_line(error)}; export it again")


def _line(error: BaseException) -> str:
    return str(error).partition("\n")[0].strip()
