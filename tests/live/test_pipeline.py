"""pipeline_actions of a pipeline that is trained here, against the schedule that torch says it has."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

import tracewh
from tests.torch_forks import run_with_torch
from tracewh.views.registry import installed

HERE = Path(__file__).parent
STAGES, MICROBATCHES = 4, 4


@pytest.fixture(scope="module")
def traces(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("pipeline")
    run_with_torch(HERE / "record_pipeline.py", folder)
    return folder


@pytest.fixture(scope="module")
def both(traces: Path) -> Iterator[tracewh.Warehouse]:
    tracewh.ingest(sorted(traces.glob("rank*.json")), traces / "both", run="pp")
    with tracewh.open(traces / "both") as warehouse:
        yield warehouse


def test_each_chunk_does_every_microbatch_once_in_a_step(both: tracewh.Warehouse) -> None:
    """Chunk c runs on rank c % 2. What one sends, the next receives."""
    rows = both.view("pipeline_actions").select("step, rank, gmc, action, mb_id, is_complete")
    found = rows.fetchall()
    assert {row[5] for row in found} == {True}
    steps = sorted({row[0] for row in found if row[0] is not None})
    assert len(steps) == 2
    last = STAGES - 1
    expected = Counter(
        (step, gmc % 2, gmc, action, mb_id)
        for step in steps
        for mb_id in range(MICROBATCHES)
        for gmc in range(STAGES)
        for action, is_there in (
            ("forward", True),
            ("backward", True),
            ("forward-send", gmc < last),
            ("forward-recv", gmc > 0),
            ("backward-send", gmc > 0),
            ("backward-recv", gmc < last),
        )
        if is_there
    )
    assert Counter(row[:5] for row in found if row[4] is not None) == expected


def test_a_chunk_ends_a_microbatch_after_the_chunk_before(both: tracewh.Warehouse) -> None:
    """The two ranks have one clock, and a forward pass may wait for what it receives."""
    rows = both.view("pipeline_actions").filter("action = 'forward'")
    ends = {
        (step, mb_id, gmc): end
        for step, mb_id, gmc, end in rows.select(
            "step, mb_id, gmc, start_ns + 1000 * duration_us"
        ).fetchall()
    }
    assert len(ends) == 2 * STAGES * MICROBATCHES
    for (step, mb_id, gmc), end in ends.items():
        if gmc:
            assert end > ends[step, mb_id, gmc - 1]


def test_one_rank_alone_is_not_complete(traces: Path) -> None:
    tracewh.ingest([traces / "rank0.1.pt.trace.json"], traces / "one", run="pp")
    with tracewh.open(traces / "one") as warehouse:
        found = warehouse.view("pipeline_actions").select("rank, is_complete").distinct()
        assert found.fetchall() == [(0, False)]


def test_a_pipeline_on_cpus_gives_no_table_and_says_why(both: tracewh.Warehouse) -> None:
    assert both.view("pipeline_operation_table").fetchall() == []
    notes = both.notes(installed().get("pipeline_operation_table"), {"run": "pp"})
    assert [(keys[0], why) for keys, why in notes] == [
        (
            "pp",
            "Optimizer.step#SGD.step of rank 0 launched no work of a device, so its time is not known.",
        )
    ]
