"""tracewh.duckdb in the DuckDB shell that people have: 1.5, older than the library that wrote it."""

from __future__ import annotations

import csv
import io
import math
import shutil
import subprocess
import sys
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

import pytest

import tracewh
from tests.copied import CopiedWarehouse
from tracewh.views.registry import installed
from tracewh.views.spec import Spec

SHELL = shutil.which("duckdb", path=str(Path(sys.executable).parent)) or shutil.which("duckdb")


@pytest.fixture(scope="module")
def database(samples: tracewh.Warehouse) -> Path:
    return Path(samples.path) / "tracewh.duckdb"


@pytest.fixture(scope="module")
def copied(database: Path) -> Iterator[tracewh.Warehouse]:
    with CopiedWarehouse(database.parent) as warehouse:
        yield warehouse


def ask(database: Path, sql: str, folder: Path, *options: str) -> list[list[str]]:
    """The rows that the shell prints for one query, header first, every value as its text."""
    assert SHELL, "no duckdb shell; pip install -e '.[test]' brings one"
    done = subprocess.run(
        [SHELL, "-init", "/dev/null", "-csv", "-nullvalue", "NULL", *options, database, "-c", sql],
        cwd=folder,
        check=False,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return list(csv.reader(io.StringIO(done.stdout)))


def from_python(warehouse: tracewh.Warehouse, sql: str) -> list[list[str]]:
    """The same rows from the Python API."""
    relation = warehouse.sql(sql)
    rows = [["NULL" if value is None else value for value in row] for row in relation.fetchall()]
    return [relation.columns, *rows]


def test_it_is_a_shell_of_1_5(tmp_path: Path, database: Path) -> None:
    assert ask(database, "SELECT version()", tmp_path)[1][0].startswith("v1.5.")


#: Values of the parameters that must be given.
REQUIRED = {
    "baseline": "resnet_workers_0",
    "experiment": "resnet_workers_2",
    "figure": "step_us",
}


def every_row(view: Spec) -> str:
    """A query for the rows of a view as text."""
    arguments = ", ".join(
        f"{param.name} := '{REQUIRED[param.name]}'" for param in view.params if param.required
    )
    return f"SELECT CAST(COLUMNS(*) AS VARCHAR) FROM {view.object_name}({arguments}) LIMIT 2000"


@pytest.fixture(scope="module")
def answers(database: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What one shell says of each view: a file of rows, which stays empty after an error, and all errors."""
    assert SHELL
    folder = tmp_path_factory.mktemp("answers")
    for view in installed():
        with (folder / "all.sql").open("a") as script:
            script.write(f".output {view.object_name}.csv\n{every_row(view)};\n")
    with (folder / "all.sql").open() as script, (folder / "errors").open("w") as errors:
        options = ("-init", "/dev/null", "-csv", "-nullvalue", "NULL", database)
        subprocess.run([SHELL, *options], cwd=folder, check=False, stdin=script, stderr=errors)
    return folder


# A function that 2.0 knows and 1.5 does not only shows when the view is asked.
@pytest.mark.parametrize("view", list(installed()), ids=lambda view: view.object_name)
def test_every_view_gives_the_rows_that_python_gets(
    copied: tracewh.Warehouse, answers: Path, view: Spec
) -> None:
    expected = from_python(copied, every_row(view))
    with (answers / f"{view.object_name}.csv").open(newline="") as rows:
        found = list(csv.reader(rows))
    assert found[:1] == expected[:1], (answers / "errors").read_text()
    assert len(found) == len(expected)
    # The last digit of a quotient or a root is not the same in both versions.
    different = [
        pair
        for pair in zip(chain(*found), chain(*expected), strict=True)
        if pair[0] != pair[1] and not is_near(*pair)
    ]
    assert different == []


def is_near(text: str, other: str) -> bool:
    try:
        return math.isclose(float(text), float(other), rel_tol=1e-12, abs_tol=1e-9)
    except ValueError:
        return False


@pytest.mark.parametrize(
    "query",
    [
        "FROM step_breakdown(run := 'resnet_workers_0', span := '1')",
        "FROM operator_stats(group_by := 'input_shape', step := 2)",
        "SELECT name, count(*) AS calls FROM cpu_ops GROUP BY name ORDER BY ALL",
    ],
)
@pytest.mark.parametrize("options", [(), ("-readonly",)], ids=["", "readonly"])
def test_a_query_gives_the_rows_that_python_gets(
    tmp_path: Path, samples: tracewh.Warehouse, database: Path, query: str, options: tuple[str, ...]
) -> None:
    query = f"SELECT CAST(COLUMNS(*) AS VARCHAR) FROM ({query})"
    header, *rows = ask(database, query, tmp_path, *options)
    assert [header, *rows] == from_python(samples, query)
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
