"""Record what the worker processes of a data loader compute, each with a profiler of its own.

python -m tests.live.record_loader_workers FOLDER
"""

from __future__ import annotations

import sys
from multiprocessing.util import Finalize
from pathlib import Path

import torch
from torch.profiler import ProfilerActivity, profile, record_function, tensorboard_trace_handler
from torch.utils.data import DataLoader, Dataset

WORKERS, BATCH, BATCHES = 2, 4, 6


class Samples(Dataset[torch.Tensor]):
    """Samples that take a multiplication."""

    def __len__(self) -> int:
        return BATCH * BATCHES

    def __getitem__(self, index: int) -> torch.Tensor:
        with record_function("decode"):
            return torch.full((32, 32), float(index)) @ torch.ones(32, 32)


class ProfileWorker:
    """A worker_init_fn that profiles a worker from its start to its end."""

    def __init__(self, folder: str) -> None:
        self.folder = folder

    def __call__(self, worker: int) -> None:
        """Start a profiler, and stop it when the worker ends."""
        prof = profile(
            activities=[ProfilerActivity.CPU],
            on_trace_ready=tensorboard_trace_handler(self.folder, f"loader{worker}"),
        )
        prof.start()
        # A worker process ends without atexit.
        Finalize(None, prof.stop, exitpriority=10)


if __name__ == "__main__":
    torch.set_num_threads(1)
    start = ProfileWorker(str(Path(sys.argv[1], "loader_workers")))
    for _ in DataLoader(Samples(), BATCH, num_workers=WORKERS, worker_init_fn=start):
        pass
