"""mfu of a small transformer, trained here on the CPU, against the formula 6ND."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import pytest

import tracewh
from tests.torch_forks import run_with_torch

HERE = Path(__file__).parent
#: A peak that no step here reaches, in 10^12 operations per second.
PEAK = 5.0


@dataclass(frozen=True)
class Recorded:
    """The rows of mfu, and how large the model and its batches are."""

    steps: list[dict[str, float]]
    size: dict[str, int]

    @property
    def tokens(self) -> int:
        """Tokens of a batch."""
        return self.size["batch"] * self.size["length"]


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Recorded:
    folder = tmp_path_factory.mktemp("mfu")
    run_with_torch(HERE / "record_gpt.py", folder)
    tracewh.ingest([folder / "gpt.1.pt.trace.json"], folder / "warehouse", run="gpt")
    with tracewh.open(folder / "warehouse") as warehouse:
        rows = warehouse.view("mfu", run="gpt", peak_tflops=PEAK)
        steps = [dict(zip(rows.columns, row, strict=True)) for row in rows.fetchall()]
    assert len(steps) == 2
    return Recorded(steps, json.loads((folder / "said.json").read_text("utf-8")))


def test_the_operations_are_6nd_and_those_of_attention_and_biases(recorded: Recorded) -> None:
    """N is the parameters of matrices that multiply: embeddings only look up.

    A causal attention computes half of the scores. Forward does two products for each block and sequence, of
    2 * length * length * width operations without the mask; backward does five.
    """
    size = recorded.size
    products = 7 * size["blocks"] * size["batch"]
    attention = products * 2 * size["length"] ** 2 * size["width"] / 2
    biases = recorded.tokens * size["outputs_with_bias"]
    for step in recorded.steps:
        assert step["unknown_calls"] == 0
        assert step["flops"] == 6 * size["multiplied"] * recorded.tokens + attention + biases


def test_the_whole_is_6nd_within_what_attention_adds(recorded: Recorded) -> None:
    """The usual formula adds 12 * blocks * width * length per token, for attention without a mask."""
    size = recorded.size
    formula = 6 * (size["parameters"] - size["embedded"]) * recorded.tokens
    attention = 12 * size["blocks"] * size["width"] * size["length"] * recorded.tokens
    for step in recorded.steps:
        # Norms and biases are parameters that do not multiply: less than 2 % here.
        assert 0.98 * formula < step["flops"] < formula + attention


def test_mfu_is_the_rate_against_the_peak(recorded: Recorded) -> None:
    for step in recorded.steps:
        rate = step["flops"] / (step["step_us"] / 1e6)
        assert 0 < step["mfu_pct"] < 100
        assert step["mfu_pct"] == pytest.approx(100 * rate / (PEAK * 1e12))
        assert step["reason"] is None
