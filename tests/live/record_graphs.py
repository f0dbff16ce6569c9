"""Records a CUDA graph with torch.profiler: its capture and its replays in one file.

    python record_graphs.py FOLDER REPLAYS

writes FOLDER/captured/rank0.json.
"""

from __future__ import annotations

import sys
from pathlib import Path

import torch
from torch import nn
from torch.profiler import ProfilerActivity, profile


def record(path: Path, replays: int) -> None:
    model = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 64)).cuda().half().eval()
    x = torch.randn(8, 64, device="cuda", dtype=torch.half)
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):  # a capture needs libraries that have been loaded
        model(x)
    torch.cuda.synchronize()
    with profile(
        activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA],
        record_shapes=True,
        with_stack=True,
    ) as prof:
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            model(x)
        for _ in range(replays):
            graph.replay()
        torch.cuda.synchronize()
    path.parent.mkdir(parents=True)
    prof.export_chrome_trace(str(path))


if __name__ == "__main__":
    with torch.no_grad():
        record(Path(sys.argv[1]) / "captured" / "rank0.json", int(sys.argv[2]))
