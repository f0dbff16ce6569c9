"""A CUDA graph that is recorded here and now: what is captured and replayed, on a GPU.

tests/samples/test_gpu_samples.py has graphs of torch.compile, which were captured before the recording.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import tracewh

#: Records a graph, and REPLAYS replays of it, all in one file.
RECORDER = Path(__file__).parent / "record_graphs.py"
REPLAYS = 3


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tracewh.Warehouse]:
    import torch

    if not torch.cuda.is_available():
        pytest.skip("CUDA graphs need an NVIDIA or AMD GPU")
    folder = tmp_path_factory.mktemp("graphs")
    traces = folder / "traces"
    subprocess.run([sys.executable, str(RECORDER), str(traces), str(REPLAYS)], check=True)
    tracewh.ingest([traces], folder / "warehouse")
    with tracewh.open(folder / "warehouse") as opened:
        yield opened


def test_each_replay_is_a_launch_with_the_work_of_its_graph(
    recorded: tracewh.Warehouse,
) -> None:
    launches = recorded.sql(
        "SELECT events FROM graph_replays(run := 'captured') ORDER BY start_ns"
    ).fetchall()
    assert len(launches) == REPLAYS
    assert len(set(launches)) == 1, "each replay runs the same kernels"
    assert launches[0][0] > 0


def test_a_replayed_kernel_has_its_operator_or_a_reason(
    recorded: tracewh.Warehouse,
) -> None:
    rows = recorded.sql(
        "SELECT operator IS NOT NULL, reason IS NOT NULL, basis IS NOT NULL "
        "FROM graph_kernels(run := 'captured')"
    ).fetchall()
    assert rows
    assert all(known != unknown and known == based for known, unknown, based in rows)


def test_every_matrix_product_has_an_operator_that_multiplies(
    recorded: tracewh.Warehouse,
) -> None:
    rows = recorded.sql(
        "SELECT DISTINCT operator FROM graph_kernels(run := 'captured') "
        "WHERE operator IS NOT NULL AND regexp_matches(name, 'gemm|nvjet|Cijk', 'i')"
    ).fetchall()
    assert {operator for (operator,) in rows} <= {"aten::mm", "aten::addmm"}


def test_nothing_is_lost_or_counted_twice(recorded: tracewh.Warehouse) -> None:
    ((whole, replayed, rows),) = recorded.sql(
        "SELECT (SELECT sum(events) FROM graph_replays(run := 'captured')), "
        "(SELECT sum(attributed_events) FROM graph_replays(run := 'captured')), "
        "(SELECT count(*) FROM graph_kernels(run := 'captured'))"
    ).fetchall()
    assert rows == whole >= replayed
