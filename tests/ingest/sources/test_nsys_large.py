"""Exports of Nsight Systems with more rows than fit into memory."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import pytest

import tracewh
from bench.draw_nsys import draw


def _rows(path: Path, warehouse: Path) -> list[list[tuple[Any, ...]]]:
    [result] = tracewh.ingest([path], warehouse, run="r")
    assert (result.status, result.reason) == ("ingested", "")
    with tracewh.open(warehouse) as opened:
        return [
            opened.sql(f"FROM {table} ORDER BY ALL").fetchall()
            for table in ("host_events", "device_events", "flows", "stacks")
        ]


def test_the_number_of_rows_sorted_at_a_time_changes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "drawn.sqlite"
    draw(path, kernels=500, ranges=4_000)
    whole = _rows(path, tmp_path / "whole")
    tables = importlib.import_module("tracewh.ingest.sources.nsys.tables")
    monkeypatch.setattr(tables, "_SLICE_ROWS", 128)
    assert _rows(path, tmp_path / "sliced") == whole
    assert [len(rows) for rows in whole[:3]] == [4_500, 500, 500]


def test_an_export_is_ingested_in_less_memory_than_its_rows_need(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "drawn.sqlite"
    draw(path, kernels=40_000, ranges=600_000)
    pool = importlib.import_module("tracewh.ingest.database_pool")
    monkeypatch.setattr(pool, "MEMORY_BYTES", 110 << 20)
    [result] = tracewh.ingest([path], tmp_path / "warehouse")
    assert (result.status, result.reason) == ("ingested", "")
    with tracewh.open(tmp_path / "warehouse") as opened:
        counts = opened.sql("""
            SELECT count(*), count(DISTINCT h.event_id), max(h.event_id), max(h.depth)
            FROM host_events AS h
        """).fetchall()
    assert counts == [(640_000, 640_000, 639_999, 5)]


def test_what_an_export_cannot_have_takes_no_memory_and_is_null(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "drawn.sqlite"
    draw(path, kernels=10, ranges=20)
    ingest_trace = importlib.import_module("tracewh.ingest.ingest_trace")
    write_traces, seen = ingest_trace.write_traces, {}

    def looked_at(con: Any, *arguments: Any) -> None:
        for table in ("raw_host", "raw_device"):
            seen[table] = {name for name, *_ in con.execute(f"DESCRIBE {table}").fetchall()}
        write_traces(con, *arguments)

    monkeypatch.setattr(ingest_trace, "write_traces", looked_at)
    tracewh.ingest([path], tmp_path / "warehouse")
    assert "input_dims" in seen["raw_host"] and "grid" in seen["raw_device"]
    assert not seen["raw_host"] & {"concrete_inputs", "python_id", "raw", "flow_id"}
    assert not seen["raw_device"] & {"queued_ns", "in_split_sizes", "raw", "flow_id"}
    with tracewh.open(tmp_path / "warehouse") as opened:
        assert opened.sql("""
            SELECT count(*), count(h.concrete_inputs), count(h.python_id), count(h.raw) FROM host_events AS h
        """).fetchall() == [(30, 0, 0, 0)]
        assert opened.sql("""
            SELECT count(*), count(d.queued_ns), count(d.in_split_sizes), count(d.grid) FROM device_events AS d
        """).fetchall() == [(10, 0, 0, 10)]
