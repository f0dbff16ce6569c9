"""Records two ranks that train four pipeline stages, two on each rank, with torch.profiler.

    python record_pipeline.py FOLDER

writes FOLDER/rankN.1.pt.trace.json for the ranks 0 and 1, each with two steps.
"""

from __future__ import annotations

import sys
from pathlib import Path

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.pipelining import PipelineStage
from torch.distributed.pipelining.schedules import ScheduleInterleaved1F1B
from torch.distributed.pipelining.stage import _PipelineStageBase
from torch.multiprocessing.spawn import spawn
from torch.profiler import profile, schedule

RANKS, STAGES, MICROBATCHES, WIDTH = 2, 4, 4, 32


def rank(number: int, folder: Path) -> None:
    """Train on one rank."""
    torch.set_num_threads(1)
    dist.init_process_group(
        "gloo", init_method=f"file://{folder}/store", rank=number, world_size=RANKS
    )
    layers = [nn.Linear(WIDTH, WIDTH) for _ in range(STAGES // RANKS)]
    stages: list[_PipelineStageBase] = [
        PipelineStage(layer, number + at * RANKS, STAGES, torch.device("cpu"))
        for at, layer in enumerate(layers)
    ]
    pipeline = ScheduleInterleaved1F1B(stages, MICROBATCHES, loss_fn=nn.functional.mse_loss)
    optimizer = torch.optim.SGD([p for layer in layers for p in layer.parameters()], lr=0.01)
    data = torch.ones(2 * MICROBATCHES, WIDTH)
    with profile(schedule=schedule(wait=0, warmup=1, active=2, repeat=1)) as profiler:
        for _ in range(3):
            if number == 0:
                pipeline.step(data)
            else:
                pipeline.step(target=data)
            optimizer.step()
            optimizer.zero_grad()
            profiler.step()
    profiler.export_chrome_trace(str(folder / f"rank{number}.1.pt.trace.json"))
    dist.destroy_process_group()


if __name__ == "__main__":
    spawn(rank, args=(Path(sys.argv[1]),), nprocs=RANKS)
