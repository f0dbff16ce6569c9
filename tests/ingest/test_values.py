"""Odd values, each twice: what the column says, and that the event comes back as it was."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import pytest

from tests.ingest.conftest import Ingested, TakeIn, canonical, written

Row = dict[str, Any]

#: Added to every time of the odd events.
BASE_NS = 1_719_792_000_000_000_000


@dataclass(frozen=True, slots=True)
class Case:
    """An event, the table it belongs to, and what the columns of its rows there must say."""

    id: str
    event: Row
    table: str
    rows: tuple[Row, ...]


def case(id_: str, event: Row, table: str, *rows: Row) -> Case:
    return Case(id_, event, table, rows)


def op(**fields: Any) -> Row:
    """A complete event as the profiler writes it, with other fields in place of its own."""
    usual = {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 2, "ts": 5, "dur": 1}
    return usual | fields


def op_args(cat: str = "cpu_op", **args: Any) -> Row:
    return op(cat=cat, args=args)


def kernel(**args: Any) -> Row:
    return op(cat="kernel", name="gemm", pid=0, tid=7, args=args)


def memory(**args: Any) -> Row:
    event = {"ph": "i", "cat": "cpu_instant_event", "name": "[memory]", "pid": 1, "tid": 2, "ts": 5}
    return event | {"s": "t", "args": args}


def counter(**fields: Any) -> Row:
    event = {"ph": "C", "cat": "hardware_counters", "name": "sm__cycles", "pid": "GPU 0 Counters"}
    return event | {"ts": 5} | fields


def flow(phase: str, **fields: Any) -> Row:
    usual = {"ph": phase, "id": 1, "pid": 1, "tid": 2, "ts": 5, "cat": "ac2g", "name": "ac2g"}
    return usual | fields


def without(event: Row, *keys: str) -> Row:
    return {key: value for key, value in event.items() if key not in keys}


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
    case(
        "sixteen digits",
        op(ts=Decimal("7100544000123.457")),
        "host_events",
        {"start_ns": BASE_NS + 7_100_544_000_123_457},
    ),
    case("exponents", op(ts=Decimal("1.2E+5")), "host_events", {"start_ns": BASE_NS + 120_000_000}),
    case("small exponents", op(ts=Decimal("1.5E-7")), "host_events", {"start_ns": BASE_NS}),
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
    case("negative length", op(dur=-3), "host_events", {"duration_ns": -3_000}),
    case("no length", op(dur=0), "host_events", {"duration_ns": 0}),
    case(
        "ts beyond nanoseconds",
        {"ph": "i", "name": "Record Window End", "ts": 2**63 - 1, "s": "g"},
        "other_events",
        {"time_ns": None},
    ),
    case("dur beyond nanoseconds", op(dur=1.8e19), "other_events", {"duration_ns": None}),
    case("ts as text", op(ts="5"), "other_events", {"phase": "X", "time_ns": None}),
    case("dur as text", op(dur="5"), "other_events", {"phase": "X", "duration_ns": None}),
    case("dur null", op(dur=None), "other_events", {"phase": "X", "duration_ns": None}),
    case(
        "X without dur",
        without(op(), "dur"),
        "other_events",
        {"phase": "X", "time_ns": BASE_NS + 5_000, "duration_ns": None},
    ),
]

NUMBERS = [
    case("a number as text", op_args("gpu_memcpy", bytes="256"), "device_events", {"bytes": 256}),
    case(
        "text for a number", op_args("gpu_memset", bytes="many"), "device_events", {"bytes": None}
    ),
    case(
        "a number with a zero", op_args("gpu_memset", bytes=256.0), "device_events", {"bytes": 256}
    ),
    case(
        "a fraction for a count", op_args("gpu_memset", bytes=2.5), "device_events", {"bytes": None}
    ),
    case("true for a count", op_args("gpu_memset", bytes=True), "device_events", {"bytes": None}),
    case("a list for a count", op_args("gpu_memset", bytes=[1]), "device_events", {"bytes": None}),
    case(
        "inf as text", kernel(**{"blocks per SM": "inf"}), "device_events", {"blocks_per_sm": None}
    ),
    case(
        "N/A",
        op_args("gpu_memcpy", **{"memory bandwidth (GB/s)": "N/A"}),
        "device_events",
        {"bandwidth_gbps": None},
    ),
    case(
        "a count for a fraction",
        kernel(**{"warps per SM": 0}),
        "device_events",
        {"warps_per_sm": 0.0},
    ),
    case(
        "a fraction",
        kernel(**{"warps per SM": 0.1, "blocks per SM": 1e-7}),
        "device_events",
        {"warps_per_sm": 0.1, "blocks_per_sm": 1e-7},
    ),
    case(
        "a large count for a fraction",
        kernel(**{"warps per SM": 2**53 + 1}),
        "device_events",
        {"warps_per_sm": float(2**53 + 1)},
    ),
    case("no stream", kernel(stream=-1), "device_events", {"stream_id": None}),
    case("no stream, unsigned", kernel(stream=4294967295), "device_events", {"stream_id": None}),
    case("the default stream", kernel(stream=0), "device_events", {"stream_id": 0}),
    case(
        "no ids",
        op_args("cuda_runtime", **{"External id": 0, "correlation": 0}),
        "host_events",
        {"external_id": None, "correlation_id": None},
    ),
    case(
        "ids that say none",
        op_args(**{"External id": -1, "Sequence number": -1}),
        "host_events",
        {"external_id": None, "sequence_number": None},
    ),
    case(
        "first ids",
        op_args(**{"External id": 1, "Sequence number": 0}),
        "host_events",
        {"external_id": 1, "sequence_number": 0},
    ),
    case(
        "ids beyond doubles",
        op_args(**{"External id": 2**53 + 1, "Ev Idx": 2**63 - 1}),
        "host_events",
        {"external_id": 2**53 + 1, "event_index": 2**63 - 1},
    ),
    case(
        "ids beyond signed integers",
        kernel(**{"graph id": 2**63, "graph node id": 2**64 - 1}),
        "device_events",
        {"graph_id": None, "graph_node_id": None},
    ),
    case(
        "an id beyond 64 bits", kernel(**{"graph id": 2**70}), "device_events", {"graph_id": None}
    ),
    case(
        "a count beyond the column",
        kernel(**{"registers per thread": 2**40}),
        "device_events",
        {"registers_per_thread": None},
    ),
    case(
        "no calling frame",
        op_args("python_function", **{"Python id": 1, "Python parent id": None}),
        "host_events",
        {"python_id": 1, "python_parent_id": None},
    ),
    case("finished", op_args(finished=False), "host_events", {"finished": False}),
    case("finished as a number", op_args(finished=1), "host_events", {"category": "cpu_op"}),
]

LISTS = [
    case(
        "shapes",
        op_args(
            **{"Input Dims": [[2, 3], [], [[4], [5]]], "Input type": ["float", "", "TensorList"]}
        ),
        "host_events",
        {"input_dims": "[[2,3],[],[[4],[5]]]", "input_types": ["float", "", "TensorList"]},
    ),
    case(
        "no inputs",
        op_args(**{"Input Dims": [], "Input type": []}),
        "host_events",
        {"input_types": []},
    ),
    case("types as text", op_args(**{"Input type": "float"}), "host_events", {"input_types": None}),
    case(
        "values that are no text",
        op_args(**{"Concrete Inputs": ["1", None, 2]}),
        "host_events",
        {"args": '{"Concrete Inputs":["1",null,2]}'},
    ),
    case("shapes null", op_args(**{"Input Dims": None}), "host_events", {"input_dims": None}),
    case("grid", kernel(grid=[2, 1, 1]), "device_events", {"grid": [2, 1, 1]}),
    case("grid as text", kernel(grid="grid(2,)"), "device_events", {"grid": None}),
    case("grid of text", kernel(grid=["2", "1"]), "device_events", {"category": "kernel"}),
    case("grid of fractions", kernel(grid=[2.5, 1]), "device_events", {"args": '{"grid":[2.5,1]}'}),
    case(
        "ranks",
        kernel(**{"Process Group Ranks": "[0, 1]", "In split size": "[]"}),
        "device_events",
        {"group_ranks": [0, 1], "in_split_sizes": [], "args": None},
    ),
    case(
        "ranks without spaces",
        kernel(**{"Process Group Ranks": "[0,1]"}),
        "device_events",
        {"group_ranks": [0, 1]},
    ),
    case(
        "ranks as a list",
        kernel(**{"Process Group Ranks": [0, 1]}),
        "device_events",
        {"group_ranks": [0, 1]},
    ),
    case(
        "ranks cut short",
        kernel(**{"Process Group Ranks": "[0, 1, ...]"}),
        "device_events",
        {"group_ranks": None},
    ),
]

PLACES = [
    case("numbers", op(pid=1, tid=2), "host_events", {"pid": "1", "tid": "2", "thread_id": 2}),
    case(
        "negative",
        op(pid=-1, tid=-549452224),
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
        op(pid="Spans", tid=""),
        "host_events",
        {"pid": "Spans", "tid": "", "thread_id": None},
    ),
    case("text with zeros in front", op(tid="007"), "host_events", {"tid": "007"}),
    case("beyond 64 bits", op(pid=2**64 + 1), "host_events", {"pid": str(2**64 + 1)}),
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
        op_args(**{"a.b": 1, "$": 2, 'say "hi"': 3, "": 4, "x": {"y": None, "z": [{}, None]}, "External id": 9}),
        "host_events",
        {"external_id": 9},
    ),
    case(
        "an argument without a value among others",
        op_args(**{"External id": 9, "note": None, "x": {"y": None}, "Ev Idx": "3"}),
        "host_events",
        {"external_id": 9, "event_index": 3},
    ),
    case(
        "arguments of another table",
        op_args(stream=7, grid="grid(100,)"),
        "host_events",
        {"args": '{"stream":7,"grid":"grid(100,)"}'},
    ),
    case("no category", without(op(), "cat"), "host_events", {"category": None, "raw_category": None}),
    case("a category that nobody foresaw", op_args("npu_op"), "host_events", {"category": "npu_op"}),
    case("the same on a stream", op_args("npu_op", stream=3), "device_events", {"category": "npu_op", "stream_id": 3}),
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

MEMORY = [
    case(
        "on the host",
        memory(**{"Device Type": 0, "Device Id": -1, "Addr": 2**53 + 1, "Bytes": -64}),
        "memory_records",
        {"device_type": "cpu", "device_id": None, "address": 2**53 + 1, "bytes": -64},
    ),
    case(
        "on a device",
        memory(**{"Device Type": 6, "Device Id": 1, "Bytes": 512, "Total Allocated": 1, "Total Reserved": 2}),
        "memory_records",
        {"device_type": "hip", "device_id": 1, "total_allocated_bytes": 1, "total_reserved_bytes": 2},
    ),
    case("an address beyond signed integers", memory(Addr=2**64 - 1), "memory_records", {"address": None}),
    case("a device that nobody foresaw", memory(**{"Device Type": 99}), "memory_records", {"device_type": None}),
    case("without a category", without(memory(), "cat"), "memory_records", {"raw_category": None, "time_ns": BASE_NS + 5_000}),
    case("the older phase", memory(Bytes=1) | {"ph": "I"}, "memory_records", {"bytes": 1}),
]  # fmt: skip

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

GROUPS = {
    "times": TIMES,
    "numbers": NUMBERS,
    "lists": LISTS,
    "places": PLACES,
    "fields": FIELDS,
    "memory": MEMORY,
    "counters": COUNTERS,
    "flows": FLOWS,
}
CASES = [
    pytest.param(number, each, id=f"{group}: {each.id}")
    for number, (group, each) in enumerate(
        (group, each) for group, cases in GROUPS.items() for each in cases
    )
]
#: Rows of a 2021 file: its names of the arguments are read by other statements.
OLDER = op(cat="Runtime", args={"external id": 5, "external ts": 6})


@pytest.fixture(scope="module", params=["today's keys", "older keys"])
def odd(request: pytest.FixtureRequest, take_in: TakeIn) -> tuple[Ingested, list[str]]:
    """A trace of all odd events, one after the other, and those events rebuilt."""
    given = [each.values[1].event for each in CASES]
    older = [OLDER] if request.param == "older keys" else []
    trace = take_in([*given, *older], {"baseTimeNanoseconds": BASE_NS})
    return trace, trace.rebuilt()


@pytest.mark.parametrize(("number", "each"), CASES)
def test_columns(odd: tuple[Ingested, list[str]], number: int, each: Case) -> None:
    key = (
        "coalesce(t.source_event_id, t.target_event_id)" if each.table == "flows" else "t.event_id"
    )
    names = list(each.rows[0])
    found = odd[0].rows(
        f"SELECT {', '.join(f't.{name}' for name in names)} FROM {each.table} AS t"
        f" WHERE {key} = ? ORDER BY ALL",
        [number],
    )
    assert [dict(zip(names, row, strict=True)) for row in found] == list(each.rows)


@pytest.mark.parametrize(("number", "each"), CASES)
def test_rebuilt(odd: tuple[Ingested, list[str]], number: int, each: Case) -> None:
    assert odd[1][number] == canonical(written(each.event))


def test_absolute_times_are_exact_to_the_nanosecond(take_in: TakeIn) -> None:
    """A double at this magnitude tells quarters of a microsecond apart, no more."""
    ends = ("789", "790", "001", "999", "25", "5")
    given = [op(ts=Decimal(f"1712199514123456.{end}"), dur=Decimal(f"3.{end}")) for end in ends]
    trace = take_in([*given, op(ts=1712199514123456, dur=3)])
    nanoseconds = [789, 790, 1, 999, 250, 500, 0]
    assert trace.rows(
        "SELECT t.start_ns, t.duration_ns FROM host_events AS t ORDER BY t.event_id"
    ) == [(1712199514123456000 + ns, 3000 + ns) for ns in nanoseconds]
    assert trace.rebuilt()[:-1] == [canonical(written(event)) for event in given]
    assert trace.rows("SELECT t.base_time_ns FROM traces AS t") == [(None,)]


def test_decimals_of_march_2024_count_nanoseconds(take_in: TakeIn) -> None:
    """123.5 is 5 ns there; that the zeros in front were left out shows where one ends with a zero."""
    ends = {"5": 5, "50": 50, "500": 500, "123": 123, "1": 1}
    given = [op(ts=Decimal(f"1710892800000007.{end}"), dur=Decimal(f"2.{end}")) for end in ends]
    trace = take_in([*given, op(ts=1710892800000007)])
    assert trace.rows(
        "SELECT t.start_ns, t.duration_ns FROM host_events AS t ORDER BY t.event_id"
    ) == [
        *((1710892800000007000 + ns, 2000 + ns) for ns in ends.values()),
        (1710892800000007000, 1000),
    ]
    assert trace.rows("SELECT t.generation FROM traces AS t") == [("2024-03",)]
    assert trace.rebuilt()[:-1] == [canonical(written(event)) for event in given]


@pytest.mark.parametrize(
    ("args", "columns"),
    [
        ({"external id": 5}, (5, None, None)),
        ({"Input dims": [[2]], "Profiler Event Index": 3}, (None, "[[2]]", 3)),
        ({"External id": 6, "external id": 5}, (6, None, None)),
        ({"External id": 0, "external id": 5}, (5, None, None)),
        ({"External id": 6, "external id": 0}, (6, None, None)),
        ({"external id": "5", "note": "external"}, (5, None, None)),
        ({"external id": None, "External id": None}, (None, None, None)),
        ({"external id": 2**63}, (None, None, None)),
        ({"Ev Idx": "3", "Profiler Event Index": 4, "Input dims": None}, (None, None, 3)),
    ],
    ids=str,
)
def test_older_keys(take_in: TakeIn, args: Row, columns: tuple[Any, ...]) -> None:
    event = op_args(**args)
    trace = take_in([event])
    assert trace.rows(
        "SELECT t.external_id, t.input_dims, t.event_index FROM host_events AS t"
    ) == [columns]
    assert trace.rebuilt() == [canonical(written(event))]


def test_a_flow_with_steps_on_its_way_comes_back(take_in: TakeIn) -> None:
    given = [
        flow("t", ts=7, name="way"),
        flow("s", ts=5),
        flow("f", ts=9, bp="e", tid="25772"),
        flow("t", ts=8),
        flow("f", ts=10, args={"a": None}),
    ]
    assert take_in(given).rebuilt() == [canonical(written(event)) for event in given]


def test_flow_rows_that_stand_twice_come_back_twice(take_in: TakeIn) -> None:
    given = [flow("s"), flow("s"), flow("f", bp="e"), flow("f", bp="e"), flow("f"), flow("s", ts=6)]
    trace = take_in(given)
    assert trace.rebuilt() == [canonical(written(event)) for event in given]


@pytest.mark.parametrize(
    "metadata",
    [
        {"tw_job": "x", "nested": {"a": [None, 2**53 + 1, 0.1]}, "empty": {}, "none": None},
        {"schemaVersion": "one", "Framework": ["a"], "baseTimeNanoseconds": None},
        {"deviceProperties": {"id": 0}},
        {"deviceProperties": [5, None]},
        {"distributedInfo": "none", "host_name": 5},
    ],
    ids=lambda metadata: ", ".join(metadata),
)
def test_keys_of_the_file_that_no_column_holds(take_in: TakeIn, metadata: Row) -> None:
    [(kept,)] = take_in([op()], metadata).rows("SELECT t.metadata FROM traces AS t")
    assert canonical(kept) == canonical(written(metadata))
