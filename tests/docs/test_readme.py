"""What README.md and docs/ tell people to type works, in the order in which they tell it."""

from __future__ import annotations

import contextlib
import fcntl
import os
import pty
import re
import shlex
import shutil
import struct
import subprocess
import sys
import termios
from pathlib import Path
from typing import Any

import pytest

import tracewh
from tracewh.cli.app import main
from tracewh.views import GROUPS
from tracewh.views.registry import installed

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / f"{name}.md" for name in ("README", "CONTRIBUTING", "CHANGELOG", "SECURITY")]
PAGES += [ROOT / folder / "README.md" for folder in ("samples", "bench", "tests/fuzz")]
PAGES += sorted((ROOT / "docs").rglob("*.md"))


def fenced(page: Path) -> list[tuple[str, str]]:
    """The fenced blocks of a page: language and text."""
    return re.findall(r"^```(\w+)\n(.*?)^```$", page.read_text(), re.MULTILINE | re.DOTALL)


@pytest.fixture
def bare(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty working folder, and our own `tracewh` first in PATH."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.delenv("TRACEWH_WAREHOUSE", raising=False)
    return tmp_path


@pytest.fixture
def folder(bare: Path, samples: tracewh.Warehouse) -> Path:
    """A working folder in which the samples are in ./tracewh-warehouse."""
    shutil.copytree(samples.path, bare / "tracewh-warehouse")
    return bare


def run_command(line: str) -> str:
    done = subprocess.run(line, check=False, shell=True, capture_output=True, text=True)
    assert done.returncode == 0, f"{line}\n{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.mark.filterwarnings("ignore::UserWarning:torch.profiler")
def test_the_readme_from_top_to_bottom(folder: Path) -> None:
    # The reader's own training loop, which the recording snippet leaves out.
    names: dict[str, Any] = {"loader": range(5), "train": lambda batch: None}
    ran = set()
    for language, text in fenced(ROOT / "README.md"):
        if language == "python":
            exec(compile(text, "README.md", "exec"), names)  # noqa: S102
        elif language == "sql":
            with tracewh.open("tracewh-warehouse") as warehouse:
                for statement in filter(str.strip, text.split(";\n")):
                    assert warehouse.sql(statement.rstrip(";\n")).fetchall(), statement
        elif language == "sh":
            for line in text.splitlines():
                if line.startswith("tracewh "):  # in this process, where all is imported
                    assert main(shlex.split(line, comments=True)[1:]) == 0, line
                elif not line.startswith("pip install"):
                    run_command(line)
        else:
            continue
        ran.add(language)
    assert ran == {"python", "sql", "sh"}


def test_the_outputs_in_the_readme_are_what_a_terminal_shows(folder: Path) -> None:
    blocks = [text for language, text in fenced(ROOT / "README.md") if language == "console"]
    assert len(blocks) == 2
    for block in blocks:
        shown = ""
        for command in re.findall(r"^\$ (.+)$", block, re.MULTILINE):
            shown += f"$ {command}\n{in_terminal(command)}\n"
        assert without_blanks(shown) == without_blanks(block)


def in_terminal(command: str) -> str:
    """What a command writes to a terminal of 100 columns without colours."""
    ours, its = pty.openpty()
    fcntl.ioctl(its, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 100, 0, 0))
    environment = {**os.environ, "NO_COLOR": "1", "TERM": "xterm"}
    environment.pop("COLUMNS", None)
    process = subprocess.Popen(
        command, shell=True, env=environment, stdin=its, stdout=its, stderr=its
    )
    os.close(its)
    written = b""
    # Linux says the other end is closed by an error, others by giving nothing.
    with contextlib.suppress(OSError):
        while block := os.read(ours, 65536):
            written += block
    os.close(ours)
    assert process.wait() == 0, written.decode()
    return written.decode().replace("\r\n", "\n")


def without_blanks(text: str) -> list[str]:
    return [line.rstrip() for line in text.splitlines() if line.strip()]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    links = re.findall(r"\]\((?!https?:)([^)#]+)", page.read_text())
    assert [link for link in links if not (page.parent / link).exists()] == []


NOTEBOOKS = sorted((ROOT / "samples" / "notebooks").glob("*.ipynb"))


@pytest.mark.parametrize("page", [*PAGES, *NOTEBOOKS], ids=lambda page: str(page.relative_to(ROOT)))
def test_extras_are_installed_from_the_checkout(page: Path) -> None:
    """As in the README: 0.1.0 is not on PyPI yet. The changelog quotes what a command says."""
    lines = re.findall(
        r"^(?!.*and says so).*pip install '?tracewh\b.*", page.read_text("utf-8"), re.MULTILINE
    )
    assert lines == []


def test_the_changelog_counts_the_views_for_spark_sql() -> None:
    text = (ROOT / "CHANGELOG.md").read_text("utf-8")
    carried = [view.name for view in installed().newest() if "spark" in view.carries]
    assert re.findall(r"(\d+) of the views for Spark SQL", text) == [f"{len(carried)}"]


def test_the_changelog_lists_each_view_once() -> None:
    text = (ROOT / "CHANGELOG.md").read_text("utf-8")
    entries = re.findall(
        rf"^- ({'|'.join(GROUPS)}): ([a-z_,\s]+)\.$", text, re.MULTILINE | re.IGNORECASE
    )
    listed = [
        (group.lower(), name) for group, names in entries for name in re.split(r",\s+", names)
    ]
    assert sorted(listed) == sorted((view.group, view.name) for view in installed().newest())
