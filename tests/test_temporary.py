"""What killed processes leave in the temporary folder is removed by the next one, and nothing else."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

import tracewh
from tracewh import temporary
from tracewh.temporary import PREFIX, SCRATCH, Temporary

TRACE = '{"traceEvents": [{"ph": "X", "cat": "cpu_op", "name": "a", "pid": 1, "tid": 1, "ts": 1, "dur": 5}]}'
#: Makes a folder, says which, and waits.
WAITS = """
import sys, time
from tracewh.temporary import Temporary
made = Temporary()
(made.path / "spill").write_text("x")
print(made.path, flush=True)
time.sleep(600)
"""


@pytest.fixture
def top(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A temporary folder of the system's, for this test alone."""
    folder = tmp_path / "tmp"
    folder.mkdir()
    monkeypatch.setenv("TMPDIR", str(folder))
    monkeypatch.setattr(tempfile, "tempdir", None)
    return folder


@pytest.fixture
def process(top: Path) -> Iterator[tuple[subprocess.Popen[str], Path]]:
    """A process that made a folder, and the folder."""
    with subprocess.Popen([sys.executable, "-c", WAITS], stdout=subprocess.PIPE, text=True) as made:
        assert made.stdout is not None
        yield made, Path(made.stdout.readline().strip())
        made.kill()


def test_only_what_a_dead_process_left_is_removed(
    top: Path, process: tuple[subprocess.Popen[str], Path]
) -> None:
    running, folder = process
    mine = Temporary()
    assert {entry.name for entry in top.iterdir()} == {folder.name, mine.path.name}
    running.send_signal(signal.SIGKILL)
    running.wait()
    others = Temporary()
    assert set(top.iterdir()) == {mine.path, others.path}
    mine.close()
    others.close()
    assert list(top.iterdir()) == []


def test_a_forked_process_leaves_the_folder_to_its_parent(top: Path, tmp_path: Path) -> None:
    """The child ends with sys.exit, which runs what is registered for the end of a process."""
    trace = tmp_path / "w.json"
    trace.write_text(TRACE)
    tracewh.ingest([trace], tmp_path / "wh")
    code = """
import os, sys, tracewh
opened = tracewh.open(sys.argv[1])
if not os.fork():
    sys.exit()
os.wait()
print(len(os.listdir(os.environ["TMPDIR"])))
"""
    command = [sys.executable, "-c", code, str(tmp_path / "wh")]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == "1\n"
    assert list(top.iterdir()) == []


def test_what_is_not_ours_stays(top: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Other folders of that name, links, and one whose lock is about to be made."""
    for name in ("tracewh-demo-1/wh", "tracewh-warehouse", f"{PREFIX}new", "elsewhere"):
        (top / name).mkdir(parents=True)
    (top / "elsewhere" / "lock").touch()
    (top / f"{PREFIX}link").symlink_to(top / "elsewhere")
    before = set(top.iterdir())
    with temporary.temporary():
        pass
    assert set(top.iterdir()) == before
    monkeypatch.setattr(temporary, "ABANDONED_SECONDS", -1)
    with temporary.temporary():
        pass
    assert before - set(top.iterdir()) == {top / f"{PREFIX}new"}


def test_another_users_folder_stays(top: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = top / f"{SCRATCH}other"
    (folder / "session").mkdir(parents=True)
    (folder / "session" / "lock").touch()
    user = os.geteuid()
    monkeypatch.setattr(os, "geteuid", lambda: user + 1)
    temporary.remove_abandoned(top)
    assert folder.exists()
    monkeypatch.setattr(os, "geteuid", lambda: user)
    temporary.remove_abandoned(top)
    assert not folder.exists()


def test_every_command_leaves_nothing(top: Path, tmp_path: Path) -> None:
    """And the next one removes what a killed one left."""
    (tmp_path / "w.json").write_text(TRACE)
    code = """
import os, signal, tracewh
opened = tracewh.open(WAREHOUSE)
opened.sql("FROM traces").fetchall()
os.kill(os.getpid(), signal.SIGKILL)
"""
    warehouse = tmp_path / "wh"
    tracewh.ingest(tmp_path / "w.json", warehouse)
    assert list(top.iterdir()) == []
    dead = subprocess.run(
        [sys.executable, "-c", code.replace("WAREHOUSE", repr(str(warehouse)))], check=False
    )
    assert dead.returncode == -signal.SIGKILL
    assert len(list(top.iterdir())) == 1
    with tracewh.open(warehouse) as opened:
        assert opened.sql("FROM traces").count("*").fetchall() == [(1,)]
        assert len(list(top.iterdir())) == 1
    assert list(top.iterdir()) == []
