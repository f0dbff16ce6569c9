"""A command that is interrupted, or whose reader leaves, ends at once and leaves nothing behind."""

from __future__ import annotations

import fcntl
import os
import signal
import subprocess
import sys
import termios
import time
from pathlib import Path

import psutil
import pytest

from tests.cli.report.servers import DEAF


def _start(*words: str, **options: object) -> subprocess.Popen[bytes]:
    command = [
        sys.executable,
        "-c",
        "from tracewh.cli.app import run; run()",
    ]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return subprocess.Popen([*command, *words], **(pipes | options))  # type: ignore[call-overload,no-any-return]


@pytest.mark.parametrize("format", ["table", "csv", "json", "parquet"])
def test_a_reader_that_leaves_ends_it_quietly(warehouse: Path, format: str) -> None:
    """As `tracewh query ... | head -1` does. The result is larger than any pipe holds."""
    process = _start("query", "SELECT range AS i, 'x' AS s FROM range(200000)", "--format", format)
    assert process.stdout and process.stderr
    process.stdout.read(4)
    process.stdout.close()
    assert process.stderr.read() == b""
    assert process.wait() == 0
    process.stderr.close()


def test_an_interrupt_is_one_line_and_130(warehouse: Path) -> None:
    process = _start("query", "-", stdin=subprocess.PIPE)  # waits for a query that never ends
    assert process.stdin
    process.stdin.write(b"SELECT")
    process.stdin.flush()
    while fcntl.ioctl(process.stdin, termios.FIONREAD, bytes(4)) != bytes(4):
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err) == (130, b"", b"tracewh: interrupted\n")


@pytest.mark.parametrize(
    ("sent", "code", "said"),
    [
        ([signal.SIGINT], 130, b"tracewh: interrupted\n"),
        ([signal.SIGINT] * 2, 130, b"tracewh: interrupted\n"),
        ([signal.SIGTERM], 143, b""),
    ],
    ids=["SIGINT", "SIGINT twice", "SIGTERM"],
)
def test_a_signal_ends_what_duckdb_does_not_notice(
    warehouse: Path, tmp_path: Path, sent: list[signal.Signals], code: int, said: bytes
) -> None:
    """One function call that takes minutes; nothing is left behind."""
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    process = _start("query", DEAF, "-o", str(tmp_path / "x"), env=environment)
    while not [*tmp_path.glob(".x.*.part")]:  # from then on only the function takes time
        time.sleep(0.01)
    used = _cpu_seconds(process)
    while _cpu_seconds(process) < used + 0.3:
        time.sleep(0.01)
    for each in sent:
        process.send_signal(each)
    out, err = process.communicate(timeout=120)
    assert (process.returncode, out, err) == (code, b"", said)
    assert list(tmp_path.iterdir()) == []


def _cpu_seconds(process: subprocess.Popen[bytes]) -> float:
    """What a process has computed so far, in all its threads."""
    times = psutil.Process(process.pid).cpu_times()
    return float(times.user + times.system)


#: The command line, but what every command asks for first is a query that takes minutes and no interrupt ends.
ENDLESS = f"""
import pathlib, sys
from tracewh.cli.app import main
from tracewh.views.warehouse import Warehouse

begun = pathlib.Path(sys.argv.pop())

def endless(self, *_):
    begun.touch()
    self._con.execute({DEAF!r})

Warehouse.resolve = Warehouse.select_traces = endless
sys.exit(main())
"""

#: `show` of groups of traces, but the query of each takes minutes or more.
ENDLESS_GROUPS = """
import pathlib, sys
from tracewh.cli.app import main
from tracewh.views import trace_groups
from tracewh.views.warehouse import Warehouse

begun, sql = pathlib.Path(sys.argv.pop()), sys.argv.pop()

def endless(self, *_, **__):
    begun.touch()
    return self.sql(sql)

trace_groups.UNSORTED_TASK_EVENTS = 1
Warehouse.view = endless
sys.exit(main())
"""

#: `export`, but writing the file takes minutes.
ENDLESS_EXPORT = """
import pathlib, sys, time
from tracewh.cli.app import main
from tracewh.cli.commands import export

begun = pathlib.Path(sys.argv.pop())

def endless(*_):
    begun.touch()
    time.sleep(600)

export.write_trace = endless
sys.exit(main())
"""


@pytest.mark.parametrize(
    "command",
    ["summary", "what-if bench free=mm -o x", "diff bench bench -o x", "report bench -o x.html"],
)
def test_an_interrupt_ends_any_command(warehouse: Path, tmp_path: Path, command: str) -> None:
    _interrupt(ENDLESS, *command.split(), "-w", str(warehouse), folder=tmp_path)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT count(*) FROM range(1000000000000)",  # ends at once
        DEAF,
    ],
)
def test_an_interrupt_ends_all_groups_of_traces(warehouse: Path, tmp_path: Path, sql: str) -> None:
    _interrupt(
        ENDLESS_GROUPS, "show", "runtime_api_stats", "-w", str(warehouse), sql, folder=tmp_path
    )


def test_a_kill_leaves_no_part_of_an_exported_file(warehouse: Path, tmp_path: Path) -> None:
    words = ("export", "base", "-w", str(warehouse), "-o", "x.json")
    _interrupt(ENDLESS_EXPORT, *words, folder=tmp_path, sent=signal.SIGTERM, ends=(143, b"", b""))


def _interrupt(
    script: str,
    *words: str,
    folder: Path,
    sent: signal.Signals = signal.SIGINT,
    ends: tuple[int, bytes, bytes] = (130, b"", b"tracewh: interrupted\n"),
) -> None:
    """Start a script that touches a file once it has begun, and check how a signal ends it."""
    begun = folder / "begun"
    process = subprocess.Popen(
        [sys.executable, "-c", script, *words, str(begun)],
        cwd=folder,
        env={**os.environ, "TMPDIR": str(folder)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    while not begun.exists() and process.poll() is None:
        time.sleep(0.01)
    process.send_signal(sent)
    try:
        out, err = process.communicate(timeout=60)
    finally:
        process.kill()
    assert (process.returncode, out, err) == ends
    assert list(folder.iterdir()) == [begun]
