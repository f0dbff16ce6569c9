"""The pairs of runs of test_diff.py: a training loop, and the same with one thing changed at a time."""

from __future__ import annotations

from dataclasses import dataclass

STEPS, WARMUP = 8, 2
INPUTS, WIDTH, WIDE, OUTPUTS = 24, 384, 1536, 8
BATCH, LARGE_BATCH = 16, 48
#: Loading an item takes so long, and does not need the processor.
LOAD_S = 0.002


@dataclass(frozen=True)
class Variant:
    """What a loop is made of; `activation` is a class of torch.nn."""

    width: int = WIDTH
    batch: int = BATCH
    activation: str = "ReLU"
    workers: int = 0


VARIANTS = {
    "base": Variant(),
    "again": Variant(),
    "layer": Variant(width=WIDE),
    "batch": Variant(batch=LARGE_BATCH),
    "operator": Variant(activation="GELU"),
    "workers": Variant(workers=4),
}
