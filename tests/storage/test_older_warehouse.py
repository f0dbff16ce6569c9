"""A warehouse whose traces were ingested before a table existed: the traces have no file of it, and no rows."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import duckdb
import pytest

import tracewh
from tests.conftest import ROOT
from tracewh.ingest.reconstruct import events
from tracewh.schema import later_tables
from tracewh.storage.checks import check
from tracewh.storage.compaction import compact
from tracewh.storage.layout import MANIFEST
from tracewh.views.database import write_database

PAIR = ROOT / "samples" / "ddp_gloo"
LATER = later_tables()


def forget(folder: Path) -> None:
    """Leave a trace as a version of tracewh without the later tables has written it."""
    record = json.loads((folder / MANIFEST).read_text())
    for table in LATER:
        (folder / f"{table}.parquet").unlink()
        del record["files"][f"{table}.parquet"]
    (folder / MANIFEST).write_text(json.dumps(record))


@pytest.fixture(scope="module")
def ingested(tmp_path_factory: pytest.TempPathFactory) -> Path:
    warehouse = tmp_path_factory.mktemp("old") / "wh"
    tracewh.ingest([PAIR], warehouse, run="old")
    for folder in (warehouse / "data").glob("*/*/*"):
        forget(folder)
    return warehouse


@pytest.fixture
def old(ingested: Path, tmp_path: Path) -> Path:
    """A warehouse with two traces, none of which has a file of a later table."""
    return shutil.copytree(ingested, tmp_path / "wh")


def rows(warehouse: Path, sql: str) -> list[tuple[object, ...]]:
    with tracewh.open(warehouse) as opened:
        return opened.sql(sql).fetchall()


def outside(warehouse: Path, sql: str) -> list[tuple[object, ...]]:
    """The same as another program sees it, by tracewh.duckdb."""
    with duckdb.connect(str(warehouse / "tracewh.duckdb"), read_only=True) as con:
        return con.execute(sql).fetchall()


def test_there_are_later_tables() -> None:
    assert "data_pipeline_batches" in LATER and "host_events" not in LATER


def test_the_tables_are_empty(old: Path) -> None:
    write_database(old)
    for table in LATER:
        assert rows(old, f"SELECT count(*) FROM {table}") == [(0,)]
        assert outside(old, f"SELECT count(*) FROM {table}") == [(0,)]
    with tracewh.open(old) as warehouse:
        for table in LATER:
            assert warehouse.connection.execute(f"FROM {table}").fetchall() == []
        assert warehouse.files(table) == []


def test_nothing_is_damaged(old: Path) -> None:
    assert [each.problems for each in check(old)] == [(), ()]


def test_a_newer_trace_beside_older_ones(old: Path) -> None:
    write_database(old)
    tracewh.ingest([PAIR], old, run="new")
    table = "data_pipeline_batches"
    folder = next((old / "data" / "run=new").glob("*/*"))
    file = folder / f"{table}.parquet"
    with duckdb.connect() as con:
        con.execute(f"CREATE TABLE t AS FROM read_parquet('{file}', hive_partitioning = false)")
        con.execute("INSERT INTO t (batch) VALUES (7)")
        con.execute(f"COPY t TO '{file}' (FORMAT parquet)")
    found = [("new", 7)]
    sql = f"SELECT t.run, t.batch FROM {table} AS t"
    assert rows(old, sql) == found and outside(old, sql) == found
    assert rows(old, f"{sql} WHERE t.run = 'old'") == []


def test_merged_files(old: Path) -> None:
    assert "data_pipeline_batches" not in compact(old, "old").tables
    assert rows(old, "SELECT count(*) FROM data_pipeline_batches") == [(0,)]
    assert rows(old, "SELECT count(*) FROM traces AS t") == [(2,)]


def test_a_trace_is_saved(old: Path) -> None:
    folder = next((old / "data").glob("*/*/*"))
    assert sum(1 for _ in events(folder)) > 1000


def test_a_table_of_no_later_version_must_exist(old: Path) -> None:
    for file in (old / "data").glob("*/*/*/steps.parquet"):
        file.unlink()
    assert any("steps.parquet" in p.file for each in check(old) for p in each.problems)
