"""Parents, operators and self time of any host events, as ingested, against a loop that follows the rules."""

from __future__ import annotations

from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from tests.ingest.conftest import IngestEvents, Row, host, memory
from tests.ingest.link.test_nesting import walked

#: What the rules of nesting tell apart; every other category is a call.
KINDS = {"cpu_op": "op", "user_annotation": "op", "python_function": "frame"}

events = st.lists(
    st.builds(
        lambda cat, start, length, tid: host(cat, "a", start, start + length, tid),
        st.sampled_from([*KINDS, "cuda_runtime", "cuda_driver", "overhead", "npu_op", None]),
        st.integers(0, 20),
        st.sampled_from([0, 1, 2, 3, 5, 8, 13, 21]),
        st.integers(1, 2),
    ),
    min_size=8,
    max_size=40,
)
records = st.lists(st.builds(memory, st.integers(0, 40), st.integers(1, 3)), max_size=6)


# Shrinking would take minutes of ingests; the difference names the event.
@settings(phases=[Phase.generate], max_examples=8, deadline=None, derandomize=True)
@given(events=events, records=records)
def test_any_host_events(
    ingest_events: IngestEvents, events: list[Row], records: list[Row]
) -> None:
    expected = walked(
        [
            *(
                (
                    event["tid"],
                    event["ts"],
                    event["ts"] + event["dur"],
                    KINDS.get(event["cat"], "call"),
                )
                for event in events
            ),
            *((record["tid"], record["ts"], record["ts"], "memory") for record in records),
        ]
    )
    trace = ingest_events([*events, *records])
    assert trace.rows(
        "SELECT t.parent_id, t.op_id, t.parent_op_id, t.self_duration_ns"
        " FROM host_events AS t ORDER BY t.event_id"
    ) == [
        (link.parent, link.op, link.parent_op, link.self_ns * 1000)
        for link in expected[: len(events)]
    ]
    assert trace.rows("SELECT t.op_id FROM memory_records AS t ORDER BY t.event_id") == [
        (link.op,) for link in expected[len(events) :]
    ]
