"""A loop on the CPU: what a free data loader is predicted to give, and what it then gives.

The loop is recorded with a dataset that takes as long as several steps of training, and then with batches that were
made before. Other processes of a shared machine only ever make a step slower, so the fastest of many steps is
compared, and both loops are recorded several times in turns. What the prediction is off may be a tenth of what the
free loader really gained: after the making of a batch the caches of the CPU are cold for the step, which the
prediction keeps.
"""

from __future__ import annotations

from pathlib import Path

import tracewh
from tests.torch_forks import run_with_torch

TURNS = 3


def test_a_free_loader_gives_what_was_predicted(tmp_path: Path) -> None:
    run_with_torch(Path(__file__).parent / "record_what_if.py", tmp_path / "traces", TURNS)
    tracewh.ingest([tmp_path / "traces"], tmp_path / "warehouse")
    recorded, predicted, measured = [], [], []
    with tracewh.open(tmp_path / "warehouse") as opened:
        rows = opened.view("what_if", changes=["loader free"]).filter("NOT is_mean")
        for run, before, after in rows.project("run, drained_us, new_drained_us").fetchall():
            if run.startswith("loader"):
                recorded.append(before)
                predicted.append(after)
            else:
                measured.append(before)
    assert len(recorded) == len(measured) == 6 * TURNS
    assert min(recorded) > 3 * min(measured)
    gained = min(recorded) - min(measured)
    assert abs(min(predicted) - min(measured)) < 0.1 * gained
