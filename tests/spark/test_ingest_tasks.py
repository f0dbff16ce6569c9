"""`ingest` on a cluster: what it stores is what one machine stores, whatever happens meanwhile."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import tracewh
import tracewh.spark
from tests.conftest import ROOT
from tests.storage.remote.conftest import BUCKET, Store
from tracewh.ingest.progress import Progress
from tracewh.ingest.result import FileResult
from tracewh.views.registry import installed

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

#: Small ones, of two workers and of a GPU.
RUNS = ("ddp_gloo", "resnet_workers_0")
Rows = dict[str, list[tuple[Any, ...]]]


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two runs with two traces each, and a file that is no trace."""
    folder = tmp_path_factory.mktemp("logs")
    for run in RUNS:
        shutil.copytree(ROOT / "samples" / run, folder / run)
    (folder / "ddp_gloo" / "other.json").write_text('{"a": 1}')
    return folder


def rows(warehouse: str | Path) -> Rows:
    """All rows of all tables, in an order of their own, but for when they came in."""
    with tracewh.open(warehouse) as opened:
        return {
            spec.name: opened.sql(
                f"FROM {spec.name} SELECT CAST(COLUMNS(*"
                f"{' EXCLUDE (ingested_at)' if spec.name == 'traces' else ''}) AS VARCHAR) ORDER BY ALL"
            ).fetchall()
            for spec in installed().tables()
        }


def told(outcomes: Sequence[FileResult]) -> list[tuple[Any, ...]]:
    """What outcomes say, but for what takes its time and what is compressed in its own way."""
    return [
        (str(o.source), o.status, o.reason, o.run, o.worker, o.span, o.source_bytes, o.events)
        for o in outcomes
    ]


@pytest.mark.parametrize("kind", ["folder", "store"])
def test_a_warehouse_is_that_of_one_machine(
    spark: SparkSession, bucket: Store, logs: Path, tmp_path: Path, kind: str
) -> None:
    source, warehouse = str(logs), str(tmp_path / "spark")
    if kind == "store":
        for path in logs.rglob("*.json*"):
            bucket.put(f"logs/{path.relative_to(logs)}", path.read_bytes())
        source, warehouse = f"s3://{BUCKET}/logs", f"s3://{BUCKET}/warehouse"
    local = tracewh.ingest(source, tmp_path / "local")
    steps: list[Progress] = []
    settled: list[FileResult] = []
    outcomes = tracewh.spark.ingest(
        spark, source, warehouse, on_progress=steps.append, on_result=settled.append
    )
    assert told(outcomes) == told(local)
    assert sorted(told(settled)) == sorted(told(local))
    assert all(o.seconds > 0 and bool(o.stored_bytes) == (o.status == "ingested") for o in outcomes)
    whole = sum(o.source_bytes for o in local)
    assert steps[-1] == Progress(5, 5, whole, whole, sum(o.events for o in local))
    assert rows(warehouse) == rows(tmp_path / "local")
    again = tracewh.spark.ingest(spark, source, warehouse)
    assert [o.status for o in again] == ["refused"] + ["unchanged"] * 4
