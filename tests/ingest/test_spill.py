"""A trace that does not fit into memory is linked and written a statement at a time, to the same tables."""

from __future__ import annotations

import json
from pathlib import Path

import duckdb
import pytest

import tracewh
from tests.ingest.conftest import rows
from tracewh.ingest import database_pool, ingest_trace
from tracewh.ingest.api import ingest
from tracewh.ingest.database_pool import MEMORY_BYTES, Database, Limits, workers_and_limits
from tracewh.ingest.ingest_trace import _statements_at_once
from tracewh.schema import tables

SAMPLE = Path(tracewh.__file__).parent / "samples" / "resnet_workers_0"


def test_the_same_tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ingest([SAMPLE], tmp_path / "at_once")
    monkeypatch.setattr(ingest_trace, "_statements_at_once", lambda con: 1)
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


@pytest.mark.parametrize(
    ("cores", "size", "jobs", "workers", "limits"),
    [
        (2, 26 << 20, None, 2, Limits(1, MEMORY_BYTES // 2)),
        (16, 26 << 20, None, 2, Limits(8, MEMORY_BYTES // 2)),
        (64, 26 << 20, None, 2, Limits(8, MEMORY_BYTES // 2)),
        (
            64,
            26 << 20,
            16,
            16,
            Limits(4, MEMORY_BYTES // 2),
        ),  # as many as asked for, and not in less
        (64, 400_000, None, 13, Limits(4, MEMORY_BYTES // 13)),
        (4, 400_000, None, 4, Limits(1, MEMORY_BYTES // 4)),
        (2, 400_000, 1, 1, Limits(2, MEMORY_BYTES)),
    ],
)
def test_as_many_at_a_time_as_fit_into_memory(
    monkeypatch: pytest.MonkeyPatch,
    cores: int,
    size: int,
    jobs: int | None,
    workers: int,
    limits: Limits,
) -> None:
    monkeypatch.setattr("os.cpu_count", lambda: cores)
    assert workers_and_limits([1, size] * 32, jobs) == (workers, limits)


def test_many_ranks_on_as_many_cores(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All at once each would have 7 MiB, which is too little for any."""
    monkeypatch.setattr("os.cpu_count", lambda: 16)
    monkeypatch.setattr(database_pool, "MEMORY_BYTES", MEMORY_BYTES // 8)
    monkeypatch.setattr(database_pool, "_ALL_BYTES", database_pool._ALL_BYTES // 8)
    file = next(SAMPLE.glob("*.gz"))
    (tmp_path / "run").mkdir()
    for rank in range(16):
        (tmp_path / "run" / f"rank{rank}.pt.trace.json.gz").symlink_to(file)
    outcomes = ingest([tmp_path / "run"], tmp_path / "wh")
    assert [(each.status, each.reason) for each in outcomes] == [("ingested", "")] * 16


def test_files_that_are_in_already_take_no_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = []

    def asking(sizes: list[int], jobs: int | None) -> tuple[int, Limits]:
        asked.append(sizes)
        return workers_and_limits(sizes, jobs)

    monkeypatch.setattr(database_pool, "workers_and_limits", asking)
    first, second = sorted(SAMPLE.glob("*.gz"))
    ingest([first], tmp_path / "wh")
    ingest([first, second], tmp_path / "wh")
    ingest([first, second], tmp_path / "wh")
    assert asked == [[first.stat().st_size], [second.stat().st_size], []]


OPERATOR = {"ph": "X", "cat": "cpu_op", "name": "a", "pid": 1, "tid": 1, "ts": 1, "dur": 1}
MARK = {"ph": "i", "name": "a", "pid": 1, "tid": 1, "ts": 1, "s": "t", "args": {"a": "b" * 4000}}


@pytest.mark.parametrize(
    ("event", "count", "since"),
    [
        (OPERATOR, 10_000, None),
        (OPERATOR, 100_000, "linking"),  # little text, but all of it may be inside each other
        (MARK, 20_000, "reading"),  # 80 MB of text
    ],
)
def test_a_trace_is_kept_to_its_share_as_soon_as_it_may_need_more(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    event: dict[str, object],
    count: int,
    since: str | None,
) -> None:
    expected: list[bool] = []
    expect = Database.expect

    def noting(database: Database, size: int) -> None:
        expect(database, size)
        expected.append(database.is_large)

    monkeypatch.setattr(Database, "expect", noting)
    monkeypatch.setattr(database_pool, "MEMORY_BYTES", 64 << 20)
    file = tmp_path / "a.pt.trace.json"
    file.write_text(json.dumps({"traceEvents": [event] * count}))
    [outcome] = ingest([file], tmp_path / "wh", jobs=1)
    assert (outcome.status, outcome.events) == ("ingested", count)
    *reading, linking = expected
    assert (any(reading), linking) == (since == "reading", since is not None)
