"""Gaps of a device: device events are not joined with each other."""

from __future__ import annotations

import json
from pathlib import Path

import tracewh
from tracewh.ingest.api import ingest


def test_device_events_are_not_joined_with_each_other(tmp_path: Path) -> None:
    """DuckDB looks at the first file, which has none, and would take any join of them for a small one."""
    event = {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": 0, "dur": 1}
    kernel = {"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "dur": 1}
    for run, events in {"a": [event], "b": [{**kernel, "ts": ts} for ts in range(1000)]}.items():
        (tmp_path / run).mkdir()
        (tmp_path / run / "w.json").write_text(json.dumps({"traceEvents": events}))
    ingest([tmp_path], tmp_path / "warehouse")
    with tracewh.open(tmp_path / "warehouse") as warehouse:
        explain = "EXPLAIN (ANALYZE, FORMAT json) FROM gpu_gaps(run := 'a')"
        [(_, plan)] = warehouse.sql(explain).fetchall()
    assert json.loads(plan)["query"]["total_intermediate_rows"] < 100_000
