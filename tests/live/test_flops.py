"""operator_flops of calls recorded here against torch's own counter, and positions against its schemas."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import pytest

import tracewh
from tests.torch_forks import run_with_torch

HERE = Path(__file__).parent
CPU_ATTENTION = "aten::_scaled_dot_product_flash_attention_for_cpu"

#: By worker and operator.
Counts = dict[str, dict[str, int]]


#: What the argument at a position may be called.
NAMES = {
    "first_at": {"self", "input", "mat1", "batch1", "query"},
    "second_at": {"mat2", "weight", "batch2", "key"},
    "bias_at": {"self", "bias", "attn_bias", "attn_mask"},
    "options_at": {"beta", "stride", "is_causal"},
    "gradient_at": {"grad_output", "grad_out", "grad_out_"},
}


@dataclass(frozen=True)
class Recorded:
    """Operations as we and the counter have them, and the names of arguments by operator."""

    ours: Counts
    theirs: Counts
    models: list[dict[str, str | int | None]]
    arguments: dict[str, list[str]]


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Recorded:
    folder = tmp_path_factory.mktemp("flops")
    run_with_torch(HERE / "flops.py", folder)
    tracewh.ingest([folder / "traces"], folder / "warehouse")
    ours: Counts = {}
    with tracewh.open(folder / "warehouse") as warehouse:
        rows = warehouse.sql(
            "SELECT f.worker, f.name, sum(f.flops)::BIGINT FROM operator_flops() AS f GROUP BY ALL"
        ).fetchall()
        models = warehouse.sql("FROM operator_models()")
        names, known = models.columns, models.fetchall()
    for worker, name, flops in rows:
        ours.setdefault(worker, {})[name] = flops
    return Recorded(
        ours,
        json.loads((folder / "said.json").read_text("utf-8")),
        [dict(zip(names, model, strict=True)) for model in known],
        json.loads((folder / "arguments.json").read_text("utf-8")),
    )


def test_without_bias_and_mask_and_groups_the_counts_are_the_same(recorded: Recorded) -> None:
    assert recorded.ours["plain"] == recorded.theirs["plain"]
    assert len(recorded.ours["plain"]) == 6


def test_it_counts_the_gradient_of_a_grouped_weight_once_for_each_group(recorded: Recorded) -> None:
    """Of two groups twice, and that gradient is half of the backward."""
    ours, theirs = recorded.ours["grouped"], recorded.theirs["grouped"]
    assert ours["aten::convolution"] == theirs["aten::convolution"]
    assert ours["aten::convolution_backward"] * 3 / 2 == theirs["aten::convolution_backward"]


def test_it_counts_no_bias_and_all_scores(recorded: Recorded) -> None:
    ours, theirs = dict(recorded.ours["biased"]), dict(recorded.theirs["biased"])
    outputs = 2 * 6 * 7 * 6
    assert ours.pop("aten::convolution") == theirs.pop("aten::convolution") + outputs
    backward = "aten::convolution_backward"
    assert ours.pop(backward) == theirs.pop(backward) + outputs
    assert ours.pop("aten::addmm") == theirs.pop("aten::addmm") + 5 * 9
    for name in (CPU_ATTENTION, f"{CPU_ATTENTION}_backward"):
        assert ours.pop(name) == theirs.pop(name) / 2
    assert ours == theirs


def test_arguments_stand_where_the_schemas_have_them(recorded: Recorded) -> None:
    assert len(recorded.models) > 20
    for model in recorded.models:
        arguments = recorded.arguments[str(model["name"])]
        for position, names in NAMES.items():
            place = model[position]
            assert place is None or arguments[int(place) - 1] in names, (model["name"], position)
        assert ("bias" in arguments) <= (model["bias_at"] is not None), model["name"]
