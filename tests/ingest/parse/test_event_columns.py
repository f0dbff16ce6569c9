"""Odd times, places, names and fields: what the columns say, and that the event comes back."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from tests.ingest.conftest import (
    BASE_NS,
    Case,
    IngestEvents,
    Odd,
    canonical,
    case,
    cases,
    op,
    without,
    written,
)


class Exponent(Decimal):
    """A number that is written with a lower-case e and no sign after it: 1.5e3."""

    def __format__(self, *arguments: Any) -> str:
        return super().__format__(*arguments).replace("E+", "e")


TIMES = [
    case("whole microseconds", op(ts=5), "host_events", {"start_ns": BASE_NS + 5_000}),
    case(
        "decimals of both",
        op(ts=Decimal("5.020"), dur=Decimal("0.003")),
        "host_events",
        {"start_ns": BASE_NS + 5_020, "duration_ns": 3},
    ),
    case(
        "zeros at the end dropped",
        op(ts=Decimal("5.5"), dur=Decimal("0.25")),
        "host_events",
        {"start_ns": BASE_NS + 5_500, "duration_ns": 250},
    ),
    case("before the base", op(ts=Decimal("-1.5")), "host_events", {"start_ns": BASE_NS - 1_500}),
    case(
        "just before the base", op(ts=Decimal("-0.001")), "host_events", {"start_ns": BASE_NS - 1}
    ),
    case(
        "less than a nanosecond",
        op(ts=Decimal("5.12345"), dur=Decimal("0.9996")),
        "host_events",
        {"start_ns": BASE_NS + 5_123, "duration_ns": 1_000},
    ),
    # From 5000.4 to 15000.8 ns, and within it from 8000.7 to 15000.8: both end at 15001.
    case(
        "an end that is rounded",
        op(ts=Decimal("5.0004"), dur=Decimal("10.0004")),
        "host_events",
        {"start_ns": BASE_NS + 5_000, "duration_ns": 10_001},
    ),
    case(
        "the same end",
        op(ts=Decimal("8.0007"), dur=Decimal("7.0001")),
        "host_events",
        {"start_ns": BASE_NS + 8_001, "duration_ns": 7_000},
    ),
    # From 5000.5, which is rounded up, to 5000.6.
    case(
        "shorter than it takes to round",
        op(ts=Decimal("5.0005"), dur=Decimal("0.0001")),
        "host_events",
        {"start_ns": BASE_NS + 5_001, "duration_ns": 0},
    ),
    case(
        "sixteen digits and an end that is rounded",
        op(ts=Decimal("1712199514123.0004"), dur=Decimal("10.0004")),
        "host_events",
        {"start_ns": BASE_NS + 1_712_199_514_123_000, "duration_ns": 10_001},
    ),
    case(
        "sixteen digits",
        op(ts=Decimal("7100544000123.457")),
        "host_events",
        {"start_ns": BASE_NS + 7_100_544_000_123_457},
    ),
    case("exponents", op(ts=Decimal("1.2E+5")), "host_events", {"start_ns": BASE_NS + 120_000_000}),
    case("small exponents", op(ts=Decimal("1.5E-7")), "host_events", {"start_ns": BASE_NS}),
    case(
        "exponents of one digit",
        op(ts=Exponent("1.5E+3"), dur=Exponent("2.5E+3")),
        "host_events",
        {"start_ns": BASE_NS + 1_500_000, "duration_ns": 2_500_000},
    ),
    case(
        "the words in a name",
        op(name='"ts": 6.25, "dur": 9') | {"ts": Decimal("5.125")},
        "host_events",
        {"start_ns": BASE_NS + 5_125, "duration_ns": 1_000},
    ),
    case(
        "the words in an argument before the field",
        {"args": {"ts": 6.25, "dur": 9}} | op(ts=Decimal("5.125")),
        "host_events",
        {"start_ns": BASE_NS + 5_125, "duration_ns": 1_000},
    ),
    case(
        "a duration of sixteen digits",
        op(dur=Decimal("13713713713713.137")),
        "host_events",
        {"duration_ns": 13_713_713_713_713_137},
    ),
    case(
        "the words in an argument before such a duration",
        {"args": {"dur": 9}} | op(dur=Decimal("13713713713713.139")),
        "host_events",
        {"duration_ns": 13_713_713_713_713_139},
    ),
    case("negative length", op(dur=-3), "host_events", {"duration_ns": 0}),
    case("no length", op(dur=0), "host_events", {"duration_ns": 0}),
    case(
        "ts beyond nanoseconds",
        {"ph": "i", "name": "Record Window End", "ts": 2**63 - 1, "s": "g"},
        "other_events",
        {"time_ns": None},
    ),
    case("dur beyond nanoseconds", op(dur=1.8e19), "other_events", {"duration_ns": None}),
    case("ts as text", op(ts="5"), "host_events", {"start_ns": BASE_NS + 5_000}),
    case("dur as text", op(dur="5"), "host_events", {"duration_ns": 5_000}),
    case(
        "both as texts with exponents",
        op(ts="1.5e3", dur="2.5e3"),
        "host_events",
        {"start_ns": BASE_NS + 1_500_000, "duration_ns": 2_500_000},
    ),
    case("ts as a text with two points", op(ts="1.000.123"), "other_events", {"time_ns": None}),
    case("ts as a text in base 16", op(ts="0x1.234"), "other_events", {"time_ns": None}),
    case("ts as words", op(ts="soon"), "other_events", {"phase": "X", "time_ns": None}),
    case("dur null", op(dur=None), "other_events", {"phase": "X", "duration_ns": None}),
    case(
        "X without dur",
        without(op(), "dur"),
        "other_events",
        {"phase": "X", "time_ns": BASE_NS + 5_000, "duration_ns": None},
    ),
]

PLACES = [
    case("numbers", op(pid=1, tid=2), "host_events", {"pid": "1", "tid": "2", "thread_id": 2}),
    case(
        "negative",
        op(cat="user_annotation", pid=-1, tid=-549452224),
        "host_events",
        {"pid": "-1", "thread_id": -549452224},
    ),
    case("a thread as text", op(tid="25772"), "host_events", {"tid": "25772", "thread_id": 25772}),
    case(
        "a stream as text",
        op(cat="Kernel", tid="stream 7"),
        "device_events",
        {"tid": "stream 7", "category": "kernel", "raw_category": "Kernel"},
    ),
    case(
        "words",
        op(cat="user_annotation", pid="Spans", tid=""),
        "host_events",
        {"pid": "Spans", "tid": "", "thread_id": None},
    ),
    case("text with zeros in front", op(tid="007"), "host_events", {"tid": "007"}),
    case(
        "beyond 64 bits",
        op(cat="user_annotation", pid=2**64 + 1),
        "host_events",
        {"pid": str(2**64 + 1)},
    ),
    case("beyond signed integers", op(tid=2**64 - 1), "host_events", {"tid": str(2**64 - 1)}),
    case("a fraction", op(tid=Decimal("2.5")), "host_events", {"tid": "2.5", "thread_id": None}),
    case("null", op(pid=None, tid=None), "host_events", {"pid": None, "tid": None}),
    case("missing", without(op(), "pid", "tid"), "host_events", {"pid": None, "tid": None}),
]

FIELDS = [
    case("no arguments", op(), "host_events", {"args": None}),
    case("empty arguments", op(args={}), "host_events", {"args": "{}"}),
    case("arguments null", op(args=None), "host_events", {"args": None}),
    case("arguments no object", op(args=[1, {"a": 2}]), "host_events", {"args": None}),
    case("a name that is a number", op(name="123"), "host_events", {"name": "123"}),
    case("a number for a name", op(name=123), "host_events", {"name": "123"}),
    case("no name", without(op(), "name"), "host_events", {"name": None}),
    case("name null", op(name=None), "host_events", {"name": None}),
    case("a name in letters", op(name='Füße "🔥" \\ \n'), "host_events", {"name": 'Füße "🔥" \\ \n'}),
    case("keys that nobody foresaw", op(cname="good", tts=4, nested={"a": [None]}), "host_events", {"name": "aten::mm"}),
    case("a key without a value", op(cname=None), "host_events", {"name": "aten::mm"}),
    case(
        "arguments that nobody foresaw",
        op(args={"a.b": 1, "$": 2, 'say "hi"': 3, "": 4, "x": {"y": None, "z": [{}, None]}, "External id": 9}),
        "host_events",
        {"external_id": 9},
    ),
    case(
        "an argument without a value among others",
        op(args={"External id": 9, "note": None, "x": {"y": None}, "Ev Idx": "3"}),
        "host_events",
        {"external_id": 9, "event_index": 3},
    ),
    case(
        "arguments of another table",
        op(args={"stream": 7, "grid": "grid(100,)"}),
        "host_events",
        {"args": '{"stream":7,"grid":"grid(100,)"}'},
    ),
    case("no category", without(op(), "cat"), "host_events", {"category": None, "raw_category": None}),
    case("a category that nobody foresaw", op(cat="npu_op", args={}), "host_events", {"category": "npu_op"}),
    case("the same on a stream", op(cat="npu_op", args={"stream": 3}), "device_events", {"category": "npu_op", "stream_id": 3}),
    case("overhead", without(op(cat="overhead", pid=-1), "args"), "host_events", {"category": "overhead", "pid": "-1"}),
    case("a span", op(cat="Trace", pid="Spans", tid="PyTorch Profiler", args={"Op count": 0}), "other_events", {"category": "Trace", "duration_ns": 1000}),
    case("no phase", without(op(), "ph"), "other_events", {"phase": None}),
    case("an empty event", {}, "other_events", {"phase": None, "name": None, "args": None, "raw": None}),
    case("a phase that nobody foresaw", op(ph="b", id="0x10"), "other_events", {"phase": "b"}),
    case(
        "a metadata row",
        {"name": "process_name", "ph": "M", "ts": Decimal("5.000"), "pid": 1, "tid": 0, "args": {"name": "python"}},
        "other_events",
        {"phase": "M", "time_ns": BASE_NS + 5_000, "args": '{"name":"python"}'},
    ),
    case(
        "a metadata row without a time",
        {"name": "process_labels", "ph": "M", "pid": 1, "args": {"labels": "CPU"}},
        "other_events",
        {"phase": "M", "time_ns": None},
    ),
]  # fmt: skip

CASES = cases(times=TIMES, places=PLACES, fields=FIELDS)


@pytest.mark.parametrize(("number", "each"), CASES)
def test_columns(odd: Odd, number: int, each: Case) -> None:
    assert odd.columns(number, each) == list(each.rows)


@pytest.mark.parametrize(("number", "each"), CASES)
def test_rebuilt(odd: Odd, number: int, each: Case) -> None:
    assert odd.rebuilt[number] == canonical(written(each.event))


def test_absolute_times_are_exact_to_the_nanosecond(ingest_events: IngestEvents) -> None:
    """A double at this magnitude tells quarters of a microsecond apart, no more."""
    ends = ("789", "790", "001", "999", "25", "5")
    given = [op(ts=Decimal(f"1712199514123456.{end}"), dur=Decimal(f"3.{end}")) for end in ends]
    trace = ingest_events([*given, op(ts=1712199514123456, dur=3)])
    nanoseconds = [789, 790, 1, 999, 250, 500, 0]
    assert trace.rows(
        "SELECT t.start_ns, t.duration_ns FROM host_events AS t ORDER BY t.event_id"
    ) == [(1712199514123456000 + ns, 3000 + ns) for ns in nanoseconds]
    assert trace.rebuilt()[:-1] == [canonical(written(event)) for event in given]
    assert trace.rows("SELECT t.base_time_ns FROM traces AS t") == [(None,)]


def test_decimals_of_march_2024_count_nanoseconds(ingest_events: IngestEvents) -> None:
    """123.5 is 5 ns there; that the zeros in front were left out shows where one ends with a zero."""
    ends = {"5": 5, "50": 50, "500": 500, "123": 123, "1": 1}
    given = [op(ts=Decimal(f"1710892800000007.{end}"), dur=Decimal(f"2.{end}")) for end in ends]
    trace = ingest_events([*given, op(ts=1710892800000007)])
    assert trace.rows(
        "SELECT t.start_ns, t.duration_ns FROM host_events AS t ORDER BY t.event_id"
    ) == [
        *((1710892800000007000 + ns, 2000 + ns) for ns in ends.values()),
        (1710892800000007000, 1000),
    ]
    assert trace.rows("SELECT t.generation FROM traces AS t") == [("2024-03",)]
    assert trace.rebuilt()[:-1] == [canonical(written(event)) for event in given]
