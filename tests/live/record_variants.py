"""Records the runs of variants.py.

    python record_variants.py FOLDER

writes FOLDER/RUN/main.<time>.pt.trace.json for each run.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

import torch
from torch import Tensor, nn
from torch.profiler import ProfilerActivity, profile, schedule, tensorboard_trace_handler
from torch.utils.data import DataLoader, Dataset

from tests.live.variants import INPUTS, LOAD_S, OUTPUTS, STEPS, VARIANTS, WARMUP, WIDTH, Variant


class Items(Dataset[Tensor]):
    """Items that take a while to load."""

    def __init__(self, count: int) -> None:
        self.count = count

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, index: int) -> Tensor:
        time.sleep(LOAD_S)
        return torch.full((INPUTS,), float(index))


def train(variant: Variant, profiler: profile) -> None:
    """One step more than are recorded: the loader looks for the next batch inside a step."""
    model = nn.Sequential(
        nn.Linear(INPUTS, WIDTH),
        getattr(nn, variant.activation)(),
        nn.Linear(WIDTH, variant.width),
        nn.Linear(variant.width, WIDTH),
        nn.Linear(WIDTH, OUTPUTS),
    )
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    items = Items(variant.batch * (STEPS + WARMUP + 1))
    for batch in DataLoader(items, variant.batch, num_workers=variant.workers):
        optimizer.zero_grad()
        model(batch).square().mean().backward()
        optimizer.step()
        profiler.step()


if __name__ == "__main__":
    torch.set_num_threads(1)
    for name, variant in VARIANTS.items():
        torch.manual_seed(2021)
        with profile(
            activities=[ProfilerActivity.CPU],
            schedule=schedule(wait=0, warmup=WARMUP, active=STEPS, repeat=1),
            on_trace_ready=tensorboard_trace_handler(str(Path(sys.argv[1]) / name), "main"),
            record_shapes=True,
        ) as profiler:
            train(variant, profiler)
