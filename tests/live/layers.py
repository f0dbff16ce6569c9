"""Records a small network in training, and with one thing changed: a layer more, or a larger batch.

    python layers.py FOLDER

writes FOLDER/RUN/main.<time>.pt.trace.json for each run.
"""

from __future__ import annotations

import sys
from pathlib import Path

import torch
from torch import nn
from torch.profiler import (
    ProfilerActivity,
    profile,
    record_function,
    schedule,
    tensorboard_trace_handler,
)

STEPS, WARMUP, WIDTH = 5, 1, 128

#: Batch, and whether there is one layer more.
VARIANTS = {"base": (16, False), "again": (16, False), "layer": (16, True), "batch": (8192, False)}


def network(one_more: bool) -> nn.Module:
    """Layers of which most are alike."""
    return nn.Sequential(
        nn.Sequential(nn.Linear(WIDTH, WIDTH), nn.ReLU(), nn.Linear(WIDTH, WIDTH)),
        nn.Sequential(
            nn.Linear(WIDTH, WIDTH),
            *([nn.Tanh()] if one_more else []),
            nn.Linear(WIDTH, WIDTH),
        ),
        nn.ReLU(),
    )


def train(batch: int, one_more: bool, profiler: profile) -> None:
    """A pass over the same data in each step."""
    model = network(one_more)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for _ in range(STEPS + WARMUP):
        with record_function("data"):
            rows = torch.ones(batch, WIDTH)
        optimizer.zero_grad()
        model(rows).square().mean().backward()
        optimizer.step()
        profiler.step()


if __name__ == "__main__":
    torch.set_num_threads(1)
    for name, (batch, one_more) in VARIANTS.items():
        torch.manual_seed(2021)
        with profile(
            activities=[ProfilerActivity.CPU],
            schedule=schedule(wait=0, warmup=WARMUP, active=STEPS, repeat=1),
            on_trace_ready=tensorboard_trace_handler(str(Path(sys.argv[1]) / name), "main"),
            record_shapes=True,
            with_stack=True,
        ) as profiler:
            train(batch, one_more, profiler)
