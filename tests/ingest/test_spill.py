"""A trace that does not fit into memory is linked and written a statement at a time, to the same tables."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
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


GIB = 1 << 30


@pytest.mark.parametrize(
    ("memory", "cores", "size", "jobs", "workers", "limits"),
    [
        (64 * GIB, 2, 26 << 20, None, 2, Limits(1, MEMORY_BYTES // 2)),
        (64 * GIB, 16, 26 << 20, None, 2, Limits(8, MEMORY_BYTES // 2)),
        (64 * GIB, 64, 26 << 20, None, 2, Limits(8, MEMORY_BYTES // 2)),
        # As many as asked for, and not in less.
        (64 * GIB, 64, 26 << 20, 16, 16, Limits(4, MEMORY_BYTES // 2)),
        (64 * GIB, 64, 400_000, None, 13, Limits(4, MEMORY_BYTES // 13)),
        (64 * GIB, 4, 400_000, None, 4, Limits(1, MEMORY_BYTES // 4)),
        (64 * GIB, 2, 400_000, 1, 1, Limits(2, MEMORY_BYTES)),
        # 512 MiB are for Python, its libraries and the text.
        (3 * GIB // 2, 2, 26 << 20, None, 2, Limits(1, MEMORY_BYTES // 2)),
        (GIB, 2, 26 << 20, None, 1, Limits(2, GIB // 2)),
        (GIB, 16, 400_000, None, 7, Limits(2, GIB // 2 // 7)),
        (GIB // 2, 2, 26 << 20, None, 1, Limits(2, GIB // 8)),
    ],
)
def test_as_many_at_a_time_as_fit_into_memory(
    monkeypatch: pytest.MonkeyPatch,
    memory: int,
    cores: int,
    size: int,
    jobs: int | None,
    workers: int,
    limits: Limits,
) -> None:
    monkeypatch.setattr("os.cpu_count", lambda: cores)
    monkeypatch.setattr(database_pool, "memory_of_machine", lambda: memory)
    assert workers_and_limits([1, size] * 32, jobs) == (workers, limits)


def test_small_traces_fit_into_any_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database_pool, "memory_of_machine", pytest.fail)
    assert workers_and_limits([400_000] * 64, 2) == (2, Limits(1, MEMORY_BYTES // 2))


def test_the_memory_of_a_container_is_that_of_the_machine(tmp_path: Path) -> None:
    if not shutil.which("unshare") or not Path("/proc/self/cgroup").is_file():
        pytest.skip("needs Linux with unshare")
    limit = 700 << 20
    for line in Path("/proc/self/cgroup").read_text().splitlines():
        _, controllers, group = line.split(":", 2)
        if controllers in ("", "memory"):
            folder = tmp_path / controllers / group.lstrip("/")
            for place in (tmp_path / controllers, folder):
                place.mkdir(parents=True, exist_ok=True)
                name = "memory.limit_in_bytes" if controllers else "memory.max"
                (place / name).write_text(f"{limit}\n")
    code = "from tracewh.ingest.database_pool import memory_of_machine; print(memory_of_machine())"
    command = 'mount --bind "$0" /sys/fs/cgroup || exit 99; exec "$1" -c "$2"'
    done = subprocess.run(
        ["unshare", *([] if os.geteuid() == 0 else ["-r"]), "--mount", "sh", "-c", command,
         str(tmp_path), sys.executable, code],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    if done.returncode in (1, 99):
        pytest.skip("needs the right to mount")
    assert done.stderr == ""
    assert int(done.stdout) == limit


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
