"""Parents, operators and self time of any host events, against loops that follow the rules."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from tests.ingest.conftest import Row, TakeIn, host, memory

OPERATORS = ("cpu_op", "user_annotation")
FRAME = "python_function"

events = st.lists(
    st.builds(
        lambda cat, start, length, tid: host(cat, "a", start, start + length, tid),
        st.sampled_from(
            [*OPERATORS, FRAME, "cuda_runtime", "cuda_driver", "overhead", "npu_op", None]
        ),
        st.integers(0, 20),
        st.sampled_from([0, 1, 2, 3, 5, 8, 13, 21]),
        st.integers(1, 2),
    ),
    max_size=40,
)
records = st.lists(st.builds(memory, st.integers(0, 40), st.integers(1, 3)), max_size=6)


def end(event: Row) -> int:
    return int(event["ts"] + event.get("dur", 0))


def enclosing(events: Sequence[Row], here: int, kinds: Sequence[str]) -> int | None:
    """The last event of the kinds, in the order of nesting, that is open where event `here` starts."""

    def place(number: int) -> tuple[int, int, int]:
        return events[number]["ts"], -end(events[number]), number

    found = [
        other
        for other, event in enumerate(events)
        if event.get("cat") in kinds
        and event["tid"] == events[here]["tid"]
        and place(other) < place(here)
        and end(event) > events[here]["ts"]
    ]
    return max(found, key=place, default=None)


def self_time(
    events: Sequence[Row], parents: list[int | None], operators: list[int | None], here: int
) -> int:
    """Length less the parts of the children inside; of an operator those that it encloses next."""
    is_operator = events[here]["cat"] in OPERATORS
    inner = 0
    for child, parent in enumerate(parents):
        if is_operator:
            in_a_call = parent is not None and events[parent]["cat"] not in (*OPERATORS, FRAME)
            counts = operators[child] == here and events[child]["cat"] != FRAME and not in_a_call
        else:
            counts = parent == here
        if counts:
            inner += max(min(end(events[child]), end(events[here])) - events[child]["ts"], 0)
    return max(events[here]["dur"] - inner, 0)


# Shrinking would take minutes of ingests; the difference names the event.
@settings(phases=[Phase.generate], max_examples=15, deadline=None, derandomize=True)
@given(events=events, records=records)
def test_any_host_events(take_in: TakeIn, events: list[Row], records: list[Row]) -> None:
    kinds = {event["cat"] for event in events}
    numbers = range(len(events))
    parents = [enclosing(events, here, list(kinds)) for here in numbers]
    operators = [enclosing(events, here, OPERATORS) for here in numbers]
    expected = [
        (
            parents[here],
            here if events[here]["cat"] in OPERATORS else operators[here],
            operators[here],
            self_time(events, parents, operators, here) * 1000,
        )
        for here in numbers
    ]
    trace = take_in([*events, *records])
    assert (
        trace.rows(
            "SELECT t.parent_id, t.op_id, t.parent_op_id, t.self_duration_ns"
            " FROM host_events AS t ORDER BY t.event_id"
        )
        == expected
    )
    both = [*events, *records]
    assert trace.rows("SELECT t.op_id FROM memory_records AS t ORDER BY t.event_id") == [
        (enclosing(both, here, OPERATORS),) for here in range(len(events), len(both))
    ]
