"""The two files of docs/adding-a-view.md, in a copy of the project: what the page says holds for them."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import tracewh
from tests.docs.test_readme import fenced

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "adding-a-view.md"
#: What a view needs of the project: where it is read, tested and linted.
COPIED = ("cli", "docs", "ingest", "sql", "tests", "tracewh", "views")
SETTINGS = ("pyproject.toml", ".sqlfluff", ".sqlfluffignore")
VIEW, TEST = "views/operators/longest_calls_v1.sql", "tests/views/longest_calls_v1.test"


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the project with the page's view and its test."""
    copy = tmp_path_factory.mktemp("project")
    for name in COPIED:
        without = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / name, copy / name, symlinks=True, ignore=without)
    (copy / "tracewh" / "samples").unlink()  # its link leads to what is not copied
    (copy / "samples").symlink_to(ROOT / "samples")
    (copy / "tracewh" / "samples").symlink_to("../samples")
    for name in SETTINGS:
        shutil.copy(ROOT / name, copy / name)
    blocks = dict(fenced(PAGE))
    (copy / VIEW).write_text(blocks["sql"], "utf-8")
    (copy / TEST).write_text(blocks["text"], "utf-8")
    return copy


def run(project: Path, *command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *command],
        cwd=project,
        env={**os.environ, "PYTHONPATH": str(project)},
        check=False,
        capture_output=True,
        text=True,
    )


def test_the_page_names_both_files() -> None:
    text = PAGE.read_text("utf-8")
    assert f"`{VIEW}`:" in text
    assert f"`{TEST}`" in text


def test_its_test_and_the_rules_for_all_views_pass(project: Path) -> None:
    rules = ("tests/views/test_contracts.py", "tests/sql/test_sql_rules.py")
    done = run(
        project,
        "-m",
        "pytest",
        "-q",
        "-n0",
        TEST,
        *rules,
        "-k",
        "longest_calls and not real_traces",
    )
    assert done.returncode == 0, done.stdout
    # Two queries of the test, and what holds for its columns, parameters, order, keys and SQL.
    assert int(done.stdout.rpartition(" passed")[0].rpartition("\n")[2]) > 6, done.stdout


def test_a_wrong_row_is_found(project: Path) -> None:
    """The run above reads the file and compares it."""
    (project / TEST).with_name("wrong_v1.test").write_text(
        (project / TEST).read_text("utf-8").replace("3000  2.5", "3000  2.6"), "utf-8"
    )
    done = run(project, "-m", "pytest", "-q", "-n0", "tests/views/wrong_v1.test")
    assert done.returncode == 1
    assert "2.6" in done.stdout


def test_sqlfluff_finds_nothing(project: Path) -> None:
    done = run(project, "-m", "sqlfluff", "lint", "--disable-progress-bar", VIEW)
    assert done.returncode == 0, done.stdout


def test_its_command_answers(project: Path, samples: tracewh.Warehouse) -> None:
    (example,) = (
        line.removeprefix("-- example: samples ")
        for line in (project / VIEW).read_text("utf-8").splitlines()
        if line.startswith("-- example: ")
    )
    asked = ("show", "longest_calls", *example.split(), "-w", str(samples.path), "--format", "csv")
    code = "from tracewh.cli.app import run; run()"
    done = run(project, "-c", code, *asked)
    assert done.returncode == 0, done.stderr
    header, *rows = done.stdout.splitlines()
    assert header == "run,worker,span,event_id,name,start_ns,duration_us"
    assert len(rows) == 5
