"""Which event is inside which: drawn by hand, and against a loop that follows the rules word by word."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import duckdb
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tracewh.ingest.link.nesting import find_enclosing, nest
from tracewh.ingest.link.stacks import NONE, find_containing, nesting_depths
from tracewh.sql_files import derive

#: Thread, start, end, and what it is: 'op', 'frame', 'call' or 'memory'. Its place in the list is the
#: file's order.
Row = tuple[int, int, int, str]


class Link(NamedTuple):
    """What the table family says of a row, with places in the list."""

    parent: int | None
    op: int | None
    parent_op: int | None
    depth: int
    self_ns: int
    innermost_ns: int
    overlap_start_ns: int | None = None


#: One for all tests: to connect takes longer than what is tested.
DATABASE = duckdb.connect()


def linked(rows: Sequence[Row], part_rows: int = 1000) -> list[Link]:
    """What `nest` says."""
    values = ", ".join(
        f"({n}, {n}, {thread}, {start}, {end}, {what == 'op':d}, {what == 'frame':d}, {what == 'memory':d}, 7)"
        for n, (thread, start, end, what) in enumerate(rows)
    )
    DATABASE.execute("DROP TABLE IF EXISTS family")
    derive(DATABASE, "family")
    names = "place, row_id, thread, start_ns, end_ns, is_op, is_frame, is_memory, name_hash"
    nest(
        DATABASE,
        f"""(
            SELECT r.* REPLACE (
                r.is_op::TINYINT AS is_op, r.is_frame::TINYINT AS is_frame,
                r.is_memory::TINYINT AS is_memory, r.name_hash::UBIGINT AS name_hash,
                r.place::BIGINT AS place, r.row_id::BIGINT AS row_id,
                r.start_ns::BIGINT AS start_ns, r.end_ns::BIGINT AS end_ns
            ) FROM (VALUES {values}) AS r ({names})
        )""",
        part_rows,
    )
    found = DATABASE.execute("""
        SELECT
            f.parent_id, f.op_id, f.parent_op_id, f.depth, f.self_duration_ns, f.innermost_ns,
            f.overlap_start_ns
        FROM family AS f ORDER BY f.place
    """).fetchall()
    return [Link(*row) for row in found]


def walked(rows: Sequence[Row]) -> list[Link]:
    """By the rules, one event and one nanosecond at a time."""

    def place(n: int) -> tuple[int, int, int]:
        return (rows[n][1], -rows[n][2], n)

    def is_open(other: int, n: int) -> bool:
        """Whether another event of the thread is open where one begins."""
        return (
            rows[other][0] == rows[n][0]
            and rows[other][3] != "memory"
            and place(other) < place(n)
            and rows[other][2] > rows[n][1]
        )

    def outlives(other: int, n: int) -> bool:
        return rows[other][3] != "memory" and rows[other][2] > rows[n][2]

    def last(those: list[int]) -> int | None:
        return max(those, key=place, default=None)

    everything = range(len(rows))
    parents, op_parents = [], []
    for n in everything:
        around = [m for m in everything if is_open(m, n)]
        ops = [m for m in around if rows[m][3] == "op"]
        parents.append(last([m for m in around if rows[m][2] >= rows[n][2]]))
        is_op = rows[n][3] == "op"
        op_parents.append(last([m for m in ops if not is_op or rows[m][2] >= rows[n][2]]))
    innermost: Counter[int | None] = Counter()
    innermost_named: Counter[int | None] = Counter()
    for thread in {row[0] for row in rows}:
        for at in range(max(row[2] for row in rows)):
            here = [n for n in everything if rows[n][0] == thread and rows[n][1] <= at < rows[n][2]]
            innermost[last(here)] += 1
            innermost_named[last([n for n in here if rows[n][3] != "frame"])] += 1

    def depth(n: int) -> int:
        parent = parents[n]
        return 0 if parent is None else 1 + depth(parent)

    return [
        Link(
            parents[n],
            n if rows[n][3] == "op" else op_parents[n],
            op_parents[n],
            depth(n),
            (innermost_named if rows[n][3] == "op" else innermost)[n],
            innermost[n],
            min((rows[m][1] for m in everything if is_open(n, m) and outlives(m, n)), default=None),
        )
        for n in everything
    ]


def timeline(*lines: str) -> list[Row]:
    """Rows of one thread, drawn: a row runs from the first to the last character of its line.

    '-' is a nanosecond of an operator, '=' one of a frame, '+' one of a call, '|' an operator
    without a length.
    """
    rows = []
    for line in lines:
        start = len(line) - len(line.lstrip())
        what = {"=": "frame", "+": "call"}.get(line[start], "op")
        rows.append((0, start, start + len(line[start:].strip("|")), what))
    return rows


def told(rows: Sequence[Row]) -> list[tuple[int | None, int, int]]:
    """The parent, the depth and the self time of each row."""
    found = linked(rows)
    assert found == walked(rows)
    return [(row.parent, row.depth, row.self_ns) for row in found]


def test_an_event_that_ends_after_its_parent_is_beside_it() -> None:
    """The second starts inside the first and outlives it; nothing is dropped."""
    rows = timeline(
        "----------",
        "      --------",
        "       --",
        "          |",
        "           ---",
        "              --",
    )
    assert told(rows) == [
        (None, 0, 6),
        (None, 0, 3),
        (1, 1, 2),
        (1, 1, 0),
        (1, 1, 3),
        (None, 0, 2),
    ]


def test_events_that_overlap_in_a_chain() -> None:
    """Each starts inside the one before and outlives it: all are beside each other, in what holds all."""
    rows = timeline(
        "------------",
        "----",
        "  ----",
        "     ----",
        "        |",
        "         |",
    )
    assert told(rows) == [(None, 0, 3), (0, 1, 2), (0, 1, 3), (0, 1, 4), (3, 2, 0), (0, 1, 0)]


def test_what_lasts_longer_than_several_takes_time_from_each() -> None:
    """The third covers what is left of the second, and then of the first."""
    rows = timeline(
        "----------",
        " -----",
        "     ----------",
    )
    assert told(rows) == [(None, 0, 1), (0, 1, 4), (None, 0, 10)]


def test_equal_ends() -> None:
    """What ends with another is inside it, and what outlives one outlives all that end with it."""
    rows = timeline(
        "------",
        "  ----",
        "   ---",
        "    -----",
        "     -",
        "      ---",
    )
    assert told(rows) == [
        (None, 0, 2),
        (0, 1, 1),
        (1, 2, 1),
        (None, 0, 1),
        (3, 1, 1),
        (3, 1, 3),
    ]


def test_jitter_between_siblings() -> None:
    """The first child ends a nanosecond after the second starts: they stay siblings."""
    rows = timeline(
        "------------",
        " -----",
        "     ------",
        "      --",
        "           -",
    )
    assert told(rows) == [(None, 0, 1), (0, 1, 4), (0, 1, 4), (2, 2, 2), (0, 1, 1)]


def test_where_what_lasts_longer_starts() -> None:
    """In all that is open then and ends before it; of several the first counts."""
    rows = timeline(
        "--------------------",
        " ---------",
        "   ----",
        "    -",
        "     -------",
        "       --------------------",
        "              ---",
        "                           --",
        "|",
    )
    rows.append((1, 5, 30, "op"))  # of another thread
    assert linked(rows) == walked(rows)
    assert [row.overlap_start_ns for row in linked(rows)] == [
        7, 5, 5, None, 7, None, None, None, None, None,
    ]  # fmt: skip


def test_ties() -> None:
    """At one start the longer encloses the shorter, and of equals the first in the file the others."""
    rows = timeline(
        "|",
        "---",
        "-----",
        "---",
        "     ---",
        "     |",
    )
    assert told(rows) == [(3, 3, 0), (2, 1, 0), (None, 0, 2), (1, 2, 3), (None, 0, 3), (4, 1, 0)]


def test_a_frame_that_is_never_closed_takes_nothing_from_an_operator() -> None:
    """The operator still has the one that starts in the frame, and the call that outlives it too."""
    rows = timeline(
        "----------",
        " ==================",
        "  ---",
        "         +++",
        "            ---",
    )
    assert linked(rows) == [
        Link(None, 0, None, 0, 6, 1, 1),
        Link(None, 0, 0, 0, 9, 9),
        Link(1, 2, 0, 1, 3, 3),
        Link(1, 0, 0, 1, 3, 3),
        Link(1, 4, None, 1, 3, 3),
    ]
    assert linked(rows) == walked(rows)


rows = st.lists(
    st.tuples(
        st.integers(0, 1),
        st.integers(0, 12),
        st.sampled_from([0, 0, 1, 2, 3, 5, 8, 13]),
        st.sampled_from(["op", "op", "frame", "call", "memory"]),
    ).map(lambda row: (row[0], row[1], row[1] + (row[3] != "memory") * row[2], row[3])),
    min_size=1,
    max_size=24,
)


@settings(max_examples=120, deadline=None, derandomize=True)
@given(rows=rows, part_rows=st.sampled_from([1, 2, 3, 7, 1000]))
def test_any_intervals(rows: list[Row], part_rows: int) -> None:
    """Whether they are linked at once or a part at a time."""
    assert linked(rows, part_rows) == walked(rows)


@settings(max_examples=300, deadline=None, derandomize=True)
@given(rows=rows)
def test_any_operators(rows: list[Row]) -> None:
    """Parents and depths of one thread, more of which overlap in part."""
    rows = [(0, start, end, "op") for _, start, end, _ in rows]
    here = sorted(range(len(rows)), key=lambda n: (rows[n][1], -rows[n][2], n))
    start, end = (np.array([rows[n][c] for n in here]) for c in (1, 2))
    outer = find_containing(find_enclosing(start, end, np.ones(len(here), bool)), end)
    depth = nesting_depths(outer, np.zeros(len(here), np.int64), 0)
    found = {
        n: (None if parent == NONE else here[parent], deep)
        for n, parent, deep in zip(here, outer.tolist(), depth.tolist(), strict=True)
    }
    assert found == {n: (row.parent, row.depth) for n, row in enumerate(walked(rows))}


@pytest.mark.parametrize("part_rows", [1, 2, 5])
def test_parts(part_rows: int) -> None:
    """What is linked a part at a time is linked as the whole is."""
    columns = "place, row_id, thread, start_ns, end_ns, is_op, is_frame, is_memory, name_hash"
    with duckdb.connect() as con:
        con.execute("""
            CREATE TABLE rows AS
            SELECT
                r.n AS place, 100 + r.n AS row_id, r.n // 150 AS thread, r.at AS start_ns,
                CASE WHEN r.kind = 3 THEN r.at ELSE r.at + r.length END AS end_ns,
                (r.kind = 0)::TINYINT AS is_op, (r.kind = 1)::TINYINT AS is_frame,
                (r.kind = 3)::TINYINT AS is_memory, hash(r.n % 3) AS name_hash
            FROM (
                SELECT
                    n, hash(n, 'at') % 500 AS at, hash(n, 'length') % 60 AS length,
                    hash(n, 'kind') % 4 AS kind
                FROM generate_series(400) AS s (n)
            ) AS r
        """)
        found = []
        for size in (part_rows, 1000):
            derive(con, "family")
            nest(con, f"(SELECT {columns} FROM rows)", size)
            found.append(con.execute("FROM family ORDER BY place").fetchall())
            con.execute("DROP TABLE family")
    whole = found[1]
    assert len({row[3] for row in whole}) > 50  # many enclose something
    assert max(row[6] for row in whole) == 5
    assert len({row[8] for row in whole}) > 50  # stacks
    assert found[0] == whole
