"""A view that is asked for one trace opens the files of that trace alone, however many there are."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from typing import Any

import pytest

import tracewh
from tracewh.views import Spec
from tracewh.views.registry import installed
from tracewh.views.trace_groups import EVENT_TABLES

REGISTRY = installed()
#: They find a path through several relations, and are not told the names. `show` opens the files of one trace.
EXCEPT = ("critical_path", "critical_path_summary")


@pytest.fixture(scope="module")
def two_workers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tracewh.Warehouse]:
    folder = tmp_path_factory.mktemp("two_workers")
    (folder / "a.json").write_text(
        '{"traceEvents": [{"ph": "X", "cat": "cpu_op", "name": "add", "ts": 1, "dur": 1}]}'
    )
    tracewh.ingest([folder / "a.json"], folder / "warehouse", run="run")
    data = folder / "warehouse/data/run=run"
    shutil.copytree(data / "worker=a", data / "worker=b")
    with tracewh.open(folder / "warehouse") as warehouse:
        yield warehouse


def scans(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """What a plan says about each table that it reads."""
    if plan.get("name", "").strip() == "READ_PARQUET":
        yield plan["extra_info"]
    for child in plan.get("children", []):
        yield from scans(child)


def has_events(columns: list[str]) -> bool:
    """Whether no table but those with a row for each event has all of these columns."""
    return not any(
        set(columns) <= {column.name for column in table.columns}
        for table in REGISTRY.tables()
        if table.name not in EVENT_TABLES
    )


@pytest.mark.parametrize(
    "view",
    [
        view
        for view in REGISTRY
        if view.distributes in ("trace", "worker") and view.name not in EXCEPT
    ],
    ids=lambda view: view.object_name,
)
def test_a_view_of_one_worker_reads_the_events_of_no_other(
    two_workers: tracewh.Warehouse, view: Spec
) -> None:
    call = REGISTRY.call(view.name, view.version, run="run", worker="a")
    [(_, text)] = two_workers.sql(f"EXPLAIN (FORMAT json) {call.sql}").fetchall()
    read = [scan for plan in json.loads(text) for scan in scans(plan)]
    of_all = [
        scan["Projections"]
        for scan in read
        if "Scanning Files" not in scan and has_events(scan["Projections"])
    ]
    assert of_all == []
