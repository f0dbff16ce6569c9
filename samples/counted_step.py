"""Train the GPT for a few steps, and then one more, which Nsight Compute counts.

    ncu --profile-from-start off --set roofline -o report python counted_step.py 3

trains for three steps before.
"""

from __future__ import annotations

import sys

import torch
from gpt import Trainer  # type: ignore[import-not-found]
from record import SEED  # type: ignore[import-not-found]


def main() -> None:
    """Train, and let Nsight Compute count the last step."""
    rehearsed = int(sys.argv[1])
    torch.manual_seed(SEED)
    trainer = Trainer("cuda")
    for _ in range(rehearsed):
        trainer.step()
    torch.cuda.synchronize()
    torch.cuda.profiler.start()
    trainer.step()
    torch.cuda.synchronize()
    torch.cuda.profiler.stop()


if __name__ == "__main__":
    main()
