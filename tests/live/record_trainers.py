"""Run the Python of docs/howto/trainers.md for a library, which records into a folder.

python -m tests.live.record_trainers LIBRARY FOLDER
"""

from __future__ import annotations

import os
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import torch
from torch.utils.data import DataLoader, Dataset, TensorDataset

from tests.docs.test_readme import fenced

PAGE = Path(__file__).parents[2] / "docs" / "howto" / "trainers.md"


class Tokens(Dataset[dict[str, torch.Tensor]]):
    """What a language model is trained with."""

    def __len__(self) -> int:
        return 100

    def __getitem__(self, index: int) -> dict[str, torch.Tensor]:
        tokens = torch.arange(16) + index
        return {"input_ids": tokens, "labels": tokens}


class Summed(torch.nn.Module):
    """A layer whose loss is the sum of what it returns."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = torch.nn.Linear(8, 1)

    def forward(self, batch: list[torch.Tensor]) -> torch.Tensor:
        return torch.sum(self.layer(batch[0]))


def batches() -> DataLoader[tuple[torch.Tensor, ...]]:
    return DataLoader(TensorDataset(torch.randn(100, 8)), 8)


def of_transformers() -> dict[str, Any]:
    """What the block of the library takes for granted; so for the others."""
    transformers: Any = import_module("transformers")
    config = transformers.GPT2Config(n_layer=1, n_embd=16, n_head=2, vocab_size=200)
    arguments = transformers.TrainingArguments("model", max_steps=10, use_cpu=True, report_to=[])
    model = transformers.GPT2LMHeadModel(config)
    return {"model": model, "dataset": Tokens(), "training_args": arguments}


def of_accelerate() -> dict[str, Any]:
    model = Summed()
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    return {"model": model, "optimizer": optimizer, "loader": batches()}


def of_lightning() -> dict[str, Any]:
    lightning: Any = import_module("lightning")

    class Module(lightning.LightningModule):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.summed = Summed()

        def training_step(self, batch: list[torch.Tensor]) -> Any:
            return self.summed(batch)

        def configure_optimizers(self) -> torch.optim.Optimizer:
            return torch.optim.SGD(self.parameters(), 0.1)

    return {"model": Module(), "loader": batches()}


def of_ultralytics() -> dict[str, Any]:
    cv2: Any = import_module("cv2")
    for folder in ("images", "labels"):
        Path(folder).mkdir()
    for number in range(20):
        cv2.imwrite(f"images/{number}.png", torch.zeros(64, 64, 3, dtype=torch.uint8).numpy())
        Path(f"labels/{number}.txt").write_text("0 0.5 0.5 0.2 0.2\n")
    Path("data.yaml").write_text("path: .\ntrain: images\nval: images\nnames: [square]\n")
    arguments = {
        "data": "data.yaml",
        "epochs": 1,
        "imgsz": 64,
        "batch": 2,
        "device": "cpu",
        "workers": 0,
        "amp": False,
        "plots": False,
        "project": str(Path("runs").resolve()),
    }
    return {"training_args": arguments}


if __name__ == "__main__":
    library, folder = sys.argv[1:]
    os.chdir(folder)
    [block] = [
        text for name, text in fenced(PAGE) if name == "python" and f"from {library}" in text
    ]
    exec(  # noqa: S102
        block.replace("/traces/run1", "traces"), {"torch": torch, **globals()[f"of_{library}"]()}
    )
