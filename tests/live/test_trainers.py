"""The Python of docs/howto/trainers.md, for each of the libraries that is installed."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest

import tracewh
from tests.torch_forks import run_with_torch

SCRIPT = Path(__file__).parent / "record_trainers.py"


@pytest.mark.parametrize("library", ["transformers", "accelerate", "lightning", "ultralytics"])
def test_three_steps_are_recorded(library: str, tmp_path: Path) -> None:
    if find_spec(library) is None:
        pytest.skip(f"needs {library}: pip install transformers accelerate lightning ultralytics")
    run_with_torch(SCRIPT, library, tmp_path)
    tracewh.ingest([tmp_path / "traces"], tmp_path / "warehouse")
    with tracewh.open(tmp_path / "warehouse") as warehouse:
        assert len(warehouse.step_breakdown()) == 3
        assert bool(warehouse.lightning_stats().fetchall()) == (library == "lightning")
