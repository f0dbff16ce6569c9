"""Which reader takes a file, by its content, and what is said of files that no reader takes."""

from __future__ import annotations

import gzip
import json
import pickle
import shutil
import sqlite3
from pathlib import Path
from typing import Any

import pytest

import tracewh
from tests.nsys_exports import tiny, write_parquet, write_sqlite
from tracewh.ingest.sources.discover import discover
from tracewh.ingest.sources.readers import READERS
from tracewh.ingest.watch import Watch

KINETO = json.dumps(
    {
        "traceEvents": [
            {"ph": "X", "cat": "cpu_op", "name": "a", "pid": 1, "tid": 1, "ts": 1, "dur": 1}
        ]
    }
)

DUMP = (
    "a flight recorder dump of PyTorch, which tracewh cannot read yet; "
    "torchfrtrace of PyTorch compares the dumps of all ranks"
)
SNAPSHOT = (
    "a CUDA memory snapshot of PyTorch, which tracewh cannot read yet; "
    "https://pytorch.org/memory_viz draws it"
)
ROCPD = (
    "a rocpd database of rocprofv3, which tracewh cannot read yet; "
    "record with the PyTorch profiler: it uses rocprofiler too"
)
PERFETTO = (
    "a Perfetto trace (.pftrace), which tracewh cannot read; "
    "export it as JSON: prof.export_chrome_trace('trace.json.gz')"
)


def _reason(path: Path, warehouse: Path) -> str:
    [result] = tracewh.ingest([path], warehouse)
    assert result.status == "refused"
    return result.reason


@pytest.mark.parametrize(
    ("file", "reason"),
    [
        ("flight_recorder/ok/rank_0", DUMP),
        ("flight_recorder/ok/rank_0.json", f"not a Kineto trace: {DUMP}"),
        ("memory_snapshot/generated.pickle", SNAPSHOT),
        ("memory_snapshot/cpu_profile_snapshot.pickle", SNAPSHOT),
        ("rocpd/made_up_results.db", ROCPD),
        (
            "nccl_inspector/node-a-pid4000.log",
            "not a Kineto trace: a log of the NCCL inspector, which tracewh cannot read yet",
        ),
    ],
)
def test_files_of_other_profilers(shared: Path, tmp_path: Path, file: str, reason: str) -> None:
    """By content: whatever their names are."""
    copy = tmp_path / "renamed.json"
    shutil.copyfile(shared / "data" / "sources" / file, copy)
    assert _reason(copy, tmp_path / "warehouse") == reason


def test_compressed_files_are_what_is_inside(shared: Path, tmp_path: Path) -> None:
    """Snapshots and logs get compressed by hand."""
    import pyarrow as pa

    dump = (shared / "data" / "sources" / "flight_recorder" / "ok" / "rank_0").read_bytes()
    (tmp_path / "dump.gz").write_bytes(gzip.compress(dump))
    with pa.CompressedOutputStream(str(tmp_path / "dump.zst"), "zstd") as file:
        file.write(dump)
    for name in ("dump.gz", "dump.zst"):
        assert _reason(tmp_path / name, tmp_path / "warehouse") == DUMP
    database = write_sqlite(tmp_path / "r.sqlite", tiny()).read_bytes()
    (tmp_path / "r.sqlite.gz").write_bytes(gzip.compress(database))
    assert _reason(tmp_path / "r.sqlite.gz", tmp_path / "warehouse") == (
        "a compressed SQLite database; decompress it, and ingest the result"
    )


@pytest.mark.parametrize("name", ["r.nsys-rep", "r.qdstrm", "r.qdrep"])
def test_reports_of_nsys_need_nsys(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """By their names: they have no first bytes that are documented."""
    monkeypatch.setenv("PATH", str(tmp_path))
    (tmp_path / name).write_bytes(b"x")
    assert _reason(tmp_path / name, tmp_path / "warehouse") == (
        "a report of Nsight Systems: export it with nsys, which is not in PATH here, and ingest the "
        f"result: nsys export --type sqlite {name}"
    )


def _varint(number: int) -> bytes:
    found = bytearray()
    while number > 127:
        found.append(number & 127 | 128)
        number >>= 7
    return bytes([*found, number])


@pytest.mark.parametrize("text", [KINETO, KINETO.replace(" ", ""), json.dumps([1] * 99)])
def test_a_line_break_before_json_does_not_begin_a_perfetto_trace(
    tmp_path: Path, text: str
) -> None:
    """It is the byte with which each packet of Perfetto begins, and the next one is its length."""
    path = tmp_path / "trace.json"
    path.write_text("\n" + text)
    [result] = tracewh.ingest([path], tmp_path / "wh")
    assert "Perfetto" not in str(result.reason)
    assert result.status == ("ingested" if text.startswith("{") else "refused")


@pytest.mark.parametrize("compressed", [False, True])
def test_a_perfetto_trace(tmp_path: Path, compressed: bool) -> None:
    """Packets one after the other: field 1, a length, bytes."""
    content = b"".join(b"\x0a" + _varint(size) + bytes(size) for size in (3, 200, 5, 70_000))
    path = tmp_path / "trace.pftrace"
    path.write_bytes(gzip.compress(content) if compressed else content)
    assert _reason(path, tmp_path / "warehouse") == PERFETTO


def test_a_profile_of_xla(tmp_path: Path) -> None:
    """A plane, its name in field 2: on the wire as a packet of Perfetto."""
    plane = b"\x12" + _varint(9) + b"/host:CPU"
    path = tmp_path / "host.xplane.pb"
    path.write_bytes(b"\x0a" + _varint(len(plane)) + plane)
    why = (
        "a profile of XLA, as JAX and TensorFlow write it, which tracewh cannot read; ingest the file *.trace.json.gz "
        "that JAX writes beside it, or convert it with the package xprof: docs/inputs.md says how"
    )
    assert _reason(path, tmp_path / "warehouse") == why
    with pytest.raises(tracewh.IngestError) as failed:
        tracewh.ingest([tmp_path], tmp_path / "warehouse")
    assert str(failed.value).endswith(f" in {tmp_path}; host.xplane.pb is {why}")


def _database(path: Path, *tables: str) -> Path:
    with sqlite3.connect(path) as con:
        for name in tables:
            con.execute(f"CREATE TABLE {name} (a)")
    con.close()
    return path


@pytest.mark.parametrize(
    ("tables", "reason"),
    [
        (
            ["STRING_IDS", "CANN_API"],
            (
                "a database of the Ascend profiler, which tracewh cannot read; "
                "export text: export_type=ExportType.Text"
            ),
        ),
        (["users"], "an SQLite database of no profiler that tracewh knows (tables: users)"),
        (
            list("abcdefg"),
            "an SQLite database of no profiler that tracewh knows (tables: a, b, c, d, e and 2 more)",
        ),
    ],
)
def test_other_databases(tmp_path: Path, tables: list[str], reason: str) -> None:
    path = _database(tmp_path / "x.db", *tables)
    assert _reason(path, tmp_path / "warehouse") == reason


def test_a_pickle_is_not_loaded(tmp_path: Path) -> None:
    class Evil:
        def __reduce__(self) -> tuple[Any, ...]:
            return (Path.touch, (tmp_path / "touched",))

    (tmp_path / "x.pickle").write_bytes(pickle.dumps({"segments": Evil()}))
    assert _reason(tmp_path / "x.pickle", tmp_path / "warehouse") == SNAPSHOT
    assert not (tmp_path / "touched").exists()


def test_a_folder_with_everything_in_it(tmp_path: Path) -> None:
    """One command: each trace is one, what is no trace is left alone, and the parquet folder is one trace."""
    logs = tmp_path / "logs"
    (logs / "deep").mkdir(parents=True)
    (logs / "w0.pt.trace.json").write_text(KINETO)
    (logs / "deep" / "w1.json.gz").write_bytes(gzip.compress(KINETO.encode()))
    write_sqlite(logs / "a.sqlite", tiny())
    folder = write_parquet(logs / "deep" / "b_pqtdir", tiny())
    (folder / "inside.json").write_text(KINETO)
    (folder / "below").mkdir()
    (folder / "below" / "inside.json").write_text(KINETO)
    _database(logs / "mlflow.sqlite", "runs")
    _database(logs / "x.db", "rocpd_metadata")
    (logs / "notes.txt").write_text("x")
    (logs / "x.pickle").write_bytes(pickle.dumps({"segments": []}))
    results = tracewh.ingest([logs], tmp_path / "warehouse")
    assert {(each.status, each.run, each.worker) for each in results} == {
        ("ingested", "logs", "w0"),
        ("ingested", "deep", "w1"),
        ("ingested", "logs", "a"),
        ("ingested", "deep", "b"),
    }
    with tracewh.open(tmp_path / "warehouse") as warehouse:
        rows = warehouse.sql("SELECT t.worker, t.source FROM traces AS t ORDER BY 1").fetchall()
    assert rows == [("a", "nsys"), ("b", "nsys"), ("w0", "kineto"), ("w1", "kineto")]


def test_an_export_is_known_by_its_content(tmp_path: Path) -> None:
    path = write_sqlite(tmp_path / "export.db", tiny())
    [result] = tracewh.ingest([path], tmp_path / "warehouse")
    assert (result.status, result.worker) == ("ingested", "export")
    path.rename(tmp_path / "export.json")
    [source] = discover([tmp_path / "export.json"])
    assert source.reader == "nsys"


def test_watch_waits_for_a_whole_database(tmp_path: Path) -> None:
    logs, left = tmp_path / "logs", []
    logs.mkdir()
    watch = Watch(
        [logs],
        tmp_path / "warehouse",
        on_left=lambda source, why: left.append((source.worker, why)),
    )
    whole = write_sqlite(tmp_path / "whole.sqlite", tiny()).read_bytes()
    (logs / "r.sqlite").write_bytes(whole[:-4096])
    assert [watch.scan(), watch.scan(), watch.scan()] == [[], [], []]
    assert left == [("r", "it is still being written, or was cut off")]
    (logs / "r.sqlite").write_bytes(whole)
    assert watch.scan() == []
    [result] = watch.scan()
    assert (result.status, result.worker) == ("ingested", "r")
    assert [watch.scan(), watch.scan()] == [[], []]


def test_each_reader_has_a_name_of_its_own() -> None:
    names = [reader.name for reader in READERS]
    assert len(set(names)) == len(names) and names[-1] == "kineto"


@pytest.mark.parametrize(
    ("pattern", "why"), [("(", "missing ): ("), ("(?!x)step", "invalid perl operator: (?!")]
)
def test_a_wrong_step_range(tmp_path: Path, pattern: str, why: str) -> None:
    """DuckDB matches it, with RE2: what only Python takes is wrong as well."""
    (tmp_path / "a.json").write_text(KINETO)
    with pytest.raises(tracewh.IngestError) as failed:
        tracewh.ingest([tmp_path], tmp_path / "warehouse", step_range=pattern)
    assert str(failed.value) == (
        f"the step range '{pattern}' is no regular expression of RE2: {why}"
    )
