"""Measure the CPU time that tracewh.record adds to a training loop.

    python bench/record.py

The loop takes batches from a DataLoader with two workers, with and without the recorder in turn. The work of a step is
left out: what remains is what the recorder adds to each step, in the process of the loop and in the workers. Only CPU
time is compared, because it hardly depends on what else the machine does.

The last line is the share of both recorders in a loop that trains a small model on one thread. Its steps are short, a few
milliseconds: the share is less for longer ones.
"""

from __future__ import annotations

import os
import statistics
import tempfile
import time
from typing import Any

import torch
from torch.utils.data import DataLoader, Dataset

import tracewh.record

BATCHES, BATCH, WORKERS, ROUNDS = 2000, 8, 2, 7
SAMPLES_SECONDS, INTERVAL = 4.0, 0.02
STEPS = 2000


class Samples(Dataset[torch.Tensor]):
    """Samples that are made in no time."""

    def __len__(self) -> int:
        return BATCHES * BATCH

    def __getitem__(self, index: int) -> torch.Tensor:
        return torch.zeros(64)


def cpu_seconds() -> tuple[float, float]:
    """CPU time of this process, and of its children that have ended."""
    times = os.times()
    return times.user + times.system, times.children_user + times.children_system


def measured(folder: str | None) -> tuple[float, float]:
    """CPU time per batch of the loop and of the workers, in microseconds."""
    loader: Any = DataLoader(Samples(), BATCH, num_workers=WORKERS)
    if folder is not None:
        loader = tracewh.record.dataloader(loader, folder)
    before = cpu_seconds()
    for _ in loader:
        pass
    del loader
    after = cpu_seconds()
    own, children = (1e6 * (b - a) / BATCHES for a, b in zip(before, after, strict=True))
    return own, children


def sampler_seconds(folder: str) -> float:
    """CPU time of one sample of the CPUs, in milliseconds."""
    before = time.process_time()
    with tracewh.record.cpu(folder, interval=INTERVAL) as sampler:
        time.sleep(SAMPLES_SECONDS)
    spent = time.process_time() - before
    with open(sampler.path) as lines:
        samples = sum('"kind":"cpu"' in line for line in lines)
    return 1000 * spent / samples


def step_seconds(folder: str) -> tuple[float, float]:
    """Median CPU time of a step of training, without and with a recorded loader, in seconds.

    The steps take turns, so that what else the machine does slows both down alike.
    """
    data = torch.utils.data.TensorDataset(torch.zeros(STEPS * BATCH, 128))
    plain: Any = DataLoader(data, BATCH)
    recorded: Any = tracewh.record.dataloader(DataLoader(data, BATCH), folder)
    model = torch.nn.Sequential(*(torch.nn.Linear(128, 128) for _ in range(48)))
    optimizer = torch.optim.SGD(model.parameters(), 0.01)
    spent: list[list[float]] = [[], []]
    both = [iter(plain), iter(recorded)]
    for step in range(2 * STEPS):
        before = time.thread_time()
        (batch,) = next(both[step % 2])
        model(batch).square().mean().backward()
        optimizer.step()
        optimizer.zero_grad()
        spent[step % 2].append(time.thread_time() - before)
    return statistics.median(spent[0]), statistics.median(spent[1])


def main() -> None:
    """Print a table."""
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as folder:
        measured(folder)  # imports, forks
        pairs = [(measured(None), measured(folder)) for _ in range(ROUNDS)]
        for place, name in enumerate(("loop", "workers")):
            plain = statistics.median(without[place] for without, _ in pairs)
            added = statistics.median(
                recorded[place] - without[place] for without, recorded in pairs
            )
            print(f"{name}: {plain:.0f} us of CPU time per batch, and {added:.0f} us recorded")
        one = sampler_seconds(folder)
        print(f"sampler: {one:.2f} ms of CPU time per sample, {one / 2:.2f} % of a core at 5 Hz")
        plain_step, recorded_step = step_seconds(folder)
        added = 100 * (recorded_step / plain_step - 1)
        print(
            f"steps of {1000 * plain_step:.2f} ms: the recorder of the loader adds {added:.2f} %, "
            f"the sampler {one / 2:.2f} %, both {added + one / 2:.2f} %"
        )


if __name__ == "__main__":
    main()
