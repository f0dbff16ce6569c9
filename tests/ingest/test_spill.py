"""A trace that does not fit into memory is linked and written a statement at a time, to the same tables."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest

import tracewh
from tests.ingest.conftest import rows
from tracewh.ingest import trace
from tracewh.ingest.api import ingest
from tracewh.ingest.tables import tables
from tracewh.ingest.trace import _statements_at_once

SAMPLE = Path(tracewh.__file__).parent / "samples" / "resnet_workers_0"


def test_the_same_tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ingest([SAMPLE], tmp_path / "at_once")
    monkeypatch.setattr(trace, "_statements_at_once", lambda con: 1)
    ingest([SAMPLE], tmp_path / "one_by_one")
    for table in tables():
        assert rows(tmp_path / "one_by_one", table) == rows(tmp_path / "at_once", table), table
    assert rows(tmp_path / "one_by_one", "host_events")


def test_one_statement_at_a_time_once_the_events_spill(tmp_path: Path) -> None:
    config = {"memory_limit": "30MB", "temp_directory": str(tmp_path), "threads": "2"}
    with duckdb.connect(config=config) as con:  # type: ignore[arg-type]
        assert _statements_at_once(con) == 2
        con.execute("CREATE TABLE t AS SELECT r.range, random() AS x FROM range(5_000_000) AS r")
        assert _statements_at_once(con) == 1
        assert con.execute("SELECT current_setting('threads')").fetchone() == (1,)
