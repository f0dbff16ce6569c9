"""What the verdict says where the time goes outside of operators."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import tracewh
from tests.torch_forks import run_with_torch

SCRIPT = Path(__file__).parent / "record_waits.py"
#: How long a step sleeps there.
SLEEP_US = 20_000


@pytest.fixture(scope="module")
def warehouse(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tracewh.Warehouse]:
    folder = tmp_path_factory.mktemp("waits")
    run_with_torch(SCRIPT, folder / "log")
    tracewh.ingest([folder / "log"], folder / "warehouse")
    with tracewh.open(folder / "warehouse") as opened:
        yield opened


def test_the_function_that_sleeps_is_named(warehouse: tracewh.Warehouse) -> None:
    """Of a function that was open before, the profiler writes the line where it was then."""
    lines = SCRIPT.read_text("utf-8").splitlines()
    [number] = [n for n, line in enumerate(lines, 1) if line.startswith("def sleep(")]
    for run, place in (("called", f"sleep (record_waits.py:{number})"), ("inline", "record (")):
        [finding] = _rows(warehouse, run, "finding")
        assert (finding["name"], finding["view"]) == ("outside_operators", "source_lines")
        assert place in finding["remedy"]
        assert finding["value"] >= SLEEP_US


def test_without_frames_the_advice_is_to_record_them(warehouse: tracewh.Warehouse) -> None:
    [finding] = _rows(warehouse, "unknown", "finding")
    assert finding["remedy"] == "To find out what the host does, record with with_stack=True."


def test_operators_of_other_threads_are_not_called_unrecorded(
    warehouse: tracewh.Warehouse,
) -> None:
    assert warehouse.sql("SELECT count(*) FROM cpu_ops WHERE run = 'thread'").fetchall() == [(0,)]
    [headline] = _rows(warehouse, "thread", "headline")
    assert headline["text"].endswith("No operator was recorded: perhaps other threads run them.")
    [card] = [row for row in _rows(warehouse, "thread", "card") if row["name"] == "top_operator"]
    assert "profile_all_threads=True" in card["detail"]


def _rows(warehouse: tracewh.Warehouse, run: str, part: str) -> list[dict[str, Any]]:
    found = warehouse.verdict(run=run).filter(f"part = '{part}'")
    return [dict(zip(found.columns, row, strict=True)) for row in found.fetchall()]
