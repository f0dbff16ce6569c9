"""A program that uses the library passes `mypy --strict`: its public names are there, with their types."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import tracewh

CLIENT = """\
from pathlib import Path

import tracewh
import tracewh.spark
from pyspark.sql import DataFrame, SparkSession
from tracewh import FileResult, IngestError, Progress, ViewError, Warehouse, WarehouseError


def report(result: FileResult) -> None:
    print(str(result.source), result.status, result.events + result.stored_bytes)


def show(progress: Progress) -> None:
    print(progress.bytes_done / progress.bytes_total)


def load(folder: Path) -> list[FileResult]:
    try:
        return tracewh.ingest(folder, "warehouse", on_progress=show, on_result=report)
    except IngestError:
        return []


def rows(warehouse: Warehouse) -> int:
    try:
        return len(warehouse.sql("FROM traces").fetchall())
    except ViewError:
        return 0


try:
    with tracewh.open(Path("warehouse")) as opened:
        count: int = rows(opened)
except WarehouseError as error:
    message: str = str(error)

version: str = tracewh.__version__


def on_spark(session: SparkSession) -> DataFrame:
    return tracewh.spark.view(session, "kernel_stats", "s3://bucket/warehouse", run="resnet")
"""

WRONG = """\
import tracewh
from tracewh import FileResult, Progress


def report(result: FileResult) -> int:
    return result.status


def show(progress: Progress) -> None:
    print(progress.percent)


tracewh.ingest("logdir", "warehouse", force="yes")
with tracewh.open("warehouse") as warehouse:
    warehouse.sql(7)
"""


ROOT = Path(tracewh.__file__).parents[1]


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What mypy remembers of the modules that both programs import."""
    return tmp_path_factory.mktemp("mypy")


def problems(folder: Path, cache: Path, client: str) -> list[str]:
    """What `mypy --strict` finds in a program; not in the modules that it imports."""
    (folder / "client.py").write_text(client, "utf-8")
    done = subprocess.run(
        [
            sys.executable, "-m", "mypy", "--strict", "--config-file=", "--follow-imports=silent",
            "--no-error-summary", f"--cache-dir={cache}", "client.py",
        ],
        cwd=folder, env={**os.environ, "MYPYPATH": str(ROOT)},
        check=False, capture_output=True, text=True,
    )  # fmt: skip
    assert not done.stderr
    return done.stdout.splitlines()


def test_a_program_that_is_right(tmp_path: Path, cache: Path) -> None:
    assert problems(tmp_path, cache, CLIENT) == []


def test_a_program_that_is_wrong(tmp_path: Path, cache: Path) -> None:
    assert [each.partition(": error: ")[2] for each in problems(tmp_path, cache, WRONG)] == [
        (
            "Incompatible return value type "
            "(got \"Literal['ingested', 'unchanged', 'refused']\", expected \"int\")  [return-value]"
        ),
        '"Progress" has no attribute "percent"  [attr-defined]',
        'Argument "force" to "ingest" has incompatible type "str"; expected "bool"  [arg-type]',
        'Argument 1 to "sql" of "Warehouse" has incompatible type "int"; expected "str"  [arg-type]',
    ]


def test_every_name_for_type_checkers_is_there_when_it_runs() -> None:
    assert [name for name in tracewh.__all__ if not hasattr(tracewh, name)] == []
    assert dir(tracewh) == sorted([*tracewh.__all__, "__version__"])
