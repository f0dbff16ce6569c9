"""Records two steps of a small GPT in training with torch.profiler, and how large it is.

    python record_gpt.py FOLDER

writes FOLDER/gpt.1.pt.trace.json and FOLDER/said.json.
"""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from pathlib import Path

import torch
from torch.profiler import profile, schedule

from tracewh.samples.gpt import Trainer


def main(folder: Path) -> None:
    trainer = Trainer("cpu")
    with profile(
        record_shapes=True, schedule=schedule(wait=0, warmup=1, active=2, repeat=1)
    ) as profiler:
        for _ in range(3):
            trainer.step()
            profiler.step()
    profiler.export_chrome_trace(str(folder / "gpt.1.pt.trace.json"))
    model = trainer.model
    assert isinstance(model, torch.nn.Module)
    modules = list(model.modules())
    matrices = [m for m in modules if isinstance(m, torch.nn.Linear)]
    embeddings = [m for m in modules if isinstance(m, torch.nn.Embedding)]
    said = {
        **asdict(trainer.size),
        "parameters": sum(p.numel() for p in model.parameters()),
        "embedded": sum(m.weight.numel() for m in embeddings),
        "multiplied": sum(m.weight.numel() for m in matrices),
        "outputs_with_bias": sum(m.out_features for m in matrices if m.bias is not None),
    }
    (folder / "said.json").write_text(json.dumps(said), "utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
