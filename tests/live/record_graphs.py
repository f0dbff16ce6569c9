"""Records CUDA graphs with torch.profiler, their capture and their replays in one file each.

    python record_graphs.py FOLDER REPLAYS

writes FOLDER/captured/rank0.json, of torch.cuda.CUDAGraph, and FOLDER/compiled/rank0.json, of
torch.compile(mode="reduce-overhead").
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import torch
from torch import Tensor, nn
from torch.profiler import ProfilerActivity, profile


def net() -> nn.Module:
    return nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 64)).cuda().half().eval()


def captured(model: nn.Module, x: Tensor, replays: int) -> None:
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        model(x)
    for _ in range(replays):
        graph.replay()


def compiled(model: nn.Module, x: Tensor, replays: int) -> None:
    # The first call compiles and warms up, the second captures and replays.
    fast = torch.compile(model, mode="reduce-overhead")
    for _ in range(1 + replays):
        torch.compiler.cudagraph_mark_step_begin()
        fast(x)


def record(path: Path, run: Callable[[nn.Module, Tensor, int], None], replays: int) -> None:
    model, x = net(), torch.randn(8, 64, device="cuda", dtype=torch.half)
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):  # a capture needs libraries that have been loaded
        model(x)
    torch.cuda.synchronize()
    with profile(
        activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA],
        record_shapes=True,
        with_stack=True,
    ) as prof:
        run(model, x, replays)
        torch.cuda.synchronize()
    path.parent.mkdir(parents=True)
    prof.export_chrome_trace(str(path))


if __name__ == "__main__":
    with torch.no_grad():
        for run in (captured, compiled):
            record(Path(sys.argv[1]) / run.__name__ / "rank0.json", run, int(sys.argv[2]))
