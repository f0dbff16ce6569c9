"""What a command is started with: its arguments, its folders and its streams."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import Command
from tests.conftest import ROOT

SAMPLE = ROOT / "samples" / "gpt_memory"


def test_a_warehouse_without_a_name(
    tracewh: Command, warehouse: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for command in ("runs", "ingest nothing", "check"):
        done = tracewh(*command.split(), "-w", "")
        assert (done.code, done.err) == (2, "tracewh: --warehouse is empty; name a folder\n")
    assert [*tmp_path.iterdir()] == []


@pytest.mark.parametrize(
    "words",
    ["summary {}", "show {}", "query {}", "runs -w {}", "ingest {}", "diff a {}", "query 1 -o {}"],
)
def test_an_argument_that_is_not_utf8(tracewh: Command, warehouse: Path, words: str) -> None:
    done = tracewh(*words.format("a\udcff").split())
    assert (done.code, done.err) == (2, "tracewh: an argument is not UTF-8: a\\udcff\n")


def test_a_folder_that_is_not_utf8(
    tracewh: Command, warehouse: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / os.fsdecode(b"n\xff")
    folder.mkdir()
    monkeypatch.chdir(folder)
    said = f"tracewh: {tmp_path}/n\\udcff/wh: the path of a warehouse must be UTF-8\n"
    for words in ("runs", f"ingest {warehouse}", f"ingest {SAMPLE}", "serve", "check"):
        done = tracewh(*words.split(), "-w", "wh")
        assert (done.code, done.err) == (1, said), words
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    done = tracewh("runs", "-w", str(warehouse))
    assert (done.code, done.err) == (
        1,
        f"tracewh: {tmp_path}/n\\udcff: its path is not UTF-8; name another temporary folder in TMPDIR\n",
    )
    assert [*folder.iterdir()] == []


def test_a_current_folder_that_is_gone(
    tracewh: Command, warehouse: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    said = "tracewh: the current folder does not exist any more; change to another one\n"
    for command in ("runs", f"ingest {warehouse}", "check", "serve"):
        done = tracewh(*command.split(), "-w", "relative")
        assert (done.code, done.err) == (1, said)
    assert tracewh("runs", "-w", str(warehouse)).code == 0


@pytest.mark.parametrize(
    ("closed", "out"),
    [("<&-", "n\n─\n1\n"), (">&-", ""), ("2>&-", "n\n─\n1\n"), ("<&- >&- 2>&-", "")],
)
def test_a_stream_that_is_closed(warehouse: Path, closed: str, out: str) -> None:
    command = f'"$0" -c "from tracewh.cli.app import run; run()" query "$1" {closed}'
    for query, expected in (("SELECT 1 AS n", (0, out)), ("SELECT nope", (1, ""))):
        done = subprocess.run(
            ["sh", "-c", command, sys.executable, query],
            capture_output=True, encoding="utf-8", check=False,
            env=os.environ | {"TRACEWH_WAREHOUSE": str(warehouse)},
        )  # fmt: skip
        assert (done.returncode, done.stdout) == expected
        assert "Traceback" not in done.stderr
