"""Use of the CPUs in exports of Nsight Systems: context switches, or else samples."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import tracewh
from tests.nsys_exports import EPOCH, Rows, thread, tiny, write_sqlite

MS = 1_000_000
MAIN, LOADER = thread(7, 7), thread(7, 8)


def used(tmp_path: Path, **tables: Rows) -> list[tuple[Any, ...]]:
    """The rows of cpu_utilization, times in ms since the start of the session."""
    export: Mapping[str, Rows] = {**tiny(), "COMPOSITE_EVENTS": [], "SCHED_EVENTS": [], **tables}
    write_sqlite(tmp_path / "report.sqlite", export)
    [result] = tracewh.ingest([tmp_path / "report.sqlite"], tmp_path / "warehouse")
    assert result.status == "ingested"
    with tracewh.open(tmp_path / "warehouse") as warehouse:
        return (
            warehouse.view("cpu_utilization", 1)
            .project(f"scope, pid, (start_ns - {EPOCH}) / 1e6, user_pct, busy_pct")
            .fetchall()
        )


def test_the_time_of_all_threads(tmp_path: Path) -> None:
    # Main runs until 4 ms, and from 24 ms to the end, 30 ms; the loader from 2 to 7 ms, and from 12 to 14 ms.
    # Another process is not counted.
    #   0 .. 10   4 + 5 = 9 of 10 ms;   10 .. 20   2 of 10 ms;   20 .. 30   6 of 10 ms
    switches = [
        (0, 1, LOADER), (2, 1, LOADER), (4, 0, MAIN), (7, 0, LOADER), (12, 1, LOADER), (14, 0, LOADER),
        (24, 1, MAIN), (30, 0, LOADER), (5, 1, thread(9, 9)), (25, 0, thread(9, 9)),
    ]  # fmt: skip
    rows = [
        {"start": at * MS, "cpu": 1, "isSchedIn": is_in, "globalTid": of}
        for at, is_in, of in switches[1:]
    ]
    rows.append({"start": 0, "cpu": 1, "isSchedIn": 0, "globalTid": LOADER})
    assert used(tmp_path, SCHED_EVENTS=rows) == [
        ("process", 7, 10.0, None, 90.0),
        ("process", 7, 20.0, None, 20.0),
        ("process", 7, 30.0, None, 60.0),
    ]


def test_samples_where_there_are_no_switches(tmp_path: Path) -> None:
    # A sample per 2 ms of running: main ran from 0 to 10 ms and from 20 to 24 ms, the loader from 2 to 8 ms. The
    # distances are 2 ms, and once 12 ms: a sample stands for 2 ms.
    #   0 .. 10   5 + 3 samples, 16 of 10 ms;   10 .. 20   none;   20 .. 24   2 samples, 4 of 4 ms
    rows = [
        {"id": 1, "start": at * MS, "cpu": 1, "globalTid": of}
        for of, times in ((MAIN, (2, 4, 6, 8, 10, 22, 24)), (LOADER, (4, 6, 8)))
        for at in times
    ]
    assert used(tmp_path, COMPOSITE_EVENTS=rows) == [
        ("process", 7, 10.0, None, 160.0),
        ("process", 7, 20.0, None, 0.0),
        ("process", 7, 24.0, None, 100.0),
    ]


def test_a_damaged_time_ends_no_run(tmp_path: Path) -> None:
    """Nobody knows how long the recording was. Main ran from 1 to 3 ms, and from 5 ms until a time 3 years later."""
    rows = [
        {"start": at * MS, "cpu": 1, "isSchedIn": is_in, "globalTid": MAIN}
        for at, is_in in ((1, 1), (3, 0), (5, 1), (10**11, 0))
    ]
    assert used(tmp_path, SCHED_EVENTS=rows) == []
    with tracewh.open(tmp_path / "warehouse") as warehouse:
        samples = "SELECT value FROM counter_samples WHERE category = 'cpu_time'"
        assert warehouse.sql(samples).fetchall() == [(2.0 * MS,)]


def test_one_sample_tells_no_time(tmp_path: Path) -> None:
    rows = [{"id": 1, "start": MS, "cpu": 1, "globalTid": MAIN}]
    assert used(tmp_path, COMPOSITE_EVENTS=rows) == []
