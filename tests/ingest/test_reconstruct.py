"""Whatever an event holds, it comes back: every argument that has a column, with any value."""

from __future__ import annotations

from decimal import Decimal

from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from tests.ingest.conftest import BASE_NS, IngestEvents, Row, canonical, written
from tracewh.schema import tables

COLUMNS = [column for table in tables().values() for column in table.columns]
TODAY = sorted({column.keys[0] for column in COLUMNS if column.keys})
OLDER = sorted({key for column in COLUMNS for key in column.keys[1:]})

numbers = st.sampled_from(
    [*(0, 1, -1, 7, 4294967295, 2**53 + 1, 2**63 - 1, 2**63, 2**64 - 1, -(2**63), 2**70)]
    + [0.5, 1.0, -0.0, 2.5, 1e-7, 1e16, 1e300]
)
words = st.sampled_from(
    ["", "7", " 7", "256", "inf", "N/A", "true", "null", "0x10", "1e5", "a", 'a"b', "\\", "é", "[]"]
    + ["[0, 1]", "[0,1]", "[None]", "[0, 1, ...]", '{"a": null}', '}, {"', '"ts": 5']
)
values = st.recursive(
    numbers | words | st.none() | st.booleans(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=3),
    max_leaves=4,
)
times = st.integers(-(10**6), 10**15).map(lambda ns: Decimal(ns) / 1000) | st.sampled_from(
    [Decimal("7.50"), Decimal("1.2345"), Decimal("1E+3"), Decimal(2**63), "5", None]
)
phases = st.sampled_from([*["X"] * 9, "i", "I", "C", "M", "B", "s", "t", "f"])
categories = st.sampled_from(
    ["cpu_op", "user_annotation", "python_function", "cuda_runtime", "kernel", "gpu_memcpy"]
    + ["gpu_user_annotation", "cuda_profiler_range", "Trace", "overhead", "ac2g", "Operator", "npu"]
)
places = st.sampled_from([0, 1, -1, "1", "stream 7", "", 2**64])


def events(keys: list[str]) -> st.SearchStrategy[list[Row]]:
    """Events with arguments of these names."""
    fields = {
        "ph": phases,
        "cat": categories,
        "name": st.sampled_from(["a", "[memory]", "[memory]", "f.py(3): g", "ProfilerStep#1"])
        | values,
        "pid": places,
        "tid": places,
        "ts": times,
        "dur": times,
        "args": st.dictionaries(st.sampled_from([*keys, "zz", "Device Type"]), values, max_size=5)
        | values,
        "id": st.integers(0, 3) | values,
        "bp": st.just("e"),
        "s": st.just("t"),
        "tts": values,
    }
    optional = {key: fields.pop(key) for key in ("id", "bp", "s", "tts")}
    whole = st.fixed_dictionaries(fields, optional=optional)
    return st.lists(
        whole | st.fixed_dictionaries({}, optional=fields | optional), min_size=8, max_size=40
    )


# Shrinking would take minutes of ingests; the difference names the event.
@settings(phases=[Phase.generate], max_examples=10, deadline=None, derandomize=True)
@given(events=events(TODAY) | events(TODAY + 5 * OLDER))
def test_any_events(ingest_events: IngestEvents, events: list[Row]) -> None:
    trace = ingest_events(events, {"baseTimeNanoseconds": BASE_NS})
    assert trace.rebuilt() == [canonical(written(event)) for event in events]
