"""Measure how much longer a step of training takes while torch.profiler records it.

    python bench/profiler.py

The step has small operators only and runs on the CPU, as the host does for a GPU that waits for launches. CPU time
per step; each round compares a step that is recorded with one that is not, right before.
"""

import time
from statistics import median
from typing import Any

import torch
from torch.profiler import ProfilerActivity, profile

STEPS = 20
ROUNDS = 9
ARGUMENTS: tuple[dict[str, Any], ...] = (
    {},
    {"record_shapes": True},
    {"profile_memory": True},
    {"with_stack": True},
    {"record_shapes": True, "profile_memory": True, "with_stack": True},
)


class Block(torch.nn.Module):
    """A layer of a network that is too small to keep any device busy."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = torch.nn.Linear(8, 8)
        self.norm = torch.nn.LayerNorm(8)
        self.dropout = torch.nn.Dropout(0.1)

    def forward(self, batch: torch.Tensor) -> torch.Tensor:
        """Add the layer's output to its input."""
        added: torch.Tensor = batch + self.dropout(
            torch.nn.functional.gelu(self.norm(self.linear(batch)))
        )
        return added


def main() -> None:
    """Print the table."""
    torch.set_num_threads(1)
    model = torch.nn.Sequential(*(Block() for _ in range(40)))
    optimizer = torch.optim.AdamW(model.parameters())
    batch = torch.randn(4, 8)

    def step_ms() -> float:
        start = time.process_time()
        for _ in range(STEPS):
            optimizer.zero_grad()
            model(batch).sum().backward()
            optimizer.step()
        return (time.process_time() - start) / STEPS * 1000

    step_ms()
    plain: list[float] = []
    times: dict[str, list[float]] = {}
    for _ in range(ROUNDS):
        for given in ARGUMENTS:
            plain.append(step_ms())
            with profile(activities=[ProfilerActivity.CPU], **given) as profiler:
                recorded = step_ms()
            times.setdefault(", ".join(given) or "no argument", []).append(recorded / plain[-1])
    operators = sum(event.name.startswith("aten::") for event in profiler.events()) // STEPS
    print(f"torch {torch.__version__}, {operators} operators and {median(plain):.1f} ms per step")
    for name, found in times.items():
        print(f"{median(found):.2f} times as long: {name}")


if __name__ == "__main__":
    main()
