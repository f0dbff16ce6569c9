"""torch's exporter in Python: its trace of a recording has what Kineto's trace of it has."""

from __future__ import annotations

from pathlib import Path

import pytest

import tracewh
from tests.torch_forks import run_with_torch


@pytest.fixture(scope="module")
def warehouse(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("exports")
    run_with_torch(Path(__file__).parent / "record_exports.py", folder / "log")
    results = tracewh.ingest([folder / "log"], folder / "warehouse")
    assert [result.status for result in results] == ["ingested"] * 2
    return folder / "warehouse"


@pytest.mark.parametrize(
    "table", ["flows", "host_events", "memory_records", "stacks", "step_activity", "steps"]
)
def test_the_tables_are_the_same(table: str, warehouse: Path) -> None:
    with tracewh.open(warehouse) as opened:
        names = [name for name, *_ in opened.sql(f"DESCRIBE {table}").fetchall()]
        # The two write some events in another order, and so others have their ids.
        columns = ", ".join(n for n in names if not n.endswith("_id") and n not in ("run", "raw"))
        found = {
            run: opened.sql(
                f"SELECT {columns} FROM {table} WHERE run = ? ORDER BY ALL", [run]
            ).fetchall()
            for run in ("kineto", "python")
        }
    assert found["kineto"]
    assert found["python"] == found["kineto"]
