"""Which event encloses which, on every thread.

Intervals are half-open, in the order of start, longer first, then the file's. What encloses a row is
the last candidate before it in that order that is still open where it starts: whether intervals nest
or overlap only in part, nothing is dropped. The database sorts, spilling what does not fit; what
comes in that order is linked in arrays, a part at a time.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import duckdb
import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tracewh.ingest.split import from_numpy, to_numpy

Ints = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]
#: Columns by name.
Rows = dict[str, npt.NDArray[Any]]

#: Rows linked at a time.
PART_ROWS = 1 << 18
#: Instead of a row that encloses nothing.
NONE = -1


def enclosing(start: Ints, end: Ints, is_candidate: Flags) -> tuple[Ints, Ints]:
    """What encloses each row of one thread.

    Args:
        start: Start of each row, in the order of nesting.
        end: End of each row.
        is_candidate: Which rows may enclose others; those without a length never do.

    Returns:
        The position of the innermost candidate that is open where a row starts, or `NONE`, and how
        many are open there.
    """
    candidates = np.flatnonzero(is_candidate & (end > start))
    before = np.searchsorted(candidates, np.arange(len(start)))
    ended = np.searchsorted(np.sort(end[candidates]), start, "right")
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
    return np.where(found == NONE, NONE, np.append(candidates, NONE)[found]), before - ended


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
        rows: Relation (place, row_id, thread, start_ns, end_ns, is_op, is_frame, is_call, is_memory),
            the flags as 0 or 1.
        part_rows: How many are linked at a time.
    """
    parts = con.sql(f"""
        FROM {rows} AS r ORDER BY r.thread, r.start_ns, r.end_ns DESC, r.row_id
    """).to_arrow_reader(part_rows)
    open_rows: Rows = {}
    with con.cursor() as cursor:
        for batch in parts:
            part = {
                name: to_numpy(column)
                for name, column in zip(batch.schema.names, batch.columns, strict=True)
            }
            edges = np.flatnonzero(np.diff(part["thread"])) + 1
            found = []
            for first, last in pairwise([0, *edges.tolist(), len(batch)]):
                line = _take(part, slice(first, last))
                known = 0
                if open_rows and open_rows["thread"][0] == line["thread"][0]:
                    known = len(open_rows["thread"])
                    line = _joined([open_rows, line])
                found.append(_take(_family(line), slice(known, None)))
            _append(cursor, _joined(found))
            # What may enclose rows of the next part.
            is_open = (line["is_memory"] == 0) & (line["end_ns"] > line["start_ns"][-1])
            open_rows = _take(line, is_open) if is_open.any() else {}


def _append(con: duckdb.DuckDBPyConnection, rows: Rows) -> None:
    found = pa.table({
        name: from_numpy(column.view(np.int8) if column.dtype == np.bool_ else column)
        for name, column in rows.items()
    })  # fmt: skip
    con.register("found", found)
    con.execute("""
        INSERT INTO family
        SELECT
            f.place, f.row_id, f.is_op = 1, f.is_frame = 1, f.is_memory = 1, f.length_ns, f.depth,
            nullif(f.parent_id, -1), f.is_in_op = 1, f.is_in_call = 1, f.in_parent_ns,
            nullif(f.parent_op_id, -1), f.in_op_ns
        FROM found AS f
    """)
    con.unregister("found")


def _joined(parts: list[Rows]) -> Rows:
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


def _take(rows: Rows, which: slice | Flags) -> Rows:
    return {name: column[which] for name, column in rows.items()}


def _family(line: Rows) -> Rows:
    """The rows of one thread, with what encloses them."""
    start, end, row_id = line["start_ns"], line["end_ns"], line["row_id"]
    parent, depth = enclosing(start, end, line["is_memory"] == 0)
    op, _ = enclosing(start, end, line["is_op"] == 1)
    return {
        "place": line["place"],
        "row_id": row_id,
        "is_op": line["is_op"],
        "is_frame": line["is_frame"],
        "is_memory": line["is_memory"],
        "length_ns": end - start,
        "depth": depth,
        "parent_id": np.where(parent == NONE, NONE, row_id[parent]),
        "is_in_op": (parent != NONE) & (line["is_op"][parent] == 1),
        "is_in_call": (parent != NONE) & (line["is_call"][parent] == 1),
        "in_parent_ns": np.minimum(end, end[parent]) - start,
        "parent_op_id": np.where(op == NONE, NONE, row_id[op]),
        "in_op_ns": np.minimum(end, end[op]) - start,
    }
