"""What README.md and docs/ tell people to type works, in the order in which they tell it."""

from __future__ import annotations

import contextlib
import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import termios
from pathlib import Path
from typing import Any

import pytest

import tracewh
from tracewh.views import spec

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *(ROOT / folder / "README.md" for folder in ("samples", "bench"))]
PAGES += sorted((ROOT / "docs").rglob("*.md"))


def fenced(page: Path) -> list[tuple[str, str]]:
    """The fenced blocks of a page: language and text."""
    return re.findall(r"^```(\w+)\n(.*?)^```$", page.read_text(), re.MULTILINE | re.DOTALL)


@pytest.fixture
def folder(tmp_path: Path, samples: tracewh.Warehouse, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder in which the samples are in ./tracewh-warehouse."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.delenv("TRACEWH_WAREHOUSE", raising=False)
    tracewh.ingest([ROOT / "samples"], tmp_path / "tracewh-warehouse")
    return tmp_path


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
                if not line.startswith("pip install"):
                    run_command(line)
        else:
            continue
        ran.add(language)
    assert ran == {"python", "sql", "sh"}


def test_the_outputs_in_the_readme_are_what_a_terminal_shows(folder: Path) -> None:
    (promised,) = (text for language, text in fenced(ROOT / "README.md") if language == "console")
    shown = ""
    for command in re.findall(r"^\$ (.+)$", promised, re.MULTILINE):
        shown += f"$ {command}\n{in_terminal(command)}\n"
    assert without_blanks(shown) == without_blanks(promised)


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


def test_the_example_of_a_view_passes_its_example_of_a_test(tables: Any) -> None:
    blocks = dict(fenced(ROOT / "docs" / "adding-a-view.md"))
    view = spec.parse(blocks["sql"], "views/operators/longest_calls_v1.sql")
    tables.con.execute(view.sql)
    described = tables.con.sql(f"DESCRIBE FROM {view.object_name}()").fetchall()
    assert [(name, kind) for name, kind, *_ in described] == [
        (column.name, column.type) for column in view.columns
    ]
    lines = [line for line in blocks["text"].splitlines() if not line.startswith("#")]
    given, *queries = "\n".join(lines).strip().split("\n\n")
    tables.insert(given)
    assert len(queries) == 2
    for query in queries:
        sql, rows = re.split(r"\n-{4}\n", query.partition("\n")[2])
        found = tables.con.sql(f"SELECT CAST(COLUMNS(*) AS VARCHAR) FROM ({sql})").fetchall()
        assert found == [tuple(re.split(r"\s{2,}", row)) for row in rows.splitlines()]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    links = re.findall(r"\]\((?!https?:)([^)#]+)", page.read_text())
    assert [link for link in links if not (page.parent / link).exists()] == []
