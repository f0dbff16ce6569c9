"""Odd counters and flows: what the columns say, and that the event comes back."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from tests.ingest.conftest import (
    BASE_NS,
    Case,
    IngestEvents,
    Odd,
    Row,
    canonical,
    case,
    cases,
    without,
    written,
)


def counter(**fields: Any) -> Row:
    event = {"ph": "C", "cat": "hardware_counters", "name": "sm__cycles", "pid": "GPU 0 Counters"}
    return event | {"ts": 5} | fields


def flow(phase: str, **fields: Any) -> Row:
    usual = {"ph": phase, "id": 1, "pid": 1, "tid": 2, "ts": 5, "cat": "ac2g", "name": "ac2g"}
    return usual | fields


COUNTERS = [
    case(
        "a series without a name",
        counter(args={"": 1.5}),
        "counter_samples",
        {"pid": "GPU 0 Counters", "name": "sm__cycles", "series": "", "value": 1.5, "time_ns": BASE_NS + 5_000},
    ),
    case(
        "two series",
        counter(args={"read": 1, "write": 2.5}),
        "counter_samples",
        {"series": "read", "value": 1.0},
        {"series": "write", "value": 2.5},
    ),
    case(
        "values that are no numbers",
        counter(args={"a": "1.5", "b": 2, "c": None, "d": {"e": None}}),
        "counter_samples",
        {"series": "a", "value": None},
        {"series": "b", "value": 2.0},
        {"series": "c", "value": None},
        {"series": "d", "value": None},
    ),
    case("a value beyond doubles", counter(args={"a": 2**63 + 1}), "counter_samples", {"value": float(2**63)}),
    case("no series", counter(args={}), "counter_samples", {"series": None, "value": None}),
    case("no arguments", counter(), "counter_samples", {"series": None, "value": None}),
    case("a thread and an id", counter(args={"a": 1}, tid=3, id=4), "counter_samples", {"value": 1.0}),
    case("no time", without(counter(args={"a": 1}), "ts"), "counter_samples", {"time_ns": None, "value": 1.0}),
]  # fmt: skip

FLOWS = [
    case(
        "a start",
        flow("s", id=11),
        "flows",
        {"kind": "launch", "flow_id": 11, "source_ns": BASE_NS + 5_000, "target_event_id": None},
    ),
    case(
        "an end",
        flow("f", id=12, bp="e"),
        "flows",
        {"flow_id": 12, "source_event_id": None, "target_pid": "1"},
    ),
    case("a step alone", flow("t", id=13), "flows", {"flow_id": 13, "source_event_id": None}),
    case("an id as text", flow("s", id="0x10"), "flows", {"flow_id": 16}),
    case("an end with an id as text", flow("f", id="21"), "flows", {"target_tid": "2"}),
    case("an id beyond signed integers", flow("s", id=2**63), "flows", {"flow_id": None}),
    case("no id", without(flow("s"), "id"), "flows", {"flow_id": None}),
    case(
        "a word of its own",
        flow("s", cat="mine", id=14),
        "flows",
        {"kind": "mine", "category": "mine"},
    ),
    case("no word", without(flow("s", id=15), "cat"), "flows", {"kind": None, "category": None}),
    case("arguments", flow("s", id=16, args={"a": {"b": None}}), "flows", {"flow_id": 16}),
    case("a thread as text", flow("s", id=17, tid="25772"), "flows", {"source_tid": "25772"}),
    case("no time", without(flow("s", id=18), "ts"), "flows", {"source_ns": None}),
]

CASES = cases(counters=COUNTERS, flows=FLOWS)


@pytest.mark.parametrize(("number", "each"), CASES)
def test_columns(odd: Odd, number: int, each: Case) -> None:
    assert odd.columns(number, each) == list(each.rows)


@pytest.mark.parametrize(("number", "each"), CASES)
def test_rebuilt(odd: Odd, number: int, each: Case) -> None:
    assert odd.rebuilt[number] == canonical(written(each.event))


def test_a_flow_with_steps_on_its_way_comes_back(ingest_events: IngestEvents) -> None:
    given = [
        flow("t", ts=7, name="way"),
        flow("s", ts=5),
        flow("f", ts=9, bp="e", tid="25772"),
        flow("t", ts=8),
        flow("f", ts=10, args={"a": None}),
    ]
    assert ingest_events(given).rebuilt() == [canonical(written(event)) for event in given]


def test_flow_rows_that_stand_twice_come_back_twice(ingest_events: IngestEvents) -> None:
    given = [flow("s"), flow("s"), flow("f", bp="e"), flow("f", bp="e"), flow("f"), flow("s", ts=6)]
    trace = ingest_events(given)
    assert trace.rebuilt() == [canonical(written(event)) for event in given]


def test_numbers_of_a_flow_stay_as_they_are_written(ingest_events: IngestEvents) -> None:
    long = {"ratio": Decimal("0.12345678901234567890123"), "args": {"#": "#5", "bytes": 2**80 + 1}}
    given = [
        flow("s") | long,
        flow("t", ts=6, name="#way") | long,
        flow("f", ts=7, bp="e") | long,
        flow("f", ts=8, name="#7") | long,
    ]
    assert ingest_events(given).rebuilt() == [canonical(written(event)) for event in given]


@pytest.mark.parametrize(
    "given",
    [
        [without(flow("s"), "name"), flow("f", ts=6)],
        [flow("s"), without(flow("f", ts=6), "name")],
        [flow("s", name="start"), flow("f", ts=6, name="end")],
        [flow("s", name=5), flow("t", ts=6, name=6), flow("f", ts=7, name=["a"])],
        [flow("s", name=None), flow("f", ts=6, name=None)],
    ],
    ids=["start without", "end without", "both", "no text", "null"],
)
def test_each_row_of_a_flow_keeps_its_name(ingest_events: IngestEvents, given: list[Row]) -> None:
    assert ingest_events(given).rebuilt() == [canonical(written(event)) for event in given]
