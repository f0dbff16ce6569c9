"""The gate on CPU time: what is slower than before fails, unless the message of the commit says why."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from bench import gate

#: Imported by the only part that is measured: so many rounds of a loop.
WORK = "for _ in range({}): pass\n"
MANY = 1_500_000


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """With one commit, and a part that imports work.py."""
    monkeypatch.setattr(gate, "ROOT", tmp_path)
    monkeypatch.setattr(gate, "PARTS", (gate.Part("work", "import work", ()),))
    monkeypatch.setattr(gate, "make_inputs", lambda folder: None)
    git(tmp_path, "init", "-q")
    commit(tmp_path, WORK.format(MANY), "Work")
    return tmp_path


def git(folder: Path, *words: str) -> None:
    who = ("-c", "user.name=me", "-c", "user.email=me@localhost")
    subprocess.run(["git", *who, *words], cwd=folder, check=True)


def commit(folder: Path, work: str, message: str) -> None:
    (folder / "work.py").write_text(work, "utf-8")
    git(folder, "add", "work.py")
    git(folder, "commit", "-q", "--allow-empty", "-m", message)


def test_twice_the_work_fails(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    commit(repository, WORK.format(4 * MANY), "Work more")
    assert gate.main([]) == 1
    measured, verdict = capsys.readouterr().out.splitlines()
    assert float(measured.rsplit(" ", 1)[1]) > 1.3
    assert verdict.startswith("Slower than HEAD^: work. Make it as fast")


def test_a_reason_is_accepted(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    commit(
        repository, WORK.format(4 * MANY), "Work more\n\nSlower: there is four times as much of it"
    )
    assert gate.main([]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "Accepted: there is four times as much of it"


def test_less_work_passes(repository: Path) -> None:
    commit(repository, WORK.format(MANY // 3), "Work less")
    assert gate.main([]) == 0


def test_both_commits_run_at_once(repository: Path) -> None:
    """What slows the machine for a while slows both alike."""
    waits = """
import pathlib, time
pathlib.Path({!r}).touch()
until = time.monotonic() + 20
while not pathlib.Path({!r}).exists():
    assert time.monotonic() < until, "alone"
    time.sleep(0.01)
"""
    one, other = str(repository / "one"), str(repository / "other")
    commit(repository, waits.format(one, other), "Wait for the other")
    commit(repository, waits.format(other, one), "Wait for the one")
    gate.main([])


def test_work_that_fails_is_no_measurement(repository: Path) -> None:
    commit(repository, "raise ValueError('odd')", "Break it")
    with pytest.raises(SystemExit, match="odd"):
        gate.main([])


def test_without_a_commit_before_nothing_is_measured(
    repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert gate.main([]) == 0
    assert "no commit HEAD^ to compare with" in capsys.readouterr().out
