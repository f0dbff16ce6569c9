"""Records loops that end while the profiler records, and one in which torch.compile compiles again.

    python record_schedules.py FOLDER

writes FOLDER/RUN/main.<time>.pt.trace.json.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from pathlib import Path

import torch
from torch import Tensor
from torch.profiler import (
    ProfilerAction,
    ProfilerActivity,
    profile,
    schedule,
    tensorboard_trace_handler,
)


def work(rows: Tensor) -> Tensor:
    return (rows @ rows.T).relu().sum()


def loop(
    folder: Path,
    plan: Callable[[int], ProfilerAction] | None,
    step: Callable[[Tensor], Tensor] = work,
    sizes: Iterable[int] = (64,) * 5,
) -> None:
    """Run a step per size."""
    with profile(
        activities=[ProfilerActivity.CPU],
        schedule=plan,
        on_trace_ready=tensorboard_trace_handler(str(folder), "main"),
    ) as profiler:
        for size in sizes:
            step(torch.ones(size, size))
            profiler.step()


def main(folder: Path) -> None:
    loop(folder / "no_schedule", None)
    loop(folder / "stopped", schedule(wait=1, warmup=1, active=10))
    loop(folder / "again", schedule(wait=1, warmup=1, active=2), sizes=(64,) * 6)
    # Without code for the processor, which takes long to make.
    compiled = torch.compile(work, backend="eager", dynamic=False)
    sizes = (64, 64, 96, 64)
    loop(folder / "recompiled", schedule(wait=0, warmup=1, active=3, repeat=1), compiled, sizes)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
