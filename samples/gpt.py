"""A small GPT, as the samples of GPUs train it and generate with it."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.profiler import record_function


@dataclass(frozen=True)
class Size:
    """How large the model and its batches are."""

    width: int
    heads: int
    blocks: int
    vocabulary: int
    batch: int
    length: int


#: By kind of device. A CPU has to be done in seconds.
SIZES = {
    "cuda": Size(width=512, heads=8, blocks=2, vocabulary=8192, batch=16, length=512),
    "cpu": Size(width=64, heads=4, blocks=2, vocabulary=256, batch=2, length=32),
}


class Attention(nn.Module):
    """Causal self-attention."""

    def __init__(self, size: Size) -> None:
        super().__init__()
        self.heads = size.heads
        self.qkv = nn.Linear(size.width, 3 * size.width)
        self.project = nn.Linear(size.width, size.width)

    def forward(self, x: Tensor) -> Tensor:
        """Return the attended values, projected."""
        batch, length, width = x.shape
        parts = self.qkv(x).view(batch, length, 3, self.heads, width // self.heads)
        query, key, value = parts.permute(2, 0, 3, 1, 4)
        y = functional.scaled_dot_product_attention(query, key, value, is_causal=True)
        projected: Tensor = self.project(y.transpose(1, 2).reshape(batch, length, width))
        return projected


class Block(nn.Module):
    """Attention and a feed-forward network, each behind a norm and with a skip connection."""

    def __init__(self, size: Size) -> None:
        super().__init__()
        self.norm1, self.attention = nn.LayerNorm(size.width), Attention(size)
        self.norm2 = nn.LayerNorm(size.width)
        self.expand = nn.Linear(size.width, 4 * size.width)
        self.shrink = nn.Linear(4 * size.width, size.width)

    def forward(self, x: Tensor) -> Tensor:
        """Return x with both results added."""
        x = x + self.attention(self.norm1(x))
        y: Tensor = self.shrink(functional.gelu(self.expand(self.norm2(x))))
        return x + y


class SmallGPT(nn.Module):
    """Embeddings, blocks and a head."""

    def __init__(self, size: Size) -> None:
        super().__init__()
        self.tokens = nn.Embedding(size.vocabulary, size.width)
        self.positions = nn.Embedding(size.length, size.width)
        self.blocks = nn.Sequential(*(Block(size) for _ in range(size.blocks)))
        self.norm = nn.LayerNorm(size.width)
        self.head = nn.Linear(size.width, size.vocabulary, bias=False)

    def forward(self, tokens: Tensor) -> Tensor:
        """Return the logits of the next token at each place."""
        places = torch.arange(tokens.shape[1], device=tokens.device)
        x = self.blocks(self.tokens(tokens) + self.positions(places))
        logits: Tensor = self.head(self.norm(x))
        return logits


def random_tokens(size: Size, device: str) -> Tensor:
    """Return a batch of one token more than the model sees: the last one is only predicted."""
    shape = (size.batch, size.length + 1)
    return torch.randint(size.vocabulary, shape, device=device)


class Trainer:
    """Trains a SmallGPT in bf16: operator by operator, or compiled in a mode of torch.compile."""

    def __init__(self, device: str, compiled: str | None = None) -> None:
        self.device, self.size = device, SIZES[device]
        model = SmallGPT(self.size).to(device)
        # Fused: one operator updates all parameters, and the trace stays small.
        self.optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4, fused=True)
        self.model = torch.compile(model, mode=compiled) if compiled else model

    def step(self) -> None:
        """Train with one batch."""
        tokens = random_tokens(self.size, self.device)
        with (
            record_function("forward"),
            torch.autocast(self.device, dtype=torch.bfloat16),
        ):
            logits = self.model(tokens[:, :-1])
            loss = functional.cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten())
        self.optimizer.zero_grad()
        with record_function("backward"):
            loss.backward()
        self.optimizer.step()
