"""What replay.py replays: nodes, events, work on streams, and what changes."""

from __future__ import annotations

import math
from bisect import bisect_right
from dataclasses import dataclass, field
from typing import Any

Interval = tuple[int, int]


@dataclass
class Node:
    """An instant of a thread, or work on a stream, which also has a duration.

    Attributes:
        lane: Thread or stream.
        rank: Order of nodes of the same time.
        cap: Longest own lag; None keeps all of the time since the node before.
        edges: Node that the edge comes from, whether from its end, lag.
    """

    at: int
    lane: tuple[Any, ...]
    rank: int = 0
    event: int = -1
    duration: int = 0
    cap: int | None = None
    kind: str = ""
    edges: list[tuple[Node, int]] = field(default_factory=list)
    before: Node | None = None
    own: int = 0
    rest: int = 0
    place: int = 0
    time: int = 0

    @property
    def end(self) -> int:
        return self.at + self.duration


@dataclass(frozen=True)
class Event:
    id: int
    lane: tuple[Any, ...]
    name: str
    is_op: bool
    is_call: bool
    start: int
    end: int


@dataclass(frozen=True)
class Work:
    id: int
    lane: tuple[Any, ...]
    kind: str
    name: str
    start: int
    end: int
    launch: int | None


@dataclass
class Change:
    """What is scaled: work and events by id with one factor; `host` scales all own times of threads."""

    factor: float = 1.0
    work: frozenset[int] = frozenset()
    events: frozenset[int] = frozenset()
    host: bool = False
    rests: bool = True


def scaled(value: float, factor: float) -> int:
    return math.floor(value * factor + 0.5)


def overlap(intervals: list[Interval], start: int, end: int) -> int:
    place = max(bisect_right(intervals, start, key=lambda i: i[0]) - 1, 0)
    total = 0
    for a, b in intervals[place:]:
        if a >= end:
            break
        total += max(min(b, end) - max(a, start), 0)
    return total
