"""Stacks of host events: the chain of events that contain an event, as a depth and a hash.

Each instant of a thread belongs to one stack: that of the event that started last and is still open.

All functions take arrays with one value per row of a thread, sorted as in `tracewh.ingest.link.nesting`:

    parent   position of the innermost event that is open when the row starts (`find_enclosing`)
    outer    position of the innermost event that contains the whole row (`find_containing`)
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]
Hashes = npt.NDArray[np.uint64]

#: The position in `parent` and `outer` of a row that has none.
NONE = -1
#: hash(stack) = hash(last name) + _BASE * hash(outer stack), modulo 2^64.
_BASE = np.uint64(0x9E3779B97F4A7C15)


def find_containing(parent: Ints, end: Ints) -> Ints:
    """Find the innermost row that contains the whole of each row, or `NONE`."""
    found = parent.copy()
    moving = np.flatnonzero(parent != NONE)
    # A row that ends before another one cannot contain it, nor can the rows inside it.
    while len(moving := moving[end[found[moving]] < end[moving]]):
        found[moving] = found[found[moving]]
        moving = moving[found[moving] != NONE]
    return found


def covered_time(
    parent: Ints, outer: Ints, start: Ints, end: Ints, rows: Ints
) -> tuple[Ints, Ints]:
    """Compute the time in which rows cover rows that started earlier and are still open.

    Args:
        parent: See the module.
        outer: See the module.
        start: Start of each row.
        end: End of each row.
        rows: Positions of the covering rows.

    Returns:
        Positions of covered rows, and for each a covered time in ns. A position may occur several times.
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
    empty = np.empty(0, np.int64)
    return (
        np.concatenate([empty, *(at for at, _ in found)]),
        np.concatenate([empty, *(ns for _, ns in found)]),
    )


def _beyond(rows: Ints, under: Ints, since: Ints, end: Ints) -> tuple[Ints, Ints, Ints]:
    """The rows that end later than `since` and have another row under them."""
    longer = (end[rows] > since) & (under != NONE)
    return rows[longer], under[longer], since[longer]


def find_overlaps(parent: Ints, outer: Ints, start: Ints, rows: Ints) -> tuple[Ints, Ints]:
    """Find the rows in which other rows start that end after them.

    Args:
        parent: See the module.
        outer: See the module.
        start: Start of each row.
        rows: Positions of the rows that may end later.

    Returns:
        Positions of overlapped rows, and for each the start of a row that starts in it and ends after it.
        A position may occur several times; the earliest such start is always among them.
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


def nesting_depths(outer: Ints, depth: Ints, known: int) -> Ints:
    """Compute the depth of each row: the number of rows that contain it.

    Args:
        outer: See the module.
        depth: The depths of the first `known` rows; the other values are ignored.
        known: Number of rows whose depth is known.
    """
    value: Ints = (outer != NONE).astype(np.int64)
    value[:known] = depth[:known]
    # Pointer jumping: each round doubles the distance that a link spans.
    link = outer.copy()
    link[:known] = NONE
    moving = np.flatnonzero(link != NONE)
    while len(moving):
        to = link[moving]
        value[moving] += value[to]
        link[moving] = link[to]
        moving = moving[link[moving] != NONE]
    return value


def stack_hashes(outer: Ints, hashes: Hashes, known: int) -> Hashes:
    """Compute the hash of the stack of each row.

    Args:
        outer: See the module.
        hashes: The hashes of the stacks of the first `known` rows, and of the names of the others.
        known: Number of rows whose stack hash is known.
    """
    value = hashes.copy()
    # Pointer jumping: a value covers the names up to the linked row, twice as many after each round.
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
