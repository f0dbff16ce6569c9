"""Which event encloses which: drawn by hand, and against a loop that follows the rule word by word."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tracewh.ingest.nesting import nest
from tracewh.ingest.tables import derive

#: Thread, start, end, and whether it may enclose others. Its place in the list is the file's order.
Row = tuple[int, int, int, bool]
#: By place in the list: the place of the parent, and the number of enclosing rows.
Nesting = dict[int, tuple[int | None, int]]


@pytest.fixture(scope="module")
def con() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as con:
        con.execute("SET threads = 1")
        derive(con, "enclosing")
        con.execute(
            "CREATE TABLE intervals"
            " (row_id BIGINT, thread INTEGER, start_ns BIGINT, end_ns BIGINT, is_candidate BOOLEAN,"
            " kind VARCHAR)"
        )
        yield con


def nested(con: duckdb.DuckDBPyConnection, rows: Sequence[Row]) -> Nesting:
    """What `nest` says."""
    con.execute("DELETE FROM intervals; DROP TABLE IF EXISTS nested")
    con.executemany(
        "INSERT INTO intervals VALUES (?, ?, ?, ?, ?, NULL)",
        [(n, *row) for n, row in enumerate(rows)],
    )
    nest(con, "intervals", "nested")
    found = con.execute("SELECT n.row_id, n.parent_row_id, n.depth FROM nested AS n").fetchall()
    assert len(found) == len(rows)
    return {row: (parent, depth) for row, parent, depth in found}


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


def test_an_event_that_ends_after_its_parent_keeps_it(con: duckdb.DuckDBPyConnection) -> None:
    """The second starts inside the first and outlives it; nothing is dropped and no level lost."""
    rows = timeline(
        "----------",
        "      --------",
        "       --",
        "          |",
        "           ---",
        "              --",
    )
    assert nested(con, rows) == {
        0: (None, 0),
        1: (0, 1),
        2: (1, 2),
        3: (1, 1),
        4: (1, 1),
        5: (None, 0),
    }


def test_events_that_overlap_in_a_chain(con: duckdb.DuckDBPyConnection) -> None:
    """Each starts inside the one before, which the last of them does not: the first has ended."""
    rows = timeline(
        "----",
        "  ----",
        "     ----",
        "         |",
    )
    assert nested(con, rows) == {0: (None, 0), 1: (0, 1), 2: (1, 1), 3: (None, 0)}


def test_jitter_between_siblings(con: duckdb.DuckDBPyConnection) -> None:
    """The first child ends a nanosecond after the second starts: the second lies in it, not beside."""
    rows = timeline(
        "------------",
        " -----",
        "     ------",
        "      --",
        "           -",
    )
    assert nested(con, rows) == {0: (None, 0), 1: (0, 1), 2: (1, 2), 3: (2, 2), 4: (0, 1)}


def test_ties(con: duckdb.DuckDBPyConnection) -> None:
    """At one start the longer encloses the shorter, and of equals the first in the file the others."""
    rows = timeline(
        "|",
        "---",
        "-----",
        "---",
        "     ---",
        "     |",
    )
    assert nested(con, rows) == {
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
def test_any_intervals(con: duckdb.DuckDBPyConnection, rows: list[Row]) -> None:
    assert nested(con, rows) == walked(rows)


@settings(max_examples=200, deadline=None, derandomize=True)
@given(rows=rows)
def test_any_intervals_that_all_enclose(con: duckdb.DuckDBPyConnection, rows: list[Row]) -> None:
    """More of them overlap in part."""
    rows = [(thread, start, end, True) for thread, start, end, _ in rows]
    assert nested(con, rows) == walked(rows)
