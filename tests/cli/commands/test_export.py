"""`tracewh export` gives the trace back, and marks its critical path.

us              0    5    10   15   20   25   30   35   40
ProfilerStep#3  [---------------------------------------]     0-40, thread 1
aten::mm         [------]                                     1-8
cudaLaunch        []                                          2-3
sgemm                     [------------------]                10-30, stream 7
cudaDeviceSync               [---------------------]          12-35
Memset                      [-]                               11-13, stream 9, launched by nothing
"""

from __future__ import annotations

import gzip
import json
import shutil
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from tests.cli.conftest import Command
from tracewh.ingest.api import ingest
from tracewh.storage.local_store import LocalStore

Event = dict[str, Any]


def event(cat: str, name: str, start: float, end: float, tid: Any = 1, **args: Any) -> Event:
    pid = 0 if tid in (7, 9) else 1
    place = {"ph": "X", "cat": cat, "name": name, "pid": pid, "tid": tid}
    return {**place, "ts": start, "dur": end - start, "args": args}


EVENTS: list[Event] = [
    event("user_annotation", "ProfilerStep#3", 0, 40),
    event("cpu_op", "aten::mm", 1, 8, **{"Input Dims": [[2, 2], []], "odd": {"a": None}}),
    event("cuda_runtime", "cudaLaunchKernel", 2, 3, correlation=5),
    event("kernel", 'sgemm<"ü">', 10, 30, 7, device=0, stream=7, correlation=5),
    event("gpu_memset", "Memset (Device)", 11, 13, 9, device=0, stream=9, correlation=8),
    event("cuda_runtime", "cudaDeviceSynchronize", 12, 35, correlation=6),
    {"ph": "s", "id": 5, "pid": 1, "tid": 1, "ts": 2, "cat": "ac2g", "name": "ac2g"},
    {"ph": "f", "id": 5, "pid": 0, "tid": 7, "ts": 10, "cat": "ac2g", "name": "ac2g", "bp": "e"},
    {"ph": "M", "name": "process_name", "pid": 1, "tid": 0, "ts": 0, "args": {"name": "python"}},
    {"ph": "C", "name": "clock", "pid": 0, "ts": 4.5, "args": {"sm": 1.5, "memory": 2}},
    {"ph": "X", "cat": "Trace", "name": "Profiler", "pid": "Spans", "tid": "P", "ts": 0.25, "dur": 1},
    {"ph": "i", "s": "g", "name": "Record Window End", "pid": "", "tid": "", "ts": 39.999},
]  # fmt: skip
HEAD = {
    "schemaVersion": 1,
    "baseTimeNanoseconds": 1_700_000_000_000_000_000,
    "deviceProperties": [{"id": 0, "name": "A100", "extra": [1, 2.5]}],
    "displayTimeUnit": "ms",
    "note": 'a "quoted" one',
}
#: Positions of what is on the path.
CRITICAL = {1, 2, 3, 5}
FLOW = {"name": "critical_path"}
HOST, STREAM = {"pid": 1, "tid": 1}, {"pid": 0, "tid": 7}
LAUNCH = {"cat": "critical_path_kernel_launch_delay", "args": {"critical": True, "weight": 7}}
SYNC = {"cat": "critical_path_sync_dependency", "args": {"critical": True, "weight": 0}}
ARROWS = [
    {"ph": "s", "id": 1, **HOST, "ts": 2, **LAUNCH, **FLOW},
    {"ph": "f", "id": 1, **STREAM, "ts": 10, **LAUNCH, **FLOW, "bp": "e"},
    {"ph": "s", "id": 2, **STREAM, "ts": 29, **SYNC, **FLOW},
    {"ph": "f", "id": 2, **HOST, "ts": 30, **SYNC, **FLOW, "bp": "e"},
]
SAID = "of worker w, span default"


def store(folder: Path, run: str, worker: str, events: list[Event], head: Event) -> None:
    path = folder / run / f"{worker}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({**head, "traceEvents": events}), "utf-8")
    [outcome] = ingest([path], folder / "warehouse", run=run)
    assert outcome.status == "ingested", outcome


@pytest.fixture(scope="module")
def _stored_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("export")
    step = EVENTS[0]
    later = [
        {**step, "dur": 20},
        *EVENTS[1:4],
        {**step, "name": "ProfilerStep#4", "ts": 30, "dur": 9},
        event("cpu_op", "aten::add", 30, 39),
    ]
    store(folder, "one", "w", EVENTS, HEAD)
    store(folder, "two", "w", later, HEAD)
    store(folder, "bare", "w", EVENTS[1:], {})
    store(folder, "empty", "w", [EVENTS[8]], {})
    for number in range(4):
        store(folder, "many", f"w{number}", EVENTS, HEAD)
    return folder


@pytest.fixture
def stored(_stored_once: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder to write to. The warehouse is known to every command, and must not change."""
    monkeypatch.setenv("TRACEWH_WAREHOUSE", str(_stored_once / "warehouse"))
    return tmp_path


def test_the_file_is_what_was_ingested(stored: Path, tracewh: Command) -> None:
    done = tracewh("export", "one", "-o", stored / "out.json")
    said = f"wrote {stored / 'out.json'}: 12 events {SAID}\n"
    assert (done.code, done.out, done.err) == (0, "", said)
    written = json.loads((stored / "out.json").read_text("utf-8"))
    assert written == {**HEAD, "traceEvents": EVENTS}
    assert not list(stored.glob(".*"))


def test_the_critical_path_is_marked_and_has_arrows(stored: Path, tracewh: Command) -> None:
    for wanted in ("3", "all"):
        done = tracewh("export", "one", "-o", stored / "out.json", "--critical-path", wanted)
        assert (done.code, done.out) == (0, "")
        said = f"12 events {SAID}; 4 critical events, 2 arrows between them\n"
        assert done.err == f"wrote {stored / 'out.json'}: {said}"
        written = json.loads((stored / "out.json").read_text("utf-8"))["traceEvents"]
        assert (
            written
            == [
                {**each, "args": {**each["args"], "critical": 1}} if number in CRITICAL else each
                for number, each in enumerate(EVENTS)
            ]
            + ARROWS
        )


def test_arrows_do_not_lead_from_one_step_to_the_next(stored: Path, tracewh: Command) -> None:
    """The second step begins on the host where the first ended on the device."""
    for wanted, arrows in (("3", "1 arrow"), ("4", "0 arrows"), ("all", "1 arrow")):
        done = tracewh("export", "two", "-o", stored / "out.json", "--critical-path", wanted)
        assert f", {arrows} between them\n" in done.err
    third = json.loads((stored / "out.json").read_text("utf-8"))["traceEvents"]
    assert [number for number, each in enumerate(third) if "critical" in each["args"]] == [
        1, 2, 3, 5, 6, 7,
    ]  # fmt: skip


def test_the_file_taken_in_again_gives_the_same_tables(
    stored: Path, _stored_once: Path, tracewh: Command
) -> None:
    again = stored / "again" / "w.json.gz"
    again.parent.mkdir()
    assert tracewh("export", "one", "-o", again).code == 0
    [outcome] = ingest([again], stored / "other", run="one")
    assert outcome.status == "ingested"
    warehouses = (_stored_once / "warehouse", stored / "other")
    mine, other = (LocalStore(path).folder("one", "w", "default") for path in warehouses)
    names = {path.name for path in mine.glob("*.parquet")}
    assert names == {path.name for path in other.glob("*.parquet")}
    assert len(names) > 10
    for name in names:
        tables = [pq.read_table(folder / name) for folder in (mine, other)]
        if name == "traces.parquet":
            of_file = [
                "source_path",
                "source_bytes",
                "source_mtime_ns",
                "content_hash",
                "ingested_at",
            ]
            tables = [table.drop_columns(of_file) for table in tables]
        assert tables[0].equals(tables[1]), name


def test_gz_is_the_same_packed_and_the_same_each_time(stored: Path, tracewh: Command) -> None:
    for name in ("out.json", "a.json.gz", "b.json.gz"):
        assert tracewh("export", "one", "--critical-path", "all", "-o", stored / name).code == 0
    packed = (stored / "a.json.gz").read_bytes()
    assert gzip.decompress(packed) == (stored / "out.json").read_bytes()
    assert packed == (stored / "b.json.gz").read_bytes()


def test_a_trace_without_steps_has_a_path_too(stored: Path, tracewh: Command) -> None:
    done = tracewh("export", "bare", "--critical-path", "all", "-o", stored / "out.json")
    assert (done.code, "4 critical events, 2 arrows" in done.err) == (0, True)
    written = json.loads((stored / "out.json").read_text("utf-8"))
    assert list(written) == ["traceEvents"]
    done = tracewh("export", "bare", "--critical-path", "3", "-o", stored / "x.json")
    said = "tracewh: --critical-path: the trace has no step 3; it has no steps; or use all\n"
    assert (done.code, done.err) == (2, said)


def test_a_trace_without_events(stored: Path, tracewh: Command) -> None:
    done = tracewh("export", "empty", "--critical-path", "all", "-o", stored / "out.json")
    assert (done.code, "1 events" in done.err) == (0, True)
    assert json.loads((stored / "out.json").read_text("utf-8")) == {"traceEvents": [EVENTS[8]]}


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        ("none -o x.json", 2, "no run named 'none'; did you mean 'one'?"),
        ("one --worker x -o x.json", 2, "no worker named 'x'; the only worker is w"),
        ("one --span 2 -o x.json", 2, "no span named '2'; the only span is default"),
        ("one -o x.txt", 2, "-o: the name must end in .json or .json.gz, not 'x.txt'"),
        ("one -o no/x.json", 1, "no/x.json: the parent folder does not exist"),
        ("one -o folder.json", 1, "folder.json is a folder; -o takes a file"),
        ("one --critical-path 4 -o x.json", 2, "--critical-path: the trace has no step 4; steps: 3; or use all"),
        (
            "one --critical-path last -o x.json",
            2,
            "--critical-path takes the number of a step, or all, not 'last'",
        ),
        (
            "many -o x.json",
            2,
            (
                "a file holds one trace, but run 'many' has 4: choose the worker "
                "(--worker w0, --worker w1, --worker w2 and 1 more)"
            ),
        ),
        ("one -w hdfs://host/wh -o x.json", 1, "hdfs://host/wh: tracewh can only read a warehouse there; write it to a folder and copy that, or to S3, Google Cloud or Azure"),
    ],
)  # fmt: skip
def test_mistakes(
    stored: Path,
    tracewh: Command,
    monkeypatch: pytest.MonkeyPatch,
    words: str,
    code: int,
    message: str,
) -> None:
    monkeypatch.chdir(stored)
    (stored / "folder.json").mkdir()
    done = tracewh("export", *words.split())
    assert (done.code, done.out, done.err) == (code, "", f"tracewh: {message}\n")
    assert not (stored / "x.json").exists()
    assert not list(stored.glob(".*"))


def test_a_damaged_trace_leaves_no_file(stored: Path, _stored_once: Path, tracewh: Command) -> None:
    folder = stored / "warehouse"
    shutil.copytree(_stored_once / "warehouse", folder)
    damaged = LocalStore(folder).folder("one", "w", "default") / "device_events.parquet"
    damaged.write_bytes(b"PAR1 nothing")
    done = tracewh("export", "one", "-w", folder, "-o", stored / "out.json")
    assert (done.code, done.out) == (1, "")
    assert "device_events.parquet" in done.err.splitlines()[0]
    assert "to repair:\n  tracewh ingest --force" in done.err
    assert not list(stored.glob("*out.json*"))
    damaged.unlink()
    done = tracewh("export", "one", "-w", folder, "-o", stored / "out.json")
    said = (
        "tracewh: one/w/default has no device_events.parquet: it is damaged, or another version of"
        " tracewh wrote it; ingest it again with --force\n"
    )
    assert (done.code, done.out, done.err) == (1, "", said)
