"""Traces of the worker processes of a data loader: ordinary traces of what each of them computes."""

from __future__ import annotations

from pathlib import Path

import tracewh
from tests.torch_forks import run_with_torch


def test_each_worker_process_is_a_worker_of_a_run(tmp_path: Path) -> None:
    # It imports torch, and every process of a test run collects this file.
    from tests.live.record_loader_workers import BATCH, BATCHES, WORKERS

    run_with_torch(Path(__file__).parent / "record_loader_workers.py", tmp_path / "log")
    results = tracewh.ingest([tmp_path / "log"], tmp_path / "warehouse")
    assert [result.status for result in results] == ["ingested"] * WORKERS
    with tracewh.open(tmp_path / "warehouse") as warehouse:
        found = warehouse.sql("""
            SELECT a.run, a.worker, a.calls FROM annotation_breakdown() AS a
            WHERE a.name = 'decode' ORDER BY a.worker
        """).fetchall()
        each = BATCH * BATCHES // WORKERS
        assert found == [("loader_workers", f"loader{n}", each) for n in range(WORKERS)]
        operators = warehouse.sql(
            "SELECT o.worker, o.calls FROM operator_stats() AS o WHERE o.name = 'aten::mm' ORDER BY o.worker"
        ).fetchall()
        assert operators == [(f"loader{n}", each) for n in range(WORKERS)]
        # They do not say which batch is made: that is for the recorder in the training process.
        assert warehouse.view("data_pipeline").fetchall() == []
