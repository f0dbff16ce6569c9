"""Nesting of events: the parent, depth, self time and stack of each host event on its thread.

The parent of an event is the innermost event of its thread that contains the whole of it. An event that ends
later than the event in which it starts is not nested in that one: both are children of the event that
contains both. So the events of a thread form a tree, however their intervals overlap, and no event is
dropped. Intervals are half-open. Events are sorted by start, then longer first, then by position in the file.

Operators and annotations nest by the same rule among themselves, without Python frames: a frame that is never
closed must not take time from the operator in which it starts. An event that cannot contain operators, such
as a kernel launch, belongs to the innermost operator or annotation that is open when it starts, even if it
ends later.

The self time of an event is the time in which no event that started later was open. For operators and
annotations, Python frames do not count: only operators, annotations, runtime and driver calls do. So an
event that overlaps another one in part reduces its self time too, once. `overlap_start_ns` is the start of
the first event that starts inside an event and ends after it.

DuckDB sorts the events, because it can spill to disk. NumPy then links the sorted rows, one part at a time.
The functions for stacks are in `tracewh.ingest.link.stacks`.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import duckdb
import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tracewh.arrow_columns import from_numpy, to_numpy
from tracewh.ingest.link.stacks import (
    NONE,
    Ints,
    covered_time,
    find_containing,
    find_overlaps,
    nesting_depths,
    stack_hashes,
)

Flags = npt.NDArray[np.bool_]
#: Columns by name.
Rows = dict[str, npt.NDArray[Any]]

#: The value of `overlap_start_ns` without an overlap.
NEVER = np.iinfo(np.int64).max
#: Rows linked at a time.
PART_ROWS = 1 << 16


def find_enclosing(start: Ints, end: Ints, is_candidate: Flags) -> Ints:
    """Find the innermost candidate that is open at the start of each row of one thread.

    Args:
        start: Start of each row, in the order of nesting.
        end: End of each row.
        is_candidate: Which rows may enclose others. Rows of zero length never do.

    Returns:
        The position of that candidate for each row, or `NONE`.
    """
    candidates = np.flatnonzero(is_candidate & (end > start))
    before = np.searchsorted(candidates, np.arange(len(start)))
    # Find the parent of each candidate: start at the candidate before it, and continue with the parent of
    # that one as long as it has ended.
    starts, ends = start[candidates], end[candidates]
    parents = np.arange(-1, len(candidates) - 1)
    moving = np.arange(len(candidates))
    while len(moving := _closed(moving, parents, ends, starts)):
        parents[moving] = parents[parents[moving]]
    found = before - 1
    found[candidates] = parents
    moving = np.flatnonzero(~is_candidate | (end <= start))
    while len(moving := _closed(moving, found, ends, start)):
        found[moving] = parents[found[moving]]
    return np.append(candidates, NONE)[found]


def _closed(rows: Ints, parents: Ints, ends: Ints, start: Ints) -> Ints:
    """The rows whose parent ends before they start."""
    parent = parents[rows]
    rows, parent = rows[parent != NONE], parent[parent != NONE]
    closed: Ints = rows[ends[parent] <= start[rows]]
    return closed


def nest(con: duckdb.DuckDBPyConnection, rows: str, part_rows: int = PART_ROWS) -> None:
    """Nest the rows of a relation and fill the table `family` (sql/derive/family.sql).

    Args:
        con: Connection to the database; statements run on cursors of it.
        rows: Relation (place, row_id, thread, start_ns, end_ns, is_op, is_frame, is_memory,
            name_hash), the flags as 0 or 1.
        part_rows: Number of rows to link at a time.
    """
    parts = con.sql(f"""
        SELECT r.* EXCLUDE (name_hash), -1::BIGINT AS parent_id, -1::BIGINT AS op_id,
            0::BIGINT AS depth, 0::BIGINT AS covered_ns, 0::BIGINT AS named_ns,
            r.name_hash AS stack_hash, 0::UBIGINT AS outer_hash, {NEVER} AS overlap_start_ns
        FROM {rows} AS r ORDER BY r.thread, r.start_ns, r.end_ns DESC, r.row_id
    """).to_arrow_reader(part_rows)
    open_rows: Rows = {}  # rows of the last thread that are still open at the end of a part
    with con.cursor() as cursor:
        for batch in parts:
            part = {
                name: to_numpy(column)
                for name, column in zip(batch.schema.names, batch.columns, strict=True)
            }
            no_rows = _take(part, slice(0))
            open_rows = open_rows or no_rows
            done = []
            if part["thread"][0] not in open_rows["thread"]:
                done, open_rows = [open_rows], no_rows
            edges = np.flatnonzero(np.diff(part["thread"])) + 1
            for first, last in pairwise([0, *edges.tolist(), len(batch)]):
                line = _joined([open_rows, _take(part, slice(first, last))])
                _link(line, len(open_rows["thread"]))
                done.append(line)
                open_rows = no_rows
            is_open = line["end_ns"] > line["start_ns"][-1]
            done[-1], open_rows = _take(line, ~is_open), _take(line, is_open)
            _append(cursor, _joined(done))
        if open_rows:
            _append(cursor, open_rows)


def _link(line: Rows, known: int) -> None:
    """Fill the computed columns of the rows of one thread. The first `known` rows have theirs from before."""
    start, end, row_id = line["start_ns"], line["end_ns"], line["row_id"]
    is_host, is_op = line["is_memory"] == 0, line["is_op"] == 1
    parent, op = find_enclosing(start, end, is_host), find_enclosing(start, end, is_op)
    outer = find_containing(parent, end)
    outer_op = np.where(is_op, find_containing(op, end), op)
    for name, found in (("parent_id", outer), ("op_id", outer_op)):
        line[name][known:] = np.where(found == NONE, NONE, row_id[found])[known:]
    line["depth"] = nesting_depths(outer, line["depth"], known)
    line["stack_hash"] = stack_hashes(outer, line["stack_hash"], known)
    inside = np.flatnonzero(outer[known:] != NONE) + known
    line["outer_hash"][inside] = line["stack_hash"][outer[inside]]
    is_host[:known] = False  # these were counted with an earlier part
    np.minimum.at(
        line["overlap_start_ns"], *find_overlaps(parent, outer, start, np.flatnonzero(is_host))
    )
    at, ns = covered_time(parent, outer, start, end, np.flatnonzero(is_host))
    np.add.at(line["covered_ns"], at, ns)
    if line["is_frame"].any():
        named = np.flatnonzero((line["is_memory"] == 0) & (line["is_frame"] == 0))
        start, end = start[named], end[named]
        parent = find_enclosing(start, end, np.ones(len(named), np.bool_))
        outer = find_containing(parent, end)
        at, ns = covered_time(parent, outer, start, end, np.flatnonzero(named >= known))
        at = named[at]
    np.add.at(line["named_ns"], at, ns)


def _append(con: duckdb.DuckDBPyConnection, rows: Rows) -> None:
    found = pa.table({name: from_numpy(column) for name, column in rows.items()})
    con.register("found", found)
    con.execute(
        """
        INSERT INTO family
        SELECT
            f.place, f.row_id, f.is_memory = 1, nullif(f.parent_id, -1),
            CASE WHEN f.is_op = 1 THEN f.row_id ELSE nullif(f.op_id, -1) END, nullif(f.op_id, -1),
            f.depth,
            f.end_ns - f.start_ns - CASE WHEN f.is_op = 1 THEN f.named_ns ELSE f.covered_ns END,
            f.stack_hash, nullif(f.outer_hash, 0), f.end_ns - f.start_ns - f.covered_ns,
            nullif(f.overlap_start_ns, $never)
        FROM found AS f
    """,
        {"never": NEVER},
    )
    con.unregister("found")


def _joined(parts: list[Rows]) -> Rows:
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


def _take(rows: Rows, which: slice | Flags) -> Rows:
    return {name: column[which] for name, column in rows.items()}
