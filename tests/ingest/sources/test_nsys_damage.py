"""Damaged exports are refused with one line, or what is whole is ingested with a reason; nothing else is lost."""

from __future__ import annotations

import json
import shutil
import sqlite3
import subprocess
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

import tracewh
from tests.nsys_exports import EPOCH, Tables, thread, tiny, write_parquet, write_sqlite

NOT_A_TRACE = {
    "empty": (b"", "not a Kineto trace: the file is empty"),
    "zeros": (bytes(5000), "not a Kineto trace: the file is empty"),
    "wrong magic": (
        b"SQLite format 2\0" + bytes(500),
        "not a Kineto trace: not a JSON object",
    ),
}


def _ingest(path: Path, warehouse: Path) -> tuple[str, str]:
    """Ingest a file beside a good one, which must not be affected."""
    good = write_sqlite(warehouse.parent / "good.sqlite", tiny())
    results = {
        Path(str(each.source)).name: each for each in tracewh.ingest([path, good], warehouse)
    }
    assert results["good.sqlite"].status == "ingested"
    found = results[path.name]
    assert "\n" not in found.reason and str(path.parent) not in found.reason
    with tracewh.open(warehouse) as opened:
        stored = opened.sql("SELECT t.trace_name FROM traces AS t ORDER BY t.trace_name").fetchall()
    assert ("good",) in stored
    assert len(stored) == (2 if found.status == "ingested" else 1)
    return found.status, found.reason


def _write_bad(folder: Path, form: str, tables: Tables) -> Path:
    """Write an export as SQLite or as a folder of Parquet files."""
    if form == "sqlite":
        return write_sqlite(folder / "bad.sqlite", tables)
    return write_parquet(folder / "bad_pqtdir", tables)


@pytest.mark.parametrize("kind", NOT_A_TRACE)
def test_what_is_no_database(tmp_path: Path, kind: str) -> None:
    content, reason = NOT_A_TRACE[kind]
    (tmp_path / "bad.sqlite").write_bytes(content)
    assert _ingest(tmp_path / "bad.sqlite", tmp_path / "warehouse") == ("refused", reason)


@pytest.mark.parametrize("share", [0.99, 0.5, 0.1])
def test_a_cut_file(tmp_path: Path, share: float) -> None:
    path = write_sqlite(tmp_path / "bad.sqlite", tiny())
    size = path.stat().st_size
    with path.open("r+b") as file:
        file.truncate(int(size * share))
    missing = size - int(size * share)
    assert _ingest(path, tmp_path / "warehouse") == (
        "refused",
        f"cut off: {missing:,} bytes are missing at the end; copy it again",
    )


def test_a_few_bytes(tmp_path: Path) -> None:
    path = write_sqlite(tmp_path / "bad.sqlite", tiny())
    with path.open("r+b") as file:
        file.truncate(50)
    assert _ingest(path, tmp_path / "warehouse") == (
        "refused",
        "cut off: 50 bytes are missing at the end; copy it again",
    )


def test_overwritten_pages(tmp_path: Path) -> None:
    """The size is right, and the pages of a table are not."""
    path = tmp_path / "bad.sqlite"
    tables = dict(tiny())
    tables["NVTX_EVENTS"] = [{**tables["NVTX_EVENTS"][1], "start": at} for at in range(5000)]
    write_sqlite(path, tables)
    with path.open("r+b") as file:
        file.seek(path.stat().st_size // 2)
        file.write(b"\xff" * 8192)
    status, reason = _ingest(path, tmp_path / "warehouse")
    assert status == "refused"
    assert reason.startswith("damaged: ") and reason.endswith("; export it again")
    assert "malformed" in reason


def test_no_rows_at_all(tmp_path: Path) -> None:
    kept = ("StringIds", "META_DATA_EXPORT", "PROCESSES")
    path = write_sqlite(tmp_path / "bad.sqlite", {name: tiny()[name] for name in kept})
    assert _ingest(path, tmp_path / "warehouse") == (
        "refused",
        (
            "an Nsight Systems export without CUDA calls, kernels and NVTX ranges; "
            "record with: nsys profile --trace=cuda,nvtx,osrt"
        ),
    )


@pytest.mark.parametrize("table", ["CUPTI_ACTIVITY_KIND_KERNEL", "NVTX_EVENTS", "OSRT_API"])
def test_a_cut_parquet_file(tmp_path: Path, table: str) -> None:
    folder = write_parquet(tmp_path / "bad_pqtdir", tiny())
    path = folder / f"{table}.parquet"
    with path.open("r+b") as file:
        file.truncate(path.stat().st_size // 2)
    status, reason = _ingest(folder, tmp_path / "warehouse")
    assert status == "refused"
    assert reason.startswith(f"{table}.parquet: ") and reason.endswith("; copy it again")


@pytest.mark.parametrize(
    ("table", "first", "last", "named"),
    [
        ("NVTX_EVENTS", 1000, 3000, "NVTX_EVENTS.parquet"),
        # It is read to find the processes, and DuckDB does not say which file is damaged.
        ("CUPTI_ACTIVITY_KIND_RUNTIME", 10, 600, "CUPTI_ACTIVITY_KIND_RUNTIME.parquet"),
        ("OSRT_API", 10, 60, "a Parquet file"),
    ],
)
def test_overwritten_bytes_of_a_parquet_file(
    tmp_path: Path, table: str, first: int, last: int, named: str
) -> None:
    tables = dict(tiny())
    tables["NVTX_EVENTS"] = [{**tables["NVTX_EVENTS"][1], "start": at} for at in range(5000)]
    folder = write_parquet(tmp_path / "bad_pqtdir", tables)
    with (folder / f"{table}.parquet").open("r+b") as file:
        file.seek(first)
        file.write(b"\xff" * (last - first))
    [result] = tracewh.ingest([folder], tmp_path / "warehouse")
    assert (result.status, result.reason) == ("refused", f"{named} is damaged; copy it again")


def test_a_missing_parquet_file_is_a_table_without_rows(tmp_path: Path) -> None:
    folder = write_parquet(tmp_path / "bad_pqtdir", tiny())
    (folder / "OSRT_API.parquet").unlink()
    (folder / "META_DATA_EXPORT.parquet").unlink()
    assert _ingest(folder, tmp_path / "warehouse") == ("ingested", "")


def test_a_column_of_another_type(tmp_path: Path) -> None:
    """SQLite holds any value in any column: a text is no time, and a row without a time no event."""
    tables = dict(tiny())
    tables["CUPTI_ACTIVITY_KIND_KERNEL"] = [
        *tables["CUPTI_ACTIVITY_KIND_KERNEL"],
        {
            **tables["CUPTI_ACTIVITY_KIND_KERNEL"][0],
            "gridX": "many",
            "registersPerThread": b"\x00\xff",
        },
        {**tables["CUPTI_ACTIVITY_KIND_KERNEL"][0], "start": None},
    ]
    path = write_sqlite(tmp_path / "bad.sqlite", tables)
    assert _ingest(path, tmp_path / "warehouse") == ("ingested", "")
    with tracewh.open(tmp_path / "warehouse") as opened:
        rows = opened.sql(
            "SELECT d.grid[1] FROM device_events AS d WHERE d.worker = 'bad' AND d.category = 'kernel'"
            " ORDER BY d.event_id"
        ).fetchall()
    assert sorted(rows) == [(0,), (8,)]


_HUGE = 9 * 10**18
#: What makes the rows of each table damaged, per row.
_DAMAGE: dict[str, list[dict[str, Any]]] = {
    "CUPTI_ACTIVITY_KIND_KERNEL": [
        {"start": None},
        {"start": _HUGE, "end": _HUGE + 5},
        {"end": _HUGE},
        {"start": -_HUGE, "end": _HUGE},
        {"end": -_HUGE},
    ],
    "CUPTI_ACTIVITY_KIND_MEMCPY": [{"start": None}],
    "CUPTI_ACTIVITY_KIND_RUNTIME": [{"start": None}, {"end": _HUGE}],
    "NVTX_EVENTS": [
        {"start": None},
        {"start": _HUGE, "end": None},
        {"start": None, "eventType": 34},
        {"start": _HUGE, "eventType": 34},
        {"end": _HUGE, "endGlobalTid": thread(7, 8)},
    ],
    "OSRT_API": [{"start": None}],
    "PROFILER_OVERHEAD": [{"start": -_HUGE}],
    "CUDA_GPU_MEMORY_USAGE_EVENTS": [{"start": None}, {"start": _HUGE}],
    "GPU_METRICS": [{"timestamp": None}, {"timestamp": _HUGE}, {"value": float("inf")}],
    "COMPOSITE_EVENTS": [{"start": None}, {"start": _HUGE}],
    "SCHED_EVENTS": [{"start": None}, {"start": _HUGE}],
}


@pytest.mark.parametrize("form", ["sqlite", "parquet"])
def test_rows_without_a_time_are_left_out_and_counted(tmp_path: Path, form: str) -> None:
    """A missing time, one beyond the year 2096, and a duration of more than 31 years, of either sign.

    Every other row is as in an export without these.
    """
    tables = dict(tiny())
    for name, rows in _DAMAGE.items():
        [first, *_] = tables[name]
        tables[name] = [*tables[name], *({**first, **row} for row in rows)]
    path = _write_bad(tmp_path, form, tables)
    good = write_sqlite(tmp_path / "good.sqlite", tiny())
    bad, sound = tracewh.ingest([path, good], tmp_path / "warehouse", run="r")
    assert (bad.status, bad.reason, bad.events) == ("ingested", "", sound.events)
    assert (bad.skipped_events, bad.repairs) == (24, {"damaged_rows": 24})
    with tracewh.open(tmp_path / "warehouse") as opened:
        [(named,)] = opened.sql(
            "SELECT t.metadata -> '$.damagedRows' FROM traces AS t WHERE t.worker = 'bad'"
        ).fetchall()
        of_worker = (
            "SELECT e.* EXCLUDE (worker) FROM {} AS e WHERE e.worker = '{}' ORDER BY e.event_id"
        )
        for table in (
            *("host_events", "device_events", "memory_records"),
            *("counter_samples", "other_events"),
        ):
            assert (
                opened.sql(of_worker.format(table, "bad")).fetchall()
                == opened.sql(of_worker.format(table, "good")).fetchall()
            )
    assert json.loads(named) == [
        "CUPTI_ACTIVITY_KIND_RUNTIME: 2 damaged rows",
        "NVTX_EVENTS: 5 damaged rows",
        "OSRT_API: 1 damaged row",
        "PROFILER_OVERHEAD: 1 damaged row",
        "CUPTI_ACTIVITY_KIND_KERNEL: 5 damaged rows",
        "CUPTI_ACTIVITY_KIND_MEMCPY: 1 damaged row",
        "CUDA_GPU_MEMORY_USAGE_EVENTS: 2 damaged rows",
        "GPU_METRICS: 3 damaged rows",
        "COMPOSITE_EVENTS: 2 damaged rows",
        "SCHED_EVENTS: 2 damaged rows",
    ]


@pytest.mark.parametrize("form", ["sqlite", "parquet"])
def test_rows_that_do_not_tell_their_process_are_counted(tmp_path: Path, form: str) -> None:
    """Rows of a class that is not read do not count: domains of NVTX, and calls that are there twice."""
    tables = dict(tiny())
    lost: dict[str, dict[str, Any]] = {
        "CUPTI_ACTIVITY_KIND_KERNEL": {"globalPid": None},
        "CUPTI_ACTIVITY_KIND_RUNTIME": {"globalTid": None},
        "NVTX_EVENTS": {"globalTid": None},
        "SCHED_EVENTS": {"globalTid": None},
        "OSRT_API": {"globalTid": None},
        "CUPTI_ACTIVITY_KIND_RUNTIME ": {"globalTid": None, "eventClass": 67},
        "NVTX_EVENTS ": {"globalTid": None, "eventType": 75},
        "OSRT_API ": {"globalTid": None, "eventClass": 28},
        "ThreadNames": {"globalTid": None},
    }
    for name, more in lost.items():
        rows = tables[name.strip()]
        tables[name.strip()] = [*rows, {**rows[0], **more}]
    path = _write_bad(tmp_path, form, tables)
    good = write_sqlite(tmp_path / "good.sqlite", tiny())
    bad, sound = tracewh.ingest([path, good], tmp_path / "warehouse", run="r")
    assert (bad.status, bad.events, sound.repairs) == ("ingested", sound.events, {})
    assert (bad.skipped_events, bad.repairs) == (5, {"damaged_rows": 5})


def test_an_end_before_the_start_is_counted(tmp_path: Path) -> None:
    """Of a kernel, a call, a range of one thread and one of two threads."""
    tables = dict(tiny())
    for name, more in {
        "CUPTI_ACTIVITY_KIND_KERNEL": {},
        "CUPTI_ACTIVITY_KIND_RUNTIME": {},
        "NVTX_EVENTS": {"eventType": 59},
        "NVTX_EVENTS ": {"eventType": 60, "endGlobalTid": thread(7, 8)},
    }.items():
        rows = tables[name.strip()]
        tables[name.strip()] = [*rows, {**rows[0], **more, "start": 777_000, "end": 776_000}]
    [result] = tracewh.ingest([write_sqlite(tmp_path / "a.sqlite", tables)], tmp_path / "warehouse")
    assert (result.status, result.skipped_events) == ("ingested", 0)
    assert result.repairs == {"negative_durations": 4}
    with tracewh.open(tmp_path / "warehouse") as opened:
        found = [
            opened.sql(
                f"SELECT e.duration_ns FROM {table} AS e WHERE e.{start} = {EPOCH + 777_000}"
            ).fetchall()
            for table, start in (
                ("host_events", "start_ns"),
                ("device_events", "start_ns"),
                ("other_events", "time_ns"),
            )
        ]
    assert found == [[(0,), (0,)], [(0,)], [(0,)]]


def test_numbers_beyond_their_column_are_missing(tmp_path: Path) -> None:
    """A kernel counts as any other, whatever its registers are; a missing context of Parquet is -1 as in SQLite."""
    kernel = {**tiny()["CUPTI_ACTIVITY_KIND_KERNEL"][0], "contextId": 2**64 - 1}
    size = {"staticSharedMemory": 2**62, "dynamicSharedMemory": 2**62}
    tables = {
        **tiny(),
        "CUPTI_ACTIVITY_KIND_KERNEL": [{**kernel, **size, "registersPerThread": 2**40}],
        "TARGET_INFO_SESSION_START_TIME": [{"utcEpochNs": 2**63 - 1}],
        "CUDA_GPU_MEMORY_USAGE_EVENTS": [
            {**record, "bytes": size}
            for record in tiny()["CUDA_GPU_MEMORY_USAGE_EVENTS"]
            for size in (2**50, 2**50 + 1, 2**63)
        ],
    }
    [result] = tracewh.ingest(
        [write_parquet(tmp_path / "bad_pqtdir", tables)], tmp_path / "warehouse"
    )
    assert (result.status, result.repairs) == ("ingested", {"no_epoch": 1})
    with tracewh.open(tmp_path / "warehouse") as opened:
        assert opened.sql(
            "SELECT d.start_ns, d.registers_per_thread, d.shared_memory_bytes, d.context_id"
            " FROM device_events AS d WHERE d.category = 'kernel'"
        ).fetchall() == [(40_000, None, None, -1)]
        assert opened.sql(
            "SELECT m.bytes FROM memory_records AS m ORDER BY m.bytes"
        ).fetchall() == [(-(2**50),), (2**50,), *(4 * [(None,)])]


@pytest.mark.parametrize("repeated", [{"id": 1, "value": "z"}, {"id": 2, "value": "z"}])
def test_a_text_that_is_there_twice_doubles_no_event(
    tmp_path: Path, repeated: dict[str, Any]
) -> None:
    """Text 1 is the name of a call, text 2 that of a kernel."""
    tables = dict(tiny())
    tables["StringIds"] = [repeated, *tables["StringIds"]]
    tables["ENUM_CUPTI_OVERHEAD_TYPE"] = [*tables["ENUM_CUPTI_OVERHEAD_TYPE"]] * 2
    path = write_sqlite(tmp_path / "bad.sqlite", tables)
    assert _ingest(path, tmp_path / "warehouse") == ("ingested", "")
    with tracewh.open(tmp_path / "warehouse") as opened:
        for table in ("host_events", "device_events"):
            bad, good = opened.sql(
                f"SELECT list(e.name ORDER BY e.event_id) FROM {table} AS e"
                " GROUP BY e.worker ORDER BY e.worker"
            ).fetchall()
            assert bad == good


def test_a_text_that_is_not_utf_8(tmp_path: Path) -> None:
    path = write_sqlite(tmp_path / "bad.sqlite", tiny())
    with closing(sqlite3.connect(path)) as con, con:
        con.execute("UPDATE StringIds SET value = CAST(x'ff41' AS TEXT) WHERE value LIKE 'void%'")
    assert _ingest(path, tmp_path / "warehouse") == ("ingested", "")
    with tracewh.open(tmp_path / "warehouse") as opened:
        rows = opened.sql(
            "SELECT d.name FROM device_events AS d WHERE d.worker = 'bad' AND d.category = 'kernel'"
        ).fetchall()
    assert rows == [("\ufffdA",)]


def test_a_pipe(tmp_path: Path) -> None:
    """A database is read at many places; a pipe can be read once."""
    path = write_sqlite(tmp_path / "r.sqlite", tiny())
    program = shutil.which("tracewh")
    assert program is not None
    with path.open("rb") as file:
        done = subprocess.run(
            [program, "ingest", "-", "-w", str(tmp_path / "warehouse")],
            check=False,
            stdin=file,
            capture_output=True,
            text=True,
        )
    assert done.returncode != 0
    assert (
        "an SQLite database, which cannot be read from a pipe or a store: name a file on a disk"
        in (done.stdout)
    )
