"""A table without rows is a file like any other, whether DuckDB writes it or it is ready-made."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import duckdb
import pytest

import tracewh
from tracewh.ingest.link.write_tables import _EMPTY
from tracewh.schema import PARTITION_KEYS, tables

OPERATOR = {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": 10, "dur": 50}
LAUNCH = {"cat": "cuda_runtime", "name": "cudaLaunchKernel", "ts": 20, "dur": 5}
ONE_OF_EACH: list[dict[str, Any]] = [
    OPERATOR,
    {**OPERATOR, **LAUNCH, "args": {"correlation": 7}},
    {
        "ph": "X",
        "cat": "kernel",
        "name": "gemm",
        "pid": 0,
        "tid": 7,
        "ts": 40,
        "dur": 9,
        "args": {"correlation": 7, "device": 0, "stream": 7},
    },
    {"ph": "s", "cat": "ac2g", "name": "ac2g", "id": 7, "pid": 1, "tid": 1, "ts": 20},
    {"ph": "f", "cat": "ac2g", "name": "ac2g", "id": 7, "pid": 0, "tid": 7, "ts": 40, "bp": "e"},
    {
        "ph": "i",
        "cat": "cpu_instant_event",
        "name": "[memory]",
        "s": "t",
        "pid": 1,
        "tid": 1,
        "ts": 30,
        "args": {"Addr": 1, "Bytes": 64, "Device Type": 0},
    },
    {"ph": "C", "name": "power", "pid": 0, "ts": 50, "args": {"watt": 300}},
    {"ph": "M", "name": "process_name", "pid": 1, "tid": 1, "ts": 0, "args": {"name": "python"}},
]
#: The tables that have rows if a trace has only operators.
OF_OPERATORS = {"traces", "host_events", "stacks", "steps", "step_activity"}


@pytest.fixture(autouse=True)
def _none_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    for key in list(_EMPTY):
        monkeypatch.delitem(_EMPTY, key)


def ingested(folder: Path, name: str, events: list[dict[str, Any]]) -> dict[str, Path]:
    """The files of a trace by table."""
    path = folder / name / "w.1.pt.trace.json"
    path.parent.mkdir()
    path.write_text(json.dumps({"traceEvents": events}))
    [result] = tracewh.ingest([path.parent], folder / "wh")
    assert result.status == "ingested"
    return {path.stem: path for path in folder.glob(f"wh/data/run={name}/*/*/*.parquet")}


def rows(path: Path) -> int:
    [(count,)] = duckdb.execute("SELECT count(*) FROM read_parquet(?)", [str(path)]).fetchall()
    return int(count)


def columns(path: Path) -> list[tuple[str, str]]:
    found = duckdb.execute(
        "DESCRIBE FROM read_parquet(?, hive_partitioning = false)", [str(path)]
    ).fetchall()
    return [(name, type_) for name, type_, *_ in found]


def test_each_file_is_there_with_its_columns(tmp_path: Path) -> None:
    first = ingested(tmp_path, "first", [OPERATOR])
    assert _EMPTY
    again = ingested(tmp_path, "again", [OPERATOR])
    for files in (first, again):
        assert {name for name, path in files.items() if rows(path)} == OF_OPERATORS
        assert files.keys() == tables().keys()
    for name, table in tables().items():
        wanted = [(c.name, c.type) for c in table.columns if c.name not in PARTITION_KEYS]
        assert columns(first[name]) == columns(again[name]) == wanted


def test_a_trace_with_all_kinds_of_events_has_them_behind_one_with_few(tmp_path: Path) -> None:
    ingested(tmp_path, "few", [OPERATOR])
    files = ingested(tmp_path, "all", ONE_OF_EACH)
    empty = {name for name, path in files.items() if not rows(path)}
    of_others = {"data_pipeline_operators", "data_pipeline_batches", "pipeline_operations"}
    of_others |= {"graphs", "graph_nodes"}
    assert empty == {"counters", "devices", *of_others}
    [(kind, launch)] = duckdb.execute(
        "SELECT d.kind, d.launch_id FROM read_parquet(?) AS d", [str(files["device_events"])]
    ).fetchall()
    assert (kind, launch) == ("compute", 1)


def test_work_on_a_device_alone_is_linked(tmp_path: Path) -> None:
    files = ingested(tmp_path, "device", [event for event in ONE_OF_EACH if event["ph"] == "X"][2:])
    assert rows(files["device_events"]) == rows(files["steps"]) == 1
    assert rows(files["host_events"]) == rows(files["flows"]) == 0
