"""Which event encloses which: drawn by hand, and against a loop that follows the rule word by word."""

from __future__ import annotations

from collections.abc import Sequence

import duckdb
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tracewh.ingest.nesting import NONE, enclosing, nest
from tracewh.ingest.tables import derive

#: Thread, start, end, and whether it may enclose others. Its place in the list is the file's order.
Row = tuple[int, int, int, bool]
#: By place in the list: the place of the parent, and the number of enclosing rows.
Nesting = dict[int, tuple[int | None, int]]


def nested(rows: Sequence[Row]) -> Nesting:
    """What `enclosing` says of each thread."""
    found: Nesting = {}
    for thread in {row[0] for row in rows}:
        here = sorted(
            (n for n, row in enumerate(rows) if row[0] == thread),
            key=lambda n: (rows[n][1], -rows[n][2], n),
        )
        start, end, is_candidate = (np.array([rows[n][c] for n in here]) for c in (1, 2, 3))
        parents, depths = enclosing(start, end, is_candidate)
        for n, parent, depth in zip(here, parents.tolist(), depths.tolist(), strict=True):
            found[n] = (None if parent == NONE else here[parent], depth)
    return found


def walked(rows: Sequence[Row]) -> Nesting:
    """Half-open intervals by start, longer first, then file order; the last one still open encloses."""
    nesting: Nesting = {}
    seen: list[int] = []
    for here in sorted(range(len(rows)), key=lambda n: (rows[n][1], -rows[n][2], n)):
        thread, start, _, _ = rows[here]
        is_open = [
            other
            for other in seen
            if rows[other][0] == thread and rows[other][3] and rows[other][2] > start
        ]
        nesting[here] = (is_open[-1] if is_open else None, len(is_open))
        seen.append(here)
    return nesting


def timeline(*lines: str) -> list[Row]:
    """Rows of one thread, drawn: a row runs from the first to the last character of its line.

    '-' is a nanosecond of a row, '|' a row without a length.
    """
    rows = []
    for line in lines:
        start = len(line) - len(line.lstrip())
        rows.append((0, start, start + line.count("-"), True))
    return rows


def test_an_event_that_ends_after_its_parent_keeps_it() -> None:
    """The second starts inside the first and outlives it; nothing is dropped and no level lost."""
    rows = timeline(
        "----------",
        "      --------",
        "       --",
        "          |",
        "           ---",
        "              --",
    )
    assert nested(rows) == {
        0: (None, 0),
        1: (0, 1),
        2: (1, 2),
        3: (1, 1),
        4: (1, 1),
        5: (None, 0),
    }


def test_events_that_overlap_in_a_chain() -> None:
    """Each starts inside the one before, which the last of them does not: the first has ended."""
    rows = timeline(
        "----",
        "  ----",
        "     ----",
        "         |",
    )
    assert nested(rows) == {0: (None, 0), 1: (0, 1), 2: (1, 1), 3: (None, 0)}


def test_jitter_between_siblings() -> None:
    """The first child ends a nanosecond after the second starts: the second lies in it, not beside."""
    rows = timeline(
        "------------",
        " -----",
        "     ------",
        "      --",
        "           -",
    )
    assert nested(rows) == {0: (None, 0), 1: (0, 1), 2: (1, 2), 3: (2, 2), 4: (0, 1)}


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
    assert nested(rows) == {
        0: (3, 3),
        1: (2, 1),
        2: (None, 0),
        3: (1, 2),
        4: (None, 0),
        5: (4, 1),
    }


rows = st.lists(
    st.tuples(
        st.integers(0, 1),
        st.integers(0, 12),
        st.sampled_from([0, 0, 1, 2, 3, 5, 8, 13]),
        st.booleans(),
    ).map(lambda row: (row[0], row[1], row[1] + row[2], row[3])),
    min_size=1,
    max_size=24,
)


@settings(max_examples=300, deadline=None, derandomize=True)
@given(rows=rows)
def test_any_intervals(rows: list[Row]) -> None:
    assert nested(rows) == walked(rows)


@settings(max_examples=200, deadline=None, derandomize=True)
@given(rows=rows)
def test_any_intervals_that_all_enclose(rows: list[Row]) -> None:
    """More of them overlap in part."""
    rows = [(thread, start, end, True) for thread, start, end, _ in rows]
    assert nested(rows) == walked(rows)


@pytest.mark.parametrize("part_rows", [1, 2, 5])
def test_parts(part_rows: int) -> None:
    """What is linked a part at a time is linked as the whole is."""
    columns = (
        "place, row_id, thread, start_ns, end_ns, is_op, is_frame, is_call, is_memory, name_hash"
    )
    with duckdb.connect() as con:
        con.execute("""
            CREATE TABLE rows AS
            SELECT
                r.n AS place, 100 + r.n AS row_id, r.n // 150 AS thread, r.at AS start_ns,
                CASE WHEN r.kind = 3 THEN r.at ELSE r.at + r.length END AS end_ns,
                (r.kind = 0)::TINYINT AS is_op, (r.kind = 1)::TINYINT AS is_frame, (r.kind = 2)::TINYINT AS is_call,
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
    assert max(row[6] for row in whole) > 5
    assert len({row[8] for row in whole}) > 50  # stacks
    assert found[0] == whole
