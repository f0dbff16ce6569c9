"""Stacks: drawn by hand, and against a walk over every nanosecond."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import duckdb
import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.ingest.conftest import IngestEvents, host, memory
from tracewh.ingest.link import create_link_macros
from tracewh.ingest.link.nesting import find_enclosing
from tracewh.ingest.link.stacks import NONE, covered_time, find_containing, stack_hashes
from tracewh.ingest.parse import create_raw_tables
from tracewh.sql_files import derive

#: Start and end, in the order of nesting.
Rows = Sequence[tuple[int, int]]


def test_stacks_are_in_their_order_whatever_thread_joins_them_first() -> None:
    """So a trace that is ingested again becomes the same file."""
    with duckdb.connect(config={"threads": 2}) as con:
        create_raw_tables(con)
        create_link_macros(con)
        con.execute(
            """
            INSERT INTO raw_host (event_id, category, name)
            SELECT i, 'cpu_op', 'op' FROM range(400_000) AS r (i);
            CREATE TABLE family AS
            SELECT
                h.event_id, h.rowid AS place, FALSE AS is_memory, h.event_id::UBIGINT AS stack_hash,
                NULL::UBIGINT AS outer_hash, 1 AS innermost_ns
            FROM raw_host AS h
            """
        )
        derive(con, "stacks")
        found = con.execute("SELECT stack_id FROM out_stacks").fetchnumpy()["stack_id"]
    assert np.array_equal(found, np.arange(1, 400_001))


def told(rows: Rows) -> tuple[list[int], list[int]]:
    """What contains each row, and how long each is innermost."""
    start, end = (np.array([row[c] for row in rows]) for c in (0, 1))
    parent = find_enclosing(start, end, np.ones(len(rows), bool))
    outer = find_containing(parent, end)
    own = end - start
    at, ns = covered_time(parent, outer, start, end, np.arange(len(rows)))
    np.subtract.at(own, at, ns)
    return outer.tolist(), own.tolist()


def walked(rows: Rows) -> tuple[list[int], list[int]]:
    """By the definitions, word by word."""
    outer = [
        max((n for n in range(row) if rows[n][1] >= end and start < rows[n][1]), default=NONE)
        for row, (start, end) in enumerate(rows)
    ]
    innermost = Counter(
        max((n for n, (start, end) in enumerate(rows) if start <= at < end), default=NONE)
        for at in range(max(end for _, end in rows))
    )
    return outer, [innermost[n] for n in range(len(rows))]


def test_one_that_lasts_longer_is_beside_what_it_starts_in() -> None:
    """
    0  --------------------   0-20
    1    ------               2-8
    2     ---                 3-6
    3      --------------     4-18
    4         -               7-8
    5           --            9-11
    """
    rows = [(0, 20), (2, 8), (3, 6), (4, 18), (7, 8), (9, 11)]
    assert told(rows) == ([NONE, 0, 1, 0, 3, 3], [4, 1, 1, 11, 1, 2])
    assert told(rows) == walked(rows)


@settings(max_examples=400, deadline=None, derandomize=True)
@given(
    spans=st.lists(
        st.tuples(st.integers(0, 20), st.sampled_from([0, 0, 1, 2, 3, 5, 8, 13, 21])),
        min_size=1,
        max_size=24,
    )
)
def test_any_intervals(spans: list[tuple[int, int]]) -> None:
    rows = sorted(
        ((start, start + length) for start, length in spans), key=lambda row: (row[0], -row[1])
    )
    assert told(rows) == walked(rows)


def test_a_stack_is_its_names_in_order() -> None:
    """0 > 1 > 2, and beside them the same names at 3 > 4 > 5; 6 > 7 in another order."""
    outer = np.array([NONE, 0, 1, NONE, 3, 4, NONE, 6])
    names = np.array([5, 6, 7, 5, 6, 7, 6, 5], np.uint64)
    found = stack_hashes(outer, names, 0).tolist()
    assert found[:3] == found[3:6]
    assert len(set(found)) == 5


def test_what_is_known_is_not_hashed_again() -> None:
    outer, names = np.array([NONE, 0, 1, 2]), np.array([5, 6, 7, 8], np.uint64)
    whole = stack_hashes(outer, names, 0)
    assert stack_hashes(outer, np.append(whole[:2], names[2:]), 2).tolist() == whole.tolist()


def test_a_staircase_takes_no_time() -> None:
    """Each starts in the one before and outlives it: nothing contains anything."""
    start = np.arange(200_000)
    end = start + 100_000
    parent = find_enclosing(start, end, np.ones(len(start), bool))
    outer = find_containing(parent, end)
    assert set(outer.tolist()) == {NONE}
    at, ns = covered_time(parent, outer, start, end, start)
    assert int(ns.sum()) == int((end - start).sum()) - int(end.max())
    assert len(at) == len(start) - 1


def test_of_a_trace(ingest_events: IngestEvents) -> None:
    """Steps are one, threads are put together, and the call stack of an operator is part of it."""
    trace = ingest_events(
        [
            host("cpu_op", "aten::mm", 3, 5, 1, **{"Call stack": "b.py(2): g;a.py(1): f"}),
            host("user_annotation", "ProfilerStep#1", 0, 10),
            host("python_function", "a.py(1): f", 1, 9),
            host("user_annotation", "ProfilerStep#2", 10, 20),
            host("python_function", "a.py(1): f", 11, 18),
            host("cpu_op", "aten::mm", 12, 15, 1, **{"Call stack": "b.py(3): g;a.py(1): f"}),
            host("cpu_op", "aten::mm", 15, 16, 1, **{"Call stack": "b.py(2): g"}),
            host("user_annotation", "ProfilerStep#2", 0, 4, tid=2),
            memory(13),
        ]
    )
    rows = trace.rows("SELECT * EXCLUDE (run, worker, span) FROM stacks ORDER BY stack_id")
    assert rows == [
        (1, 3, "cpu_op", "aten::mm", "b.py", 2, "g", 1, 2_000),
        (2, None, "user_annotation", "ProfilerStep*", None, None, None, 3, 9_000),
        (3, 2, "python_function", "a.py(1): f", "a.py", 1, "f", 2, 9_000),
        (4, 3, "cpu_op", "aten::mm", "b.py", 3, "g", 1, 3_000),
        (5, 3, "cpu_op", "aten::mm", "b.py", 2, "g", 1, 1_000),
    ]
    found = trace.rows("SELECT stack_id FROM host_events ORDER BY event_id")
    assert [row[0] for row in found] == [1, 2, 3, 2, 3, 4, 5, 2]
