"""Arguments with odd values, each twice: what the column says, and that the event comes back."""

from __future__ import annotations

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
    op,
    without,
    written,
)


def op_args(cat: str = "cpu_op", /, **args: Any) -> Row:
    return op(cat=cat, args=args)


def kernel(**args: Any) -> Row:
    return op(cat="kernel", name="gemm", pid=0, tid=7, args=args)


def memory(**args: Any) -> Row:
    event = {"ph": "i", "cat": "cpu_instant_event", "name": "[memory]", "pid": 1, "tid": 2, "ts": 5}
    return event | {"s": "t", "args": args}


NUMBERS = [
    case(
        "a device of its own",
        op_args("gpu_user_annotation", device=3) | {"pid": 1},
        "device_events",
        {"device_id": 3},
    ),
    case(
        "its process as device", op_args("gpu_user_annotation"), "device_events", {"device_id": 1}
    ),
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

#: As a profiler without with_stack wrote them: the event says nothing, and comes back as it was.
EMPTY = [
    case(
        "no stack and no modules",
        op_args(**{"Call stack": "", "Module Hierarchy": "", "External id": 3}),
        "host_events",
        {
            "call_stack": None,
            "module_hierarchy": None,
            "external_id": 3,
            "args": '{"Call stack":"","Module Hierarchy":""}',
        },
    ),
    case(
        "no stack, left to the full parse",
        op_args(**{"Call stack": "", "External id": "3"}),
        "host_events",
        {"call_stack": None, "external_id": 3},
    ),
    case(
        "no collective",
        kernel(**{"Collective name": "", "dtype": "", "Process Group Name": ""}),
        "device_events",
        {"collective": None, "collective_dtype": None, "group_name": None, "kind": "compute"},
    ),
    case("no group", kernel(**{"Process Group Description": ""}), "device_events", {"group_description": None}),
    case("no ranks", kernel(**{"Process Group Ranks": ""}), "device_events", {"group_ranks": None}),
    case("no shapes", op_args(**{"Input Dims": "", "Input Strides": "", "Input type": ""}), "host_events", {"input_dims": None, "input_strides": None, "input_types": None}),
    case("no thread", op_args(**{"Fwd thread id": "", "Python module id": ""}), "host_events", {"forward_thread_id": None, "python_module_id": None}),
    case("no name", op(name=""), "host_events", {"name": ""}),
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

CASES = cases(numbers=NUMBERS, lists=LISTS, empty=EMPTY, memory=MEMORY)


@pytest.mark.parametrize(("number", "each"), CASES)
def test_columns(odd: Odd, number: int, each: Case) -> None:
    assert odd.columns(number, each) == list(each.rows)


@pytest.mark.parametrize(("number", "each"), CASES)
def test_rebuilt(odd: Odd, number: int, each: Case) -> None:
    assert odd.rebuilt[number] == canonical(written(each.event))


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
        ({"Input dims": "[None]"}, (None, '"[None]"', None)),
        ({"Input dims": ""}, (None, None, None)),
        ({"Input dims": 'a "b"'}, (None, '"a \\"b\\""', None)),
        ({"Ev Idx": "3", "Profiler Event Index": 4, "Input dims": None}, (None, None, 3)),
    ],
    ids=str,
)
def test_older_keys(ingest_events: IngestEvents, args: Row, columns: tuple[Any, ...]) -> None:
    event = op_args(**args)
    trace = ingest_events([event])
    assert trace.rows(
        "SELECT t.external_id, t.input_dims, t.event_index FROM host_events AS t"
    ) == [columns]
    assert trace.rebuilt() == [canonical(written(event))]
