"""Records the run that the test of lightning_stats reads, and what Lightning itself says of it.

    pip install torch pytorch-lightning && python record.py

Writes run.pt.trace.json.gz and key_averages.json here: calls, self and total microseconds by name.
"""

from __future__ import annotations

import gzip
import json
import tempfile
from pathlib import Path

import pytorch_lightning as pl
import torch
from pytorch_lightning.profilers import PyTorchProfiler

HERE = Path(__file__).parent


class Tagger(pl.LightningModule):  # type: ignore[misc]  # Lightning is not installed
    """Two layers behind each other, and one that the step calls itself."""

    def __init__(self) -> None:
        super().__init__()
        self.encoder = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.ReLU())
        self.head = torch.nn.Linear(8, 2)

    def training_step(self, batch: list[torch.Tensor], _: int) -> torch.Tensor:
        inputs, labels = batch
        return torch.nn.functional.cross_entropy(self.head(self.encoder(inputs)), labels)

    def configure_optimizers(self) -> torch.optim.Optimizer:
        return torch.optim.SGD(self.parameters(), lr=0.1)


def main() -> None:
    data = torch.utils.data.TensorDataset(torch.rand(12, 8), torch.randint(0, 2, (12,)))
    with tempfile.TemporaryDirectory() as folder:
        profiler = PyTorchProfiler(
            dirpath=folder,
            filename="run",
            schedule=torch.profiler.schedule(wait=1, warmup=1, active=2, repeat=1),
        )
        trainer = pl.Trainer(
            max_epochs=1,
            profiler=profiler,
            accelerator="cpu",
            logger=False,
            enable_checkpointing=False,
            enable_progress_bar=False,
            enable_model_summary=False,
        )
        trainer.fit(Tagger(), torch.utils.data.DataLoader(data, batch_size=2))
        [trace] = Path(folder).glob("*.pt.trace.json")
        # What the trace says of its file is the folder that is gone by now.
        content = json.loads(trace.read_text("utf-8")) | {"traceName": "run", "host_name": "host"}
    text = json.dumps(content, separators=(",", ":")).encode()
    (HERE / "run.pt.trace.json.gz").write_bytes(gzip.compress(text, mtime=0))
    rows = {
        row.key: [row.count, round(row.self_cpu_time_total, 3), round(row.cpu_time_total, 3)]
        for row in profiler.function_events.key_averages()
        if row.key.startswith("[pl]")
    }
    (HERE / "key_averages.json").write_text(json.dumps(rows, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
