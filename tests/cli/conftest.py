"""A warehouse small enough to work out by eye, and a way to run one command line on it.

    ns        0         400       800      1000
    host      ProfilerStep#7 ---------------|       one step of 1,000 ns
                aten::mm ------|                    100 to 500
                  cudaLaunchKernel                  200 to 250
    device              void gemm<...> -------|     400 to 900

Run 'tuned' is the same with a kernel of 300 ns. Both start at EPOCH.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import duckdb
import pytest
import typer

from tests.derived_tables import DERIVED, STEP_ROLES, fill_derived_tables
from tracewh.cli.app import main
from tracewh.views.registry import installed

EPOCH = 1_700_000_000_000_000_000
KERNEL = (
    "void cutlass::Kernel2<cutlass_80_tensorop_s1688gemm_128x128_16x5_nn_align4>"
    "(cutlass_80_tensorop_s1688gemm_128x128_16x5_nn_align4::Params)"
)
Rows = dict[str, list[dict[str, Any]]]


def trace(run: str, *, kernel_ns: int = 500, memory: bool = False) -> Rows:
    """The rows of one trace, by table."""
    host: dict[str, Any] = {"pid": "1", "tid": "1", "thread_id": 1, "finished": True}
    step = {**host, "event_id": 0, "category": "user_annotation", "name": "ProfilerStep#7"}
    step |= {"start_ns": EPOCH, "duration_ns": 1000, "op_id": 0, "depth": 0}
    op = {**host, "event_id": 1, "category": "cpu_op", "name": "aten::mm", "op_id": 1, "depth": 1}
    op |= {"start_ns": EPOCH + 100, "duration_ns": 400, "parent_id": 0, "parent_op_id": 0}
    launch = {**host, "event_id": 2, "category": "cuda_runtime", "name": "cudaLaunchKernel"}
    launch |= {"start_ns": EPOCH + 200, "duration_ns": 50, "parent_id": 1, "op_id": 1, "depth": 2}
    launch |= {"correlation_id": 9, "parent_op_id": 1, "self_duration_ns": 50}
    kernel = {"event_id": 3, "category": "kernel", "kind": "compute", "name": KERNEL, "pid": "0"}
    kernel |= {"tid": "7", "device_id": 0, "stream_id": 7, "correlation_id": 9, "launch_id": 2}
    kernel |= {"op_id": 1, "start_ns": EPOCH + 400, "duration_ns": kernel_ns, "grid": [8, 8, 1]}
    kernel |= {"block": [128, 1, 1], "blocks_per_sm": 2.0, "uses_tensor_cores": True}
    steps = {"step": 7, "name": "ProfilerStep#7", "event_id": 0, "device_events": 1}
    steps |= {"start_ns": EPOCH, "end_ns": EPOCH + 1000, "is_tail": False}
    steps |= {"extended_start_ns": EPOCH, "extended_end_ns": EPOCH + 1000}
    return {
        "traces": [
            {
                "source_path": f"logs/{run}/host_1.pt.trace.json",
                "source_bytes": 12345,
                "trace_name": "host_1",
                "generation": "2024",
                "start_ns": EPOCH,
                "end_ns": EPOCH + 1000,
                "events": 4,
                "skipped_events": 0,
                "layout_version": 1,
            }
        ],
        "steps": [steps],
        "host_events": [
            {**step, "self_duration_ns": 600},
            {**op, "self_duration_ns": 350},
            launch,
        ],
        "device_events": [kernel],
        "devices": [{"device_id": 0, "name": "NVIDIA A100", "num_sms": 108}],
    } | ({"memory_records": [{"event_id": 4, "time_ns": EPOCH + 150, "device_type": "cuda",
          "device_id": 0, "address": 256, "bytes": 1024, "total_allocated_bytes": 1024,
          "total_reserved_bytes": 4096}]} if memory else {})  # fmt: skip


def _write_trace(
    warehouse: Path, rows: Rows, run: str, worker: str = "host_1", span: str = "default"
) -> Path:
    """Write one trace as ingest lays it out: every table, empty ones included."""
    folder = warehouse / "data" / f"run={run}" / f"worker={worker}" / f"span={span}"
    folder.mkdir(parents=True)
    for name, content in _files(json.dumps(rows)).items():
        (folder / name).write_bytes(content)
    return folder


@functools.cache
def _files(rows: str) -> dict[str, bytes]:
    """The files of a trace, from its rows as JSON; they do not tell its run, worker and span."""
    registry = installed()
    with duckdb.connect() as con, TemporaryDirectory() as folder:
        registry.create(con, registry.needs(STEP_ROLES))
        for table in registry.tables():
            con.execute(table.sql.replace("CREATE TABLE", "CREATE TABLE IF NOT EXISTS"))
            for row in json.loads(rows).get(table.name, []):
                values = {"run": "r", "worker": "w", "span": "default", **row}
                marks = ", ".join("?" for _ in values)
                con.execute(
                    f"INSERT INTO {table.name} ({', '.join(values)}) VALUES ({marks})",
                    [*values.values()],
                )
        fill_derived_tables(con, DERIVED)
        for table in registry.tables():
            con.execute(
                f"COPY (SELECT * EXCLUDE (run, worker, span) FROM {table.name}) "
                f"TO '{folder}/{table.name}.parquet' (FORMAT parquet)"
            )
        return {path.name: path.read_bytes() for path in Path(folder).iterdir()}


@pytest.fixture(scope="session", autouse=True)
def made_command() -> Iterator[None]:
    """Let typer make the commands and their options once for all command lines of tests, not for each."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(typer.main, "get_command", functools.cache(typer.main.get_command))
        yield


@pytest.fixture(scope="session")
def _made_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    warehouse = tmp_path_factory.mktemp("cli") / "warehouse"
    _write_trace(warehouse, trace("base"), "base")
    _write_trace(warehouse, trace("tuned", kernel_ns=300), "tuned")
    return warehouse


@pytest.fixture
def warehouse(_made_once: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The tiny warehouse, which commands find by themselves. Tests must not change it."""
    monkeypatch.setenv("TRACEWH_WAREHOUSE", str(_made_once))
    return _made_once


@pytest.fixture(scope="session")
def write_trace() -> Callable[..., Path]:
    """Write one trace into a warehouse: `write_trace(folder, rows, run, worker, span)`."""
    return _write_trace


@pytest.fixture(scope="session")
def make_trace() -> Callable[..., Rows]:
    """The rows of the trace that is drawn above."""
    return trace


@pytest.fixture
def kernel_name() -> str:
    """The long name of the only kernel."""
    return KERNEL


@dataclass(frozen=True, slots=True)
class Done:
    """What one command line did."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


#: Words in, what they did out.
Command = Callable[..., Done]


@pytest.fixture
def tracewh(capsysbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch) -> Command:
    """Run a command line in this process: `tracewh("show", "runs")`."""
    monkeypatch.setenv("COLUMNS", "100")

    def run(*words: object) -> Done:
        capsysbinary.readouterr()
        code = main([str(word) for word in words])
        out, err = capsysbinary.readouterr()
        return Done(code, out.decode(), err.decode())

    return run
