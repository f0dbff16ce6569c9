"""A program that uses the library: mypy, which is strict with it, checks that its types are those it expects.

What is wrong carries the error that mypy has to find: an ignore that nothing needs is an error, too.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, assert_type

from duckdb import DuckDBPyRelation

import tracewh
import tracewh.spark
from tracewh import (
    FileResult,
    IngestError,
    Progress,
    ViewError,
    Warehouse,
    WarehouseError,
    notebook,
)

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def report(result: FileResult) -> None:
    print(str(result.source), result.status, result.events + result.stored_bytes)
    wrong: int = result.status  # type: ignore[assignment]
    print(wrong)


def show(progress: Progress) -> None:
    print(progress.bytes_done / progress.bytes_total)
    print(progress.percent)  # type: ignore[attr-defined]


def load(folder: Path) -> list[FileResult]:
    try:
        return tracewh.ingest(folder, "warehouse", on_progress=show, on_result=report)
    except IngestError:
        return tracewh.ingest("logdir", "warehouse", force="yes")  # type: ignore[arg-type]


def count_rows(warehouse: Warehouse) -> int:
    try:
        assert_type(warehouse.view("runs"), DuckDBPyRelation)
        return len(warehouse.sql("FROM traces").fetchall())
    except ViewError:
        warehouse.sql(7)  # type: ignore[arg-type]
        return 0


def query() -> str:
    try:
        with tracewh.open(Path("warehouse")) as opened:
            assert_type(count_rows(opened), int)
    except WarehouseError as error:
        return str(error)
    return tracewh.__version__


def draw(warehouse: Warehouse) -> str:
    page = notebook.report(warehouse, "resnet", baseline="slower")
    assert_type(page, notebook.Page)
    try:
        notebook.chart(warehouse, "step_breakdown", "resnet").save("steps.svg")
    except notebook.PictureError as error:
        return str(error)
    return str(page.save(Path("report.html")))


def on_spark(session: SparkSession) -> DataFrame:
    return tracewh.spark.view(session, "kernel_stats", "s3://bucket/warehouse", run="resnet")


def test_every_name_for_type_checkers_is_there_when_it_runs() -> None:
    assert [name for name in tracewh.__all__ if not hasattr(tracewh, name)] == []
    assert dir(tracewh) == sorted([*tracewh.__all__, "__version__"])
