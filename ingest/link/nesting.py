"""Which event is inside which, on every thread.

The ancestors of an event are those of its thread that are still open when it begins; what has ended is
nobody's ancestor any more, even where something that began inside it is still open. So an event that
lasts longer than the one in which it starts is not inside that one but beside it, in what contains both:
a tree whatever the intervals do, and nothing is dropped. Intervals are half-open, in the order of start,
longer first, then the file's.

Operators and annotations nest by this rule among themselves: a Python frame that is never closed takes
nothing from the operator in which it starts. What can contain none of them, such as a call that launches a
kernel, belongs to the innermost of them that is open when it begins, as long as it may last.

The self time of an event is that in which nothing that started later was open. Beside operators and
annotations Python frames do not count: their self time is that in which no operator, annotation, runtime
or driver call that started later was open. So what overlaps in part counts against self time too, once.
`overlap_start_ns` is the start of the first event that begins in one and ends after it.

The database sorts, spilling what does not fit; what comes in that order is linked in arrays, a part at
a time. Stacks are told here too, see `tracewh.ingest.link.stacks`.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import duckdb
import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tracewh.arrow_columns import from_numpy, to_numpy
from tracewh.ingest.link.stacks import NONE, Ints, containing, counted, covered, hashed, overlapped

Flags = npt.NDArray[np.bool_]
#: Columns by name.
Rows = dict[str, npt.NDArray[Any]]

#: Start of an overlap where there is none.
NEVER = np.iinfo(np.int64).max
#: Rows linked at a time.
PART_ROWS = 1 << 16


def enclosing(start: Ints, end: Ints, is_candidate: Flags) -> Ints:
    """What is open where each row of one thread starts.

    Args:
        start: Start of each row, in the order of nesting.
        end: End of each row.
        is_candidate: Which rows may enclose others; those without a length never do.

    Returns:
        The position of the last candidate before it that is open where a row starts, or `NONE`.
    """
    candidates = np.flatnonzero(is_candidate & (end > start))
    before = np.searchsorted(candidates, np.arange(len(start)))
    # Of each candidate the nearest before it that is open: skip what has ended, and all that had
    # ended before that began.
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
    """The rows whose parent has ended where they start."""
    parent = parents[rows]
    rows, parent = rows[parent != NONE], parent[parent != NONE]
    closed: Ints = rows[ends[parent] <= start[rows]]
    return closed


def nest(con: duckdb.DuckDBPyConnection, rows: str, part_rows: int = PART_ROWS) -> None:
    """Fill the table family, see sql/derive/family.sql.

    Args:
        con: Connection that holds the rows; statements run on cursors of it.
        rows: Relation (place, row_id, thread, start_ns, end_ns, is_op, is_frame, is_memory,
            name_hash), the flags as 0 or 1.
        part_rows: How many are linked at a time.
    """
    parts = con.sql(f"""
        SELECT r.* EXCLUDE (name_hash), -1::BIGINT AS parent_id, -1::BIGINT AS op_id,
            0::BIGINT AS depth, 0::BIGINT AS covered_ns, 0::BIGINT AS named_ns,
            r.name_hash AS stack_hash, 0::UBIGINT AS outer_hash, {NEVER} AS overlap_start_ns
        FROM {rows} AS r ORDER BY r.thread, r.start_ns, r.end_ns DESC, r.row_id
    """).to_arrow_reader(part_rows)
    open_rows: Rows = {}  # rows of this thread that may enclose rows of the next part
    with con.cursor() as cursor:
        for batch in parts:
            part = {
                name: to_numpy(column)
                for name, column in zip(batch.schema.names, batch.columns, strict=True)
            }
            nothing = _take(part, slice(0))
            open_rows = open_rows or nothing
            done = []
            if part["thread"][0] not in open_rows["thread"]:
                done, open_rows = [open_rows], nothing
            edges = np.flatnonzero(np.diff(part["thread"])) + 1
            for first, last in pairwise([0, *edges.tolist(), len(batch)]):
                line = _joined([open_rows, _take(part, slice(first, last))])
                _link(line, len(open_rows["thread"]))
                done.append(line)
                open_rows = nothing
            is_open = line["end_ns"] > line["start_ns"][-1]
            done[-1], open_rows = _take(line, ~is_open), _take(line, is_open)
            _append(cursor, _joined(done))
        if open_rows:
            _append(cursor, open_rows)


def _link(line: Rows, known: int) -> None:
    """Fill the last columns of the rows of one thread, of which the first were `known` before."""
    start, end, row_id = line["start_ns"], line["end_ns"], line["row_id"]
    is_host, is_op = line["is_memory"] == 0, line["is_op"] == 1
    parent, op = enclosing(start, end, is_host), enclosing(start, end, is_op)
    outer = containing(parent, end)
    outer_op = np.where(is_op, containing(op, end), op)
    for name, found in (("parent_id", outer), ("op_id", outer_op)):
        line[name][known:] = np.where(found == NONE, NONE, row_id[found])[known:]
    line["depth"] = counted(outer, line["depth"], known)
    line["stack_hash"] = hashed(outer, line["stack_hash"], known)
    inside = np.flatnonzero(outer[known:] != NONE) + known
    line["outer_hash"][inside] = line["stack_hash"][outer[inside]]
    is_host[:known] = False  # counted before
    np.minimum.at(
        line["overlap_start_ns"], *overlapped(parent, outer, start, np.flatnonzero(is_host))
    )
    at, ns = covered(parent, outer, start, end, np.flatnonzero(is_host))
    np.add.at(line["covered_ns"], at, ns)
    if line["is_frame"].any():
        named = np.flatnonzero((line["is_memory"] == 0) & (line["is_frame"] == 0))
        start, end = start[named], end[named]
        parent = enclosing(start, end, np.ones(len(named), np.bool_))
        outer = containing(parent, end)
        at, ns = covered(parent, outer, start, end, np.flatnonzero(named >= known))
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
