"""Under a limit of the address space a command works, or says in one line that it cannot."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import Command
from tracewh.cli.diagnostics import memory_limit

MIB = 1 << 20
EVENT = {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": 10, "dur": 5}
CORES = os.cpu_count() or 1
WRITE, ASK = 2560 + 256 * CORES, 1536 + 128 * CORES


def limited(mebibytes: int, *words: str | Path) -> subprocess.CompletedProcess[str]:
    code = "from tracewh.cli.app import run; run()"

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (mebibytes * MIB, mebibytes * MIB))

    command = [sys.executable, "-c", code, *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, check=False, preexec_fn=limit)


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    path = tmp_path / "run" / "w.json"
    path.parent.mkdir()
    path.write_text(json.dumps({"traceEvents": [EVENT]}), "utf-8")
    return path


@pytest.mark.parametrize("mebibytes", [400, 800, 1500])
def test_what_is_too_little_is_said_before_anything_is_done(
    tmp_path: Path, logs: Path, mebibytes: int
) -> None:
    done = limited(mebibytes, "ingest", logs, "-w", tmp_path / "wh")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == (
        f"tracewh: the address space is limited to {mebibytes:,} MiB (ulimit -v), but ingest needs"
        f" {WRITE:,} MiB on this machine; raise the limit, or limit memory with a cgroup\n"
    )
    assert not (tmp_path / "wh").exists()


def test_with_as_much_as_is_asked_for_a_command_works_and_ends(tmp_path: Path, logs: Path) -> None:
    warehouse = tmp_path / "wh"
    done = limited(WRITE, "ingest", logs, "-w", warehouse)
    assert done.returncode == 0, done.stderr
    assert "1 ingested; 1 events" in done.stderr
    sql = "SELECT sum(events) AS n FROM traces"
    done = limited(ASK, "query", sql, "-w", warehouse, "--format", "csv")
    assert (done.returncode, done.stdout, done.stderr) == (0, "n\n1\n", "")
    done = limited(400, "query", sql, "-w", warehouse)
    assert (done.returncode, done.stdout) == (1, "")
    said = "tracewh: the address space is limited to 400 MiB (ulimit -v), but query needs"
    assert done.stderr.startswith(said)


def test_help_needs_little() -> None:
    for words in (["--help"], ["ingest", "--help"], ["--version"]):
        done = limited(400, *words)
        assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(
    "error",
    [
        MemoryError(),
        RuntimeError("can't start new thread"),
        ImportError("libarrow.so: failed to map segment from shared object"),
    ],
)
def test_memory_that_ends_all_the_same(
    tracewh: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    def fail(*_: object) -> None:
        raise error

    monkeypatch.setattr("tracewh.cli.app._run", fail)
    done = tracewh("runs", "-w", tmp_path)
    assert (done.code, done.out) == (1, "")
    assert done.err == "tracewh: out of memory, or no more threads available\n"
    monkeypatch.setattr(memory_limit, "_limit", lambda: 1 << 40)
    done = tracewh("runs", "-w", tmp_path)
    said = "the address space is limited to 1,048,576 MiB (ulimit -v); raise the limit"
    assert done.err == f"tracewh: out of memory: {said}\n"
