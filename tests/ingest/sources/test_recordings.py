"""Recordings of tracewh.record: whose they are, and what becomes of damaged ones."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

import tracewh
from tests.warehouse_text import everything
from tracewh.ingest.api import FileResult

#: The first event of a trace starts a second after 2020, the last ends a second later.
START_US, SECOND_US = 1_577_836_801_000_000, 1_000_000


def write_trace(folder: Path, name: str) -> Path:
    """A trace of a second."""
    folder.mkdir(exist_ok=True)
    events = [
        {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 7, "tid": 7, "ts": ts, "dur": 1000}
        for ts in (START_US, START_US + SECOND_US - 1000)
    ]
    path = folder / name
    path.write_text(json.dumps({"traceEvents": events}))
    return path


def header(kind: str = "dataloader", version: int = 1) -> dict[str, Any]:
    return {"tracewh": kind, "version": version, "pid": 7}


def batch(number: int, second: float) -> dict[str, Any]:
    """A batch that was taken some seconds after the start of the trace."""
    return {
        "kind": "batch",
        "batch": number,
        "time_ns": int(START_US * 1000 + second * 10**9),
        "get_ns": 1000,
        "queue_size": number,
    }


PIPELINE = {"kind": "pipeline", "workers": 2, "queue_capacity": 4}


def write_recording(folder: Path, name: str, *lines: dict[str, Any]) -> Path:
    path = folder / name
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    return path


def ingested(folder: Path) -> tuple[dict[str, FileResult], list[tuple[Any, ...]]]:
    """The result of each file, and worker, span and number of each batch."""
    results = tracewh.ingest([folder], folder.parent / "wh")
    by_name = {result.source.name: result for result in results}
    with tracewh.open(folder.parent / "wh") as warehouse:
        found = warehouse.sql(
            "SELECT worker, span, pipeline, batch FROM data_pipeline_batches ORDER BY ALL"
        ).fetchall()
    return by_name, found


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_trace(tmp_path / "log", "host_7.1577836801000000000.pt.trace.json")
    return tmp_path / "log"


def test_batches_of_the_time_of_the_trace(folder: Path) -> None:
    batches = [batch(number, second) for number, second in enumerate((-1, 0, 0.5, 1, 2))]
    write_recording(folder, "host_7.5.dataloader.jsonl", header(), PIPELINE, *batches)
    results, found = ingested(folder)
    assert found == [("host_7", "1", 0, number) for number in (1, 2, 3)]
    [result] = results.values()
    assert (result.status, dict(result.repairs)) == ("ingested", {})


def test_a_recording_of_another_time_is_counted(folder: Path) -> None:
    """As that of a loader for validation, beside a trace of the training."""
    write_recording(folder, "host_7.5.dataloader.jsonl", header(), PIPELINE, batch(1, 0.1))
    write_recording(folder, "host_7.6.dataloader.jsonl", header(), PIPELINE, batch(2, 5))
    results, found = ingested(folder)
    assert found == [("host_7", "1", 0, 1)]
    [result] = results.values()
    assert dict(result.repairs) == {"recordings_of_other_times": 1}


def test_two_loaders_are_two_pipelines(folder: Path) -> None:
    for stamp in (5, 6):
        write_recording(
            folder, f"host_7.{stamp}.dataloader.jsonl", header(), PIPELINE, batch(stamp, 0.1)
        )
    assert ingested(folder)[1] == [("host_7", "1", 0, 5), ("host_7", "1", 1, 6)]


def test_a_loader_that_is_described_twice_is_one_pipeline(folder: Path) -> None:
    """As the recorder once wrote it, of a loader with two iterators before the first batch."""
    batches = [batch(1, 0.1), batch(2, 0.2)]
    write_recording(folder, "host_7.5.dataloader.jsonl", header(), PIPELINE, PIPELINE, *batches)
    assert ingested(folder)[1] == [("host_7", "1", 0, 1), ("host_7", "1", 0, 2)]
    with tracewh.open(folder.parent / "wh") as warehouse:
        operators = warehouse.sql("SELECT operator, queue_capacity FROM data_pipeline_operators")
        assert operators.fetchall() == [("DataLoader", 4)]


def test_each_worker_gets_its_own(folder: Path) -> None:
    write_trace(folder, "host_8.1577836801000000000.pt.trace.json")
    for pid in (7, 8):
        write_recording(
            folder, f"host_{pid}.5.dataloader.jsonl", header(), PIPELINE, batch(pid, 0.1)
        )
    assert ingested(folder)[1] == [("host_7", "1", 0, 7), ("host_8", "1", 0, 8)]


def test_the_only_worker_of_a_folder_may_have_any_name(tmp_path: Path) -> None:
    folder = tmp_path / "log"
    write_trace(folder, "trace.json")
    write_recording(folder, "host_7.5.dataloader.jsonl", header(), PIPELINE, batch(1, 0.1))
    assert ingested(folder)[1] == [("trace", "default", 0, 1)]


def test_a_trace_that_is_named_alone(folder: Path) -> None:
    write_recording(folder, "host_7.5.dataloader.jsonl", header(), PIPELINE, batch(1, 0.1))
    write_recording(folder, "host_8.5.dataloader.jsonl", header(), PIPELINE, batch(2, 0.1))
    trace = next(folder.glob("*.pt.trace.json"))
    [result] = tracewh.ingest([trace], folder.parent / "wh")
    assert result.status == "ingested"
    with tracewh.open(folder.parent / "wh") as warehouse:
        assert len(warehouse.data_pipeline_batches.fetchall()) == 1


def test_nobody_elses(folder: Path) -> None:
    write_trace(folder, "host_8.1577836801000000000.pt.trace.json")
    write_recording(folder, "host_9.5.dataloader.jsonl", header(), PIPELINE, batch(1, 0.1))
    results, found = ingested(folder)
    assert found == []
    assert [result.status for result in results.values()].count("ingested") == 2
    refused = results["host_9.5.dataloader.jsonl"]
    assert refused.status == "refused" and refused.reason == (
        "no trace beside it belongs to worker 'host_9': rename it to WORKER.dataloader.jsonl or "
        "WORKER.cpu.jsonl, where WORKER is the file name of the trace up to the time stamp"
    )


def test_another_version_is_refused_and_the_trace_is_not(folder: Path) -> None:
    write_recording(folder, "host_7.5.dataloader.jsonl", header(version=2), batch(1, 0.1))
    write_recording(folder, "host_7.6.dataloader.jsonl", header(), PIPELINE, batch(2, 0.1))
    results, found = ingested(folder)
    assert found == [("host_7", "1", 0, 2)]
    refused = results["host_7.5.dataloader.jsonl"]
    assert refused.status == "refused" and refused.reason == (
        "it has version 2 of the format, and this tracewh reads version 1: use the same version of "
        "tracewh for recording and ingest"
    )


@pytest.mark.parametrize("text", ["", "{}\n", "[1]\n", "not JSON\n", '{"tracewh": "cpu"}\n'])
def test_no_recording(folder: Path, text: str) -> None:
    (folder / "host_7.5.cpu.jsonl").write_text(text)
    results, _ = ingested(folder)
    refused = results["host_7.5.cpu.jsonl"]
    assert refused.status == "refused"
    assert refused.reason == (
        "it is not a recording of tracewh.record: its first line does not say so"
    )


@pytest.mark.parametrize("cut", [1, 5, 40, 90])
def test_a_cut_recording_loses_its_last_line(folder: Path, cut: int) -> None:
    path = write_recording(
        folder, "host_7.5.dataloader.jsonl", header(), PIPELINE, batch(1, 0.1), batch(2, 0.2)
    )
    path.write_bytes(path.read_bytes()[:-cut])
    results, found = ingested(folder)
    is_whole = cut == 1  # only the end of the line
    assert found == [("host_7", "1", 0, number) for number in ((1, 2) if is_whole else (1,))]
    [result] = results.values()
    assert dict(result.repairs) == ({} if is_whole else {"damaged_recording_lines": 1})


def test_samples_of_the_cpus(folder: Path) -> None:
    sample = {
        "kind": "cpu",
        "time_ns": (START_US + 10) * 1000,
        "user_pct": 50.0,
        "io_wait_pct": None,
        "runnable_processes": 3,
        "secret": 7,
        "processes": [
            {"pid": 7, "user_pct": 90.0, "system_pct": 1.5, "name": "/home/someone/train.py"},
            {"pid": 70, "user_pct": 20.0},
        ],
    }
    lines = header("cpu"), {"kind": "host", "cores": 4, "hostname": "node17"}, sample
    write_recording(folder, "host_7.5.cpu.jsonl", *lines)
    ingested(folder)
    with tracewh.open(folder.parent / "wh") as warehouse:
        found = warehouse.sql(
            "SELECT name, pid, series, value FROM counter_samples ORDER BY ALL"
        ).fetchall()
    assert found == [
        ("child_process", "70", "user_pct", 20.0),
        ("host", None, "cores", 4.0),
        ("host", None, "runnable_processes", 3.0),
        ("host", None, "user_pct", 50.0),
        ("process", "7", "system_pct", 1.5),
        ("process", "7", "user_pct", 90.0),
    ]
    stored = everything(folder.parent / "wh")
    assert "child_process" in stored
    assert "someone" not in stored and "node17" not in stored


def test_a_recording_does_not_change_the_saved_trace(folder: Path) -> None:
    from tracewh.ingest.reconstruct import events

    write_recording(
        folder,
        "host_7.5.cpu.jsonl",
        header("cpu"),
        {
            "kind": "cpu",
            "time_ns": (START_US + 10) * 1000,
            "user_pct": 5.0,
            "processes": [],
        },
    )
    ingested(folder)
    [trace] = (folder.parent / "wh" / "data").glob("*/*/*")
    assert [json.loads(text)["name"] for text in events(trace)] == ["aten::mm", "aten::mm"]


def test_the_recorder_is_light() -> None:
    """A training script that imports it loads none of what queries need."""
    import subprocess

    code = (
        "import sys, tracewh.record;"
        "print({'duckdb', 'pyarrow', 'numpy', 'torch', 'psutil'} & sys.modules.keys())"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
