"""Replays of a random captured graph, with a part missing, moved, added or renamed: no event gets a wrong node."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

if TYPE_CHECKING:
    from tests.given import Tables

#: Captured kernels: few names, so that many nodes have the same.
sequences = st.text("abcd", min_size=4, max_size=24)

each_graph = settings(
    max_examples=12,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)


@dataclass(frozen=True, slots=True)
class Launch:
    """The events of a launch in order of start: name, true node (None for none), stream."""

    kind: str
    events: list[tuple[str, int | None, int]]


def whole(sequence: str) -> list[tuple[str, int | None, int]]:
    return [(name, node, 7) for node, name in enumerate(sequence)]


@st.composite
def launches(draw: st.DrawFn) -> tuple[str, list[Launch]]:
    """A captured sequence, and launches of it, each changed in one way."""
    sequence = draw(sequences)
    last = len(sequence) - 1
    made = [Launch("equal", whole(sequence))]
    for _ in range(3):
        at = draw(st.integers(0, last))
        events = whole(sequence)
        del events[at : at + draw(st.integers(1, 5))]
        if 2 * len(events) >= len(sequence):
            made.append(Launch("drop", events))
        events = whole(sequence)
        events.insert(at, (draw(st.sampled_from("abcd")), None, 7))
        made.append(Launch("insert", events))
        events = whole(sequence)
        if at < last and sequence[at] != sequence[at + 1]:
            events[at], events[at + 1] = events[at + 1], events[at]
            made.append(Launch("swap", events))
        events = whole(sequence)
        events[at] = (draw(st.sampled_from("abcd".replace(sequence[at], ""))), None, 7)
        made.append(Launch("rename", events))
        streams = draw(st.lists(st.sampled_from((7, 8)), min_size=last + 1, max_size=last + 1))
        if len(set(streams)) == 2:
            split = [
                (name, node, stream)
                for (name, node, _), stream in zip(whole(sequence), streams, strict=True)
            ]
            late = draw(st.integers(0, last))
            split.sort(key=lambda event: (event[1] or 0) + (late if event[2] == 8 else 0))
            made.append(Launch("split", split))
    return sequence, made


def digest(names: list[str]) -> str:
    return hashlib.md5("\n".join(names).encode(), usedforsecurity=False).hexdigest()


def replay(tables: Tables, sequence: str, made: list[Launch]) -> dict[int, int | None]:
    """The node that each event gets, by its number."""
    tables.prepare("replayed_events()")
    tables.empty()
    con = tables.con
    keys = "run, worker, span"
    con.execute(
        f"""
        INSERT INTO graphs ({keys}, event_id, role, items, is_named, sequence, names)
        VALUES ('r', 'w', 's', -1, 'capture', ?, TRUE, ?, ?)
        """,
        [len(sequence), digest([*sequence]), digest(sorted(sequence))],
    )
    con.executemany(
        f"""
        INSERT INTO graph_nodes ({keys}, capture_id, position, event_id, name, op_id)
        VALUES ('r', 'w', 's', -1, ?, ?, ?, ?)
        """,
        [[node, 10_000 + node, name, 20_000 + node] for node, name in enumerate(sequence)],
    )
    con.executemany(
        f"""
        INSERT INTO host_events ({keys}, event_id, category, name)
        VALUES ('r', 'w', 's', ?, 'cpu_op', ?)
        """,
        [[20_000 + node, f"operator {node}"] for node in range(len(sequence))],
    )
    events = []
    for number, launch in enumerate(made):
        names = [name for name, _, _ in launch.events]
        streams = len({stream for _, _, stream in launch.events})
        con.execute(
            f"""
            INSERT INTO graphs
                ({keys}, event_id, role, items, is_named, has_nodes, streams, sequence, names)
            VALUES ('r', 'w', 's', ?, 'launch', ?, TRUE, FALSE, ?, ?, ?)
            """,
            [
                number,
                len(names),
                streams,
                digest(names) if streams == 1 else None,
                digest(sorted(names)),
            ],
        )
        events += [
            [100 * number + place, name, number, stream, place]
            for place, (name, _, stream) in enumerate(launch.events)
        ]
    con.executemany(
        f"""
        INSERT INTO device_events
            ({keys}, event_id, category, kind, name, launch_id, stream_id, start_ns, duration_ns)
        VALUES ('r', 'w', 's', ?, 'kernel', 'compute', ?, ?, ?, ?, 1)
        """,
        events,
    )
    return dict(con.execute("SELECT event_id, node FROM replayed_events()").fetchall())


@each_graph
@given(drawn=launches())
def test_no_event_gets_a_wrong_node(tables: Tables, drawn: tuple[str, list[Launch]]) -> None:
    sequence, made = drawn
    nodes = replay(tables, sequence, made)
    for number, launch in enumerate(made):
        got = [nodes[100 * number + place] for place in range(len(launch.events))]
        true = [node for _, node, _ in launch.events]
        wrong = [
            (node, real) for node, real in zip(got, true, strict=True) if node not in (None, real)
        ]
        assert not wrong, (launch.kind, sequence, launch.events, got)
        if launch.kind == "equal":
            assert got == true
        if launch.kind in ("swap", "rename"):
            assert set(got) == {None}, (launch.kind, sequence, launch.events, got)


@each_graph
@given(sequence=sequences, missing=st.integers(1, 3))
def test_a_replay_without_the_last_kernels_lacks_nothing_else(
    tables: Tables, sequence: str, missing: int
) -> None:
    """As diffusion models with Inductor's graphs are recorded: the profiler loses the last kernel."""
    events = whole(sequence)[:-missing]
    if 2 * len(events) < len(sequence):
        return
    nodes = replay(tables, sequence, [Launch("drop", events)])
    got = [nodes[place] for place in range(len(events))]
    # Of a repetition at the end nothing tells which one is missing.
    if sequence[-1] not in sequence[:-1]:
        assert got == [*range(len(events))]
    else:
        assert all(node in (None, place) for place, node in enumerate(got))
