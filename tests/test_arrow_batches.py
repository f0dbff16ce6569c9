"""A query that is read while it runs may fail after its first rows."""

from __future__ import annotations

from collections.abc import Iterator

import duckdb
import pyarrow as pa
import pytest

from tracewh.arrow_batches import read_batches
from tracewh.cli.diagnostics import sql_error

SCHEMA = pa.schema([("n", pa.int64())])


@pytest.fixture
def con() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as opened:
        yield opened


def test_all_rows_are_read(con: duckdb.DuckDBPyConnection) -> None:
    batches = read_batches(con.sql("SELECT range FROM range(5000)").to_arrow_reader(2000))
    assert [value for batch in batches for value in batch.column(0).to_pylist()] == [*range(5000)]


def test_a_query_that_fails_late(con: duckdb.DuckDBPyConnection) -> None:
    late = "SELECT CASE WHEN range = 3000000 THEN error('too late') END FROM range(4000000)"
    # Another thread would run ahead, and may fail before the first rows are read.
    con.execute("SET threads = 1")
    batches = read_batches(con.sql(late).to_arrow_reader(1000))
    assert next(batches).num_rows > 0
    with pytest.raises(duckdb.Error, match="^Invalid Input Error: too late$"):
        list(batches)


def test_one_that_runs_out_of_memory_late_says_what_to_do() -> None:
    def rows() -> Iterator[pa.RecordBatch]:
        yield pa.record_batch([[1]], schema=SCHEMA)
        raise OSError(
            "Out of Memory Error: failed to pin block of size 256.0 KiB (95.1 MiB/95.3 MiB used)\n\n"
            "Possible solutions:\n* Reducing the number of threads (SET threads=X)\n"
        )

    batches = read_batches(pa.RecordBatchReader.from_batches(SCHEMA, rows()))
    assert next(batches).num_rows == 1
    with pytest.raises(duckdb.OutOfMemoryException) as failed:
        next(batches)
    assert sql_error(failed.value).startswith(
        "the query needs more memory than its limit of 95.3 MiB"
    )
