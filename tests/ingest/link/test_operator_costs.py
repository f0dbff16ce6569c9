"""What calls of operators cost, settled once: the views of operators read nothing else."""

from __future__ import annotations

from collections import Counter
from typing import Any

import duckdb
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

import tracewh
from tests.ingest.conftest import Ingested, IngestEvents, Row, call, device, host
from tracewh.sql_files import create_block

#: inner_self_ns and the six parts, and whether eligible.
Costs = tuple[Any, ...]
COLUMNS = """
    h.inner_self_ns, h.plain_self_ns, h.plain_below_ns, h.tensor_core_self_ns,
    h.tensor_core_below_ns, h.unknown_self_ns, h.unknown_below_ns
"""
NONE = (None,) * 8

#: A kernel that uses tensor cores, one that uses none, and one whose name cannot tell.
HMMA = "volta_fp16_s884gemm"
SGEMM = "volta_sgemm_64x64_nn"
GEMM = "gemm"


def costs(trace: Ingested) -> list[Costs]:
    """The settled columns of all host events, in us."""
    return trace.rows(f"""
        SELECT COLUMNS(c.* EXCLUDE (event_id, eligible)) // 1000, c.eligible
        FROM (
            SELECT h.event_id, {COLUMNS}, h.tensor_core_eligible AS eligible FROM host_events AS h
        ) AS c
        ORDER BY c.event_id
    """)


def test_chains_annotations_and_tensor_cores(ingest_events: IngestEvents) -> None:
    """Time in us; K, L and M are kernels of 100, 10 and 7 us, Y a synchronisation of 1000 us.

    L uses no tensor cores, the name of M cannot tell.

        0    5    10   15   20   25   30   35
    0   aten::linear--------                        0-20
    1    aten::t--                                  1-5
    2              aten::addmm-                     11-19
    3                kk                             13-15  launches K, which uses tensor cores
    4                     [region------------]      22-40  annotation at the top
    5                       aten::relu-----         24-38
    6                         aten::relu            26-36  the only child, of the same name
    7                           [inner-]            28-34  annotation inside it
    8                             ll                29-31  launches L and Y
    9                               m               32-33  launches M
    """
    trace = ingest_events(
        [
            host("cpu_op", "aten::linear", 0, 20),
            host("cpu_op", "aten::t", 1, 5),
            host("cpu_op", "aten::addmm", 11, 19),
            call(13, 15, 1),
            host("user_annotation", "region", 22, 40),
            host("cpu_op", "aten::relu", 24, 38),
            host("cpu_op", "aten::relu", 26, 36),
            host("user_annotation", "inner", 28, 34),
            call(29, 31, 2),
            call(32, 33, 3),
            device(100, 200, name=HMMA, correlation=1),
            device(200, 210, name=SGEMM, correlation=2),
            device(1000, 2000, "cuda_sync", "Stream Sync", correlation=2),
            device(210, 217, name=GEMM, correlation=3),
        ]
    )
    # Of the chain, the outer 14 - 10 us are in self_duration_ns, and the inner 10 - 6 here.
    assert costs(trace) == [
        (0, 0, 0, 0, 100, 0, 0, True),
        (0, 0, 0, 0, 0, 0, 0, False),
        (0, 0, 0, 100, 0, 0, 0, True),
        NONE,
        NONE,
        (4, 10, 0, 0, 0, 7, 0, False),
        *[NONE] * 4,
    ]


def test_what_is_no_chain(ingest_events: IngestEvents) -> None:
    """Two children, an only child of another name, and an annotation between two namesakes."""
    trace = ingest_events(
        [
            host("cpu_op", "twins", 0, 10),
            host("cpu_op", "twins", 1, 3),
            host("cpu_op", "twins", 4, 6),
            host("cpu_op", "outer", 20, 30),
            host("cpu_op", "inner", 21, 29),
            host("cpu_op", "apart", 40, 50),
            host("user_annotation", "apart", 41, 49),
            host("cpu_op", "apart", 42, 48),
            call(43, 44, 1),
            device(100, 103, name=SGEMM, correlation=1),
        ]
    )
    assert [row[:3] for row in costs(trace)] == [
        *[(0, 0, 0)] * 5,
        (0, 0, 3),
        (None, None, None),
        (0, 3, 0),
        (None, None, None),
    ]


def test_a_trace_that_links_no_device_work(ingest_events: IngestEvents) -> None:
    trace = ingest_events(
        [
            host("cpu_op", "aten::linear", 0, 20),
            host("cpu_op", "aten::linear", 5, 10),
            host("cpu_op", "aten::t", 30, 40),
            device(100, 103, correlation=1),
        ]
    )
    assert costs(trace) == [
        (5, *[None] * 6, True),
        NONE,
        (0, *[None] * 6, False),
    ]


def test_a_kernel_without_length_makes_nothing_eligible(ingest_events: IngestEvents) -> None:
    trace = ingest_events(
        [host("cpu_op", "op", 0, 20), call(1, 2, 1), device(9, 9, name=HMMA, correlation=1)]
    )
    assert costs(trace)[0] == (0, 0, 0, 0, 0, 0, 0, False)


def test_a_tree_as_deep_as_the_trace_is_long(ingest_events: IngestEvents) -> None:
    """One operator inside the other; each launches a kernel of 1 us, of the three kinds in turn."""
    depth = 3000
    events = [host("cpu_op", f"op{i % 7}", 2 * i, 4 * depth - i) for i in range(depth)]
    events += [call(2 * i + 1, 2 * i + 2, i + 1) for i in range(depth)]
    events += [
        device(9 * i, 9 * i + 1, name=(GEMM, SGEMM, HMMA)[i % 3], correlation=i + 1)
        for i in range(depth)
    ]
    expected = []
    for i in range(depth):
        # Of each kind its own, and those below: one in three, the next of which is this one.
        own = [int(i % 3 == kind) for kind in (1, 2, 0)]
        in_all = [sum(j % 3 == kind for j in range(i % 3, 3)) for kind in (1, 2, 0)]
        below = [depth // 3 - i // 3 - 1 + n - own_ for n, own_ in zip(in_all, own, strict=True)]
        parts = [part for pair in zip(own, below, strict=True) for part in pair]
        expected.append((0, *parts, True))
    assert costs(ingest_events(events))[:depth] == expected


# Shrinking would take minutes of ingests; the difference names the event.
@settings(phases=[Phase.generate], max_examples=8, deadline=None, derandomize=True)
@given(
    st.lists(
        st.builds(
            lambda cat, name, start, length, tid: host(cat, name, start, start + length, tid),
            st.sampled_from(["cpu_op", "cpu_op", "user_annotation", "python_function"]),
            st.sampled_from(["a", "a", "aten::mm"]),
            st.integers(0, 20),
            st.sampled_from([0, 1, 2, 3, 5, 8, 13, 21]),
            st.integers(1, 4),
        ),
        min_size=10,
        max_size=60,
    ),
    st.lists(
        st.tuples(st.integers(0, 20), st.integers(1, 4), st.sampled_from([GEMM, SGEMM, HMMA])),
        max_size=12,
    ),
)
def test_any_events_cost_what_a_walk_up_the_tree_gives(
    ingest_events: IngestEvents, events: list[Row], launches: list[tuple[int, int, str]]
) -> None:
    for number, (start, tid, name) in enumerate(launches):
        events += [host("cuda_runtime", "launch", start, start + 1, tid, correlation=number + 1)]
        events += [device(100, 101 + 2**number, name=name, correlation=number + 1)]
    trace = ingest_events(events)
    assert settled(trace.con, "TRUE") == walked(trace.con, "TRUE")


def test_every_real_trace_costs_what_a_walk_up_the_tree_gives(corpus: tracewh.Warehouse) -> None:
    con = corpus.connection
    calls = 0
    for keys in con.execute("SELECT t.run, t.worker, t.span FROM traces AS t").fetchall():
        where = "(h.run, h.worker, h.span) = ('{}', '{}', '{}')".format(*keys)
        found = settled(con, where)
        assert found == walked(con, where)
        calls += len(found)
    assert calls > 100_000


def tensor_core_operators() -> set[str]:
    """Names of the operators that can use tensor cores."""
    with duckdb.connect() as con:
        create_block(con, "tensor_core_operators")
        return {name for (name,) in con.execute("FROM tensor_core_operators()").fetchall()}


def settled(con: duckdb.DuckDBPyConnection, where: str) -> dict[int, Costs]:
    """What the calls of a trace cost, by event."""
    rows = con.execute(f"""
        SELECT h.event_id, {COLUMNS}, h.tensor_core_eligible
        FROM host_events AS h
        WHERE {where} AND h.inner_self_ns IS NOT NULL
    """).fetchall()
    return {event_id: tuple(figures) for event_id, *figures in rows}


def walked(con: duckdb.DuckDBPyConnection, where: str) -> dict[int, Costs]:
    """The same, from the links of a trace."""
    rows = con.execute(f"""
        SELECT h.event_id, h.parent_op_id, h.category = 'cpu_op', h.name, h.self_duration_ns
        FROM host_events AS h
        WHERE {where} AND h.category IN ('cpu_op', 'user_annotation')
    """).fetchall()
    nodes = {row[0]: row for row in rows}
    children = Counter(parent for _, parent, *_ in rows)
    inner = {
        id_
        for id_, parent, is_operator, name, _ in rows
        if parent is not None and is_operator and nodes[parent][2:4] == (True, name)
        if children[parent] == 1
    }
    work = con.execute(f"""
        SELECT h.op_id, h.duration_ns,
            coalesce(h.uses_tensor_cores::INTEGER, CASE h.category WHEN 'kernel' THEN 2 ELSE 0 END)
        FROM device_events AS h
        WHERE {where} AND h.op_id IS NOT NULL
            AND h.kind IN ('compute', 'communication', 'memcpy', 'memset')
    """).fetchall()
    found = {id_: [*[0] * 7, False] for id_ in nodes}

    def climb(here: int | None, inner_ns: int, part: int, ns: int, eligible: bool) -> None:
        own = True
        while here is not None:
            figures, (_, parent, is_operator, *_) = found[here], nodes[here]
            figures[0] += inner_ns if own else 0
            figures[(1 if own else 2) + 2 * part] += ns
            figures[7] = figures[7] or eligible
            own = own and (not is_operator or here in inner)
            here = parent

    for op_id, ns, part in work:
        climb(op_id, 0, part, ns, part == 1 and ns > 0)
    listed = tensor_core_operators()
    for id_, parent, is_operator, name, self_ns in rows:
        if id_ in inner:
            climb(parent, self_ns, 0, 0, False)
        if is_operator and name in listed:
            climb(id_, 0, 0, 0, True)
    return {
        id_: (inner_ns, *(device if work else [None] * 6), eligible)
        for id_, (inner_ns, *device, eligible) in found.items()
        if nodes[id_][2] and id_ not in inner
    }


def test_the_listed_operators_are_torchs() -> None:
    import torch

    schemas = torch._C._jit_get_all_schemas()
    there = {schema.name for schema in schemas}
    names = {name for name in tensor_core_operators() if name.startswith("aten::")}
    listed = {name for name in names if "." not in name}
    # aten::convolution_backward took their place.
    assert {name for name in listed - there if "cudnn_convolution" not in name} == set()
    assert "aten::convolution_backward" in listed & there
    overloads = {f"{s.name}.{s.overload_name}" for s in schemas if s.name in listed}
    overloads = {name for name in overloads if not name.endswith(".")}
    assert overloads <= names
    endings = [{name.partition(".")[2] for name in some} for some in (names - listed, overloads)]
    assert endings[0] == endings[1]
