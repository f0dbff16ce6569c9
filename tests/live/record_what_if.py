"""Record a loop on the CPU with a slow data loader, and with batches that are there: FOLDER and how often."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path

import torch
from torch.profiler import ProfilerActivity, profile, schedule
from torch.utils.data import DataLoader, Dataset

BATCHES, SIZE = 10, 16


class Slow(Dataset[torch.Tensor]):
    """Items that take some work to make."""

    def __len__(self) -> int:
        return BATCHES * SIZE

    def __getitem__(self, index: int) -> torch.Tensor:
        item = torch.full((128, 128), 1e-3 * index)
        for _ in range(20):
            item = torch.tanh(item @ item)
        return item.flatten()[:256]


def record(folder: Path, batches: Iterable[torch.Tensor]) -> None:
    """Record six steps of training."""
    model = torch.nn.Sequential(torch.nn.Linear(256, 512), torch.nn.ReLU(), torch.nn.Linear(512, 8))
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    folder.mkdir(parents=True)

    def write(profiler: profile) -> None:
        profiler.export_chrome_trace(str(folder / "main.pt.trace.json"))

    plan = schedule(wait=1, warmup=2, active=6, repeat=1)
    with profile(
        activities=[ProfilerActivity.CPU], schedule=plan, on_trace_ready=write
    ) as profiler:
        for batch in batches:
            for _ in range(4):
                optimizer.zero_grad()
                model(batch).square().mean().backward()
                optimizer.step()
            profiler.step()


def main() -> None:
    """Record both loops in turns."""
    folder, turns = Path(sys.argv[1]), int(sys.argv[2])
    torch.set_num_threads(1)
    for turn in range(turns):
        record(folder / f"loader{turn}", DataLoader(Slow(), batch_size=SIZE))
        record(folder / f"ready{turn}", list(DataLoader(Slow(), batch_size=SIZE)))


if __name__ == "__main__":
    main()
