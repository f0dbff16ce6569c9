"""Records a training, and exports the recording with each of torch's two exporters.

    python record_exports.py FOLDER

writes FOLDER/kineto/rank0.pt.trace.json and FOLDER/python/rank0.pt.trace.json.
"""

from __future__ import annotations

import sys
from pathlib import Path

import torch
from torch import nn
from torch.profiler import ProfilerActivity, profile, record_function, schedule

STEPS = 3


def export(profiler: profile) -> None:
    for name in ("kineto", "python"):
        path = Path(sys.argv[1]) / name / "rank0.pt.trace.json"
        path.parent.mkdir(parents=True)
        profiler.export_chrome_trace(str(path), use_python_export=name == "python")


if __name__ == "__main__":
    torch.set_num_threads(1)
    model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 8))
    optimizer = torch.optim.AdamW(model.parameters())
    with profile(
        activities=[ProfilerActivity.CPU],
        schedule=schedule(wait=0, warmup=1, active=STEPS, repeat=1),
        on_trace_ready=export,
        record_shapes=True,
        profile_memory=True,
        with_stack=True,
    ) as profiler:
        for _ in range(1 + STEPS):
            optimizer.zero_grad()
            with record_function("forward"):
                loss = model(torch.randn(4, 8)).square().mean()
            loss.backward()
            optimizer.step()
            profiler.step()
