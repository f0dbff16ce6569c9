"""What replay.py replays: nodes, events, work on streams, and what changes."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, NamedTuple

Interval = tuple[int, int]


@dataclass(slots=True)
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


class Event(NamedTuple):
    id: int
    lane: tuple[Any, ...]
    name: str
    is_op: bool
    is_call: bool
    start: int
    end: int


class Work(NamedTuple):
    id: int
    lane: tuple[Any, ...]
    kind: str
    name: str
    start: int
    end: int
    launch: int | None


@dataclass(frozen=True)
class Change:
    """What is scaled with one factor: work by id, and time of threads; `host` scales all time of threads."""

    factor: float = 1.0
    work: frozenset[int] = frozenset()
    times: dict[Any, list[Interval]] = field(default_factory=dict)
    host: bool = False


def merged(intervals: Iterable[tuple[Any, int, int]]) -> dict[Any, list[Interval]]:
    """Time that any of some intervals covers, per thread."""
    found: dict[Any, list[Interval]] = defaultdict(list)
    for lane, start, end in sorted(intervals, key=lambda i: i[1]):
        before = found[lane]
        if before and start <= before[-1][1]:
            before[-1] = (before[-1][0], max(before[-1][1], end))
        else:
            before.append((start, end))
    return found


def scaled(value: float, factor: float) -> int:
    """Round half up; a sum of fractions may be a bit less than the half that it is."""
    return math.floor(value * factor + 0.5001)


def overlap(intervals: list[Interval], start: int, end: int) -> int:
    place = max(bisect_right(intervals, (start, math.inf)) - 1, 0)
    total = 0
    for a, b in intervals[place:]:
        if a >= end:
            break
        total += max(min(b, end) - max(a, start), 0)
    return total


def pieces(
    changes: Sequence[Change], lane: Any, start: int, end: int
) -> Iterator[tuple[int, float]]:
    """Yield the length and the product of the factors of each part of a time that changes name."""
    cuts = {start, end}
    named: list[tuple[float, list[Interval]]] = []
    for change in changes:
        spans = [(start, end)] if change.host else change.times.get(lane)
        if not spans:
            continue
        place = max(bisect_right(spans, (start, math.inf)) - 1, 0)
        until = bisect_right(spans, (end, math.inf))
        inside = [(a, b) for a, b in spans[place:until] if a < end and b > start]
        if inside:
            named.append((change.factor, inside))
            cuts |= {at for span in inside for at in span if start < at < end}
    if not named:
        return
    marks = sorted(cuts)
    lengths: dict[tuple[bool, ...], int] = defaultdict(int)
    for a, b in pairwise(marks):
        lengths[tuple(overlap(spans, a, b) > 0 for _, spans in named)] += b - a
    for which, length in lengths.items():
        if any(which):
            yield length, math.prod(f for (f, _), w in zip(named, which, strict=True) if w)
