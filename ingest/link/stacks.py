"""What is open around a host event from its start to its end, as a number: its stack.

An event that lasts longer than the one in which it starts is not inside that one but beside it, in
what is around both. So stacks nest whatever the intervals do, and each instant of a thread belongs
to one: that of the event which started last and is still open.

All functions take the rows of one thread in the order of nesting, see `tracewh.ingest.link.nesting`, with
the position of the event in which each starts.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]
Hashes = npt.NDArray[np.uint64]

#: Instead of a row that nothing is around.
NONE = -1
#: A stack's hash is that of its last name plus this times that of the stack around it, modulo 2^64.
_BASE = np.uint64(0x9E3779B97F4A7C15)


def containing(parent: Ints, end: Ints) -> Ints:
    """The innermost row that contains the whole of each, or `NONE`."""
    found = parent.copy()
    moving = np.flatnonzero(parent != NONE)
    # What has an earlier end than a row contains nothing that contains the row.
    while len(moving := moving[end[found[moving]] < end[moving]]):
        found[moving] = found[found[moving]]
        moving = moving[found[moving] != NONE]
    return found


def covered(parent: Ints, outer: Ints, start: Ints, end: Ints, rows: Ints) -> tuple[Ints, Ints]:
    """Where rows are innermost instead of others that are open.

    Args:
        outer: What `containing` says.
        rows: Those to tell of.

    Returns:
        Positions of other rows, and how long each is covered; a row may occur often.
    """
    rows = rows[parent[rows] != NONE]
    under, since = parent[rows], start[rows]
    found: list[tuple[Ints, Ints]] = []
    while len(rows):
        until = np.minimum(end[rows], end[under])
        found.append((under, until - since))
        rows, under, since = _beyond(rows, outer[under], until, end)
    return _joined(found)


def _joined(found: list[tuple[Ints, Ints]]) -> tuple[Ints, Ints]:
    nothing = np.empty(0, np.int64)
    return (
        np.concatenate([nothing, *(at for at, _ in found)]),
        np.concatenate([nothing, *(ns for _, ns in found)]),
    )


def _beyond(rows: Ints, under: Ints, since: Ints, end: Ints) -> tuple[Ints, Ints, Ints]:
    """The rows that last longer than this, and have something else under them."""
    longer = (end[rows] > since) & (under != NONE)
    return rows[longer], under[longer], since[longer]


def overlapped(parent: Ints, outer: Ints, start: Ints, rows: Ints) -> tuple[Ints, Ints]:
    """Which rows another one outlives that starts in them.

    Args:
        outer: What `containing` says.
        rows: Those to tell of.

    Returns:
        Positions of other rows, and for each the start of a row that begins in it and lasts longer. A
        position may occur often; the first of those starts is always with it.
    """
    rows = rows[parent[rows] != outer[rows]]
    under = parent[rows]
    found: list[tuple[Ints, Ints]] = []
    while len(rows):
        found.append((under, start[rows]))
        under = outer[under]
        is_shorter = under != outer[rows]
        rows, under = rows[is_shorter], under[is_shorter]
    return _joined(found)


def counted(outer: Ints, depth: Ints, known: int) -> Ints:
    """How many rows contain each row, one in the other.

    Args:
        outer: What `containing` says.
        depth: Of the first `known` rows the answer.
        known: How many those are.
    """
    value: Ints = (outer != NONE).astype(np.int64)
    value[:known] = depth[:known]
    # Twice as far up in each round.
    link = outer.copy()
    link[:known] = NONE
    moving = np.flatnonzero(link != NONE)
    while len(moving):
        to = link[moving]
        value[moving] += value[to]
        link[moving] = link[to]
        moving = moving[link[moving] != NONE]
    return value


def hashed(outer: Ints, hashes: Hashes, known: int) -> Hashes:
    """The hash of the stack of each row.

    Args:
        outer: What `containing` says.
        hashes: Of the first `known` rows that of the stack, of the others that of the name.
    """
    value = hashes.copy()
    # Each row knows the names up to the row that it links to, twice as many in each round.
    link, factor = outer.copy(), np.full(len(outer), _BASE)
    link[:known] = NONE
    moving = np.flatnonzero(link != NONE)
    while len(moving):
        to = link[moving]
        value[moving] += value[to] * factor[moving]
        factor[moving] *= factor[to]
        link[moving] = link[to]
        moving = moving[link[moving] != NONE]
    return value
