"""tracewh.duckdb in the DuckDB shell that people have: 1.5, older than the library that wrote it."""

from __future__ import annotations

import csv
import io
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import tracewh

SHELL = shutil.which("duckdb", path=str(Path(sys.executable).parent)) or shutil.which("duckdb")


@pytest.fixture(scope="module")
def database(samples: tracewh.Warehouse) -> Path:
    return samples.path / "tracewh.duckdb"


def ask(database: Path, sql: str, folder: Path, *options: str) -> list[list[str]]:
    """The rows that the shell prints for one query, header first, every value as its text."""
    assert SHELL, "no duckdb shell; pip install -e '.[test]' brings one"
    done = subprocess.run(
        [SHELL, "-init", "/dev/null", "-csv", *options, database, "-c", sql],
        cwd=folder,
        check=False,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return list(csv.reader(io.StringIO(done.stdout)))


def test_it_is_a_shell_of_1_5(tmp_path: Path, database: Path) -> None:
    assert ask(database, "SELECT version()", tmp_path)[1][0].startswith("v1.5.")


@pytest.mark.parametrize(
    "query",
    [
        "FROM step_breakdown()",
        "FROM step_breakdown(run := 'resnet_workers_0', span := '1')",
        "FROM operator_stats(group_by := 'input_shape')",
        "FROM diff_operators(baseline := 'resnet_workers_0', experiment := 'resnet_workers_2')",
        "FROM trace_quality()",
        "FROM memory_curve() LIMIT 1000",
    ],
)
@pytest.mark.parametrize("options", [(), ("-readonly",)], ids=["", "readonly"])
def test_a_view_gives_the_rows_that_python_gets(
    tmp_path: Path, samples: tracewh.Warehouse, database: Path, query: str, options: tuple[str, ...]
) -> None:
    as_text = f"SELECT CAST(COLUMNS(*) AS VARCHAR) FROM ({query})"
    python = samples.sql(as_text)
    header, *rows = ask(database, as_text, tmp_path, "-nullvalue", "NULL", *options)
    assert header == python.columns
    assert rows == [["NULL" if v is None else v for v in row] for row in python.fetchall()]
    assert rows


def test_every_view_is_there_and_says_what_it_is(tmp_path: Path, database: Path) -> None:
    _, *views = ask(database, "SELECT object_name, summary FROM views()", tmp_path)
    _, *macros = ask(
        database,
        "SELECT function_name, comment FROM duckdb_functions() "
        "WHERE function_type = 'table_macro' AND NOT internal",
        tmp_path,
    )
    comments = {name: comment for name, comment in macros}
    assert len(views) >= 12
    for name, summary in views:
        assert comments[name] == summary
    assert comments["step_breakdown"].startswith(comments["step_breakdown_v1"])
    assert all(comments.values())
