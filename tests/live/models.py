"""A model whose calls can be counted by eye, and a loop that trains it."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.utils.data import Dataset

WIDTH = 8
BATCH = 4


class Twice(torch.autograd.Function):
    """An operator that is written in Python: there are frames inside it."""

    @staticmethod
    def forward(ctx: object, x: Tensor) -> Tensor:
        return doubled(x)

    @staticmethod
    def backward(ctx: object, *grads: Tensor) -> Tensor:
        return doubled(grads[0])


def doubled(x: Tensor) -> Tensor:
    """Called from inside an operator, forward and backward."""
    return x * 2


class Leaf(nn.Module):
    """A linear layer and an activation."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(WIDTH, WIDTH)

    def forward(self, x: Tensor) -> Tensor:
        out: Tensor = self.linear(x).relu()
        return out


class Branch(nn.Module):
    """Calls its first leaf twice, and its second once."""

    def __init__(self) -> None:
        super().__init__()
        self.often, self.once = Leaf(), Leaf()

    def forward(self, x: Tensor) -> Tensor:
        return torch.cat([self.often(self.often(x)), self.once(x)])


class Tree(nn.Module):
    """Two branches behind each other, and an operator that is written in Python."""

    def __init__(self) -> None:
        super().__init__()
        self.branches = nn.Sequential(Branch(), Branch())

    def forward(self, x: Tensor) -> Tensor:
        out: Tensor = Twice.apply(self.branches(x))  # type: ignore[no-untyped-call]
        return out


class Rows(Dataset[Tensor]):
    """A little to load."""

    def __init__(self, batches: int) -> None:
        self.batches = batches

    def __len__(self) -> int:
        return self.batches * BATCH

    def __getitem__(self, index: int) -> Tensor:
        return torch.full((WIDTH,), float(index))
