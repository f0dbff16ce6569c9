"""Record three training loops whose data loaders differ: one worker decodes slowly, all read slowly, none is slow.

python -m tests.live.record_loaders FOLDER
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

import torch
from torch.profiler import ProfilerActivity, profile, schedule, tensorboard_trace_handler
from torch.utils.data import DataLoader, Dataset, get_worker_info

import tracewh.record

STEPS, WORKERS, BATCH = 24, 2, 4
#: Seconds of CPU time that the slow worker needs to decode a sample, and seconds that storage takes for one.
DECODING, READING = 0.02, 0.03


class Samples(Dataset[torch.Tensor]):
    """Samples of random numbers, which are made in no time."""

    def __len__(self) -> int:
        return STEPS * BATCH

    def __getitem__(self, index: int) -> torch.Tensor:
        return torch.full((32,), float(index))


class DecodedByOne(Samples):
    """Worker 1 decodes each sample for a while."""

    def __getitem__(self, index: int) -> torch.Tensor:
        worker = get_worker_info()
        if worker is not None and worker.id == 1:
            end = time.process_time() + DECODING
            while time.process_time() < end:
                pass
        return super().__getitem__(index)


class ReadSlowly(Samples):
    """Each sample has to be waited for."""

    def __getitem__(self, index: int) -> torch.Tensor:
        time.sleep(READING)
        return super().__getitem__(index)


LOADERS = {"decoding": DecodedByOne, "reading": ReadSlowly, "healthy": Samples}


def record(folder: Path, dataset: Samples) -> None:
    """Record a loop, most of whose steps a step of 30 ms takes."""
    loader: Any = DataLoader(dataset, BATCH, num_workers=WORKERS)
    loader = tracewh.record.dataloader(loader, folder)
    model = torch.nn.Linear(32, 32)
    with (
        tracewh.record.cpu(folder, interval=0.02),
        profile(
            activities=[ProfilerActivity.CPU],
            schedule=schedule(wait=1, warmup=1, active=STEPS - 4, repeat=1),
            on_trace_ready=tensorboard_trace_handler(str(folder)),
        ) as prof,
    ):
        for batch in loader:
            model(batch).sum().backward()
            time.sleep(0.03)  # more calls of the model would be more events to ingest
            prof.step()


if __name__ == "__main__":
    torch.set_num_threads(1)
    for name, made in LOADERS.items():
        record(Path(sys.argv[1], name), made())
