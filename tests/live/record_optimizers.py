"""Record steps in which an optimizer updates a large embedding, and steps that run a closure.

python -m tests.live.record_optimizers FOLDER
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import torch
from torch.optim import SGD, Adam, AdamW, Optimizer, RMSprop
from torch.profiler import ProfilerActivity, profile, schedule, tensorboard_trace_handler

STEPS = 3


def record(folder: str, run: str, make: Callable[[list[torch.nn.Parameter]], Optimizer]) -> None:
    """Record steps with the optimizer that is made for some parameters."""
    embedding = torch.nn.Embedding(100_000, 16)
    embedding.weight.grad = torch.ones_like(embedding.weight)
    optimizer = make(list(embedding.parameters()))
    with profile(
        activities=[ProfilerActivity.CPU],
        schedule=schedule(wait=0, warmup=1, active=STEPS),
        on_trace_ready=tensorboard_trace_handler(str(Path(folder, run)), "main"),
    ) as profiler:
        for _ in range(STEPS + 1):
            optimizer.step()
            profiler.step()


def record_closure(folder: str) -> None:
    """Record steps in which the optimizer runs a forward and a backward pass, which take longer than it."""
    layer, inputs = torch.nn.Linear(400, 400), torch.randn(400, 400)
    optimizer = SGD(layer.parameters(), 1e-9)

    def closure() -> float:
        optimizer.zero_grad()
        found = inputs
        for _ in range(20):
            found = layer(found)
        loss = found.sum()
        loss.backward()
        return loss.item()

    with profile(
        activities=[ProfilerActivity.CPU],
        schedule=schedule(wait=0, warmup=1, active=STEPS),
        on_trace_ready=tensorboard_trace_handler(str(Path(folder, "closure")), "main"),
    ) as profiler:
        for _ in range(STEPS + 1):
            optimizer.step(closure)
            profiler.step()


if __name__ == "__main__":
    torch.set_num_threads(1)
    record(sys.argv[1], "for-loop", Adam)
    record(sys.argv[1], "foreach", lambda parameters: AdamW(parameters, foreach=True))
    record(sys.argv[1], "fused", lambda parameters: AdamW(parameters, fused=True))
    record(sys.argv[1], "other", RMSprop)
    record_closure(sys.argv[1])
