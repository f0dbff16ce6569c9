"""What is read straight into columns is what the full parse gives, and nothing else is."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.ingest.parse.plain_events import (
    DEVICE,
    FLOW,
    HOST,
    INSTANT,
    MEMORY,
    METADATA,
    PLAIN,
    SPAN,
    block,
    events,
    layout,
    left,
    tables,
    taken,
)
from tracewh.ingest.parse import fast_parser

pytestmark = pytest.mark.skipif(
    not fast_parser.is_available(), reason="ingest/native was not compiled"
)


@pytest.mark.parametrize("indent", [None, 1])
@pytest.mark.parametrize("kind", PLAIN)
def test_plain_events_are_taken(kind: str, indent: int | None) -> None:
    assert taken(json.dumps(PLAIN[kind], indent=indent), kind)


#: As roctracer writes the call that launches a kernel.
HIP_LAUNCH: dict[str, Any] = HOST | {
    "cat": "cuda_runtime",
    "name": "hipLaunchKernel",
    "args": {
        "stream": "0x0",
        "kernel": "void f<128>(int)",
        "cid": 211,
        "correlation": 6,
        "grid": [65536, 1, 1],
        "block": [256, 1, 1],
        "nested": [[-1, 2], []],
        "shared memory": 0,
    },
}

#: As torch's exporter in Python writes an allocation.
LASTING: dict[str, Any] = {
    "ph": "X",
    "cat": "cpu_instant_event",
    "name": "[memory]",
    "pid": 1,
    "tid": 2,
    "ts": 1,
    "dur": 94,
    "args": MEMORY["args"],
}


@pytest.mark.parametrize(
    ("kind", "event"),
    [
        ("host", HIP_LAUNCH),
        ("flow", FLOW | {"tid": "stream 7"}),  # as in 2021
        ("flow", FLOW | {"pid": "all"}),
        ("memory", MEMORY | {"tid": "main"}),
        ("memory", LASTING),
        ("memory", LASTING | {"ts": 7100544000123.457, "dur": 12.5, "tid": "main"}),
        ("other", LASTING | {"name": "[other]", "args": {"Op count": 0}}),
    ],
)
@pytest.mark.parametrize("indent", [None, 1])
def test_what_one_profiler_writes_is_taken(
    kind: str, event: dict[str, Any], indent: int | None
) -> None:
    text = json.dumps(event, indent=indent)
    assert taken(text, kind)
    assert left([text], full=False) == left([text], full=True)
    assert tables([text], full=False) == tables([text], full=True)


@pytest.mark.parametrize(
    "event",
    [
        LASTING | {"name": "[other]"},
        LASTING | {"cat": "cpu_op"},
        LASTING | {"uid": 1},
        LASTING | {"s": "t"},
        LASTING | {"dur": -1},
        LASTING | {"tid": "2"},
        {"dur": 94, **LASTING},
        {name: value for name, value in LASTING.items() if name != "dur"},
    ],
)
def test_an_odd_allocation_is_as_the_full_parse_reads_it(event: dict[str, Any]) -> None:
    text = json.dumps(event)
    assert "memory" not in block([text]).plain
    assert left([text], full=False) == left([text], full=True)
    assert tables([text], full=False) == tables([text], full=True)


def test_a_stream_decides_for_an_unknown_category() -> None:
    texts = [
        json.dumps(HOST | {"cat": "unheard of", "args": args})
        for args in ({"stream": 7}, {"Stream": 7})
    ]
    assert [block([text]).plain.keys() for text in texts] == [set(), {"host"}]
    found = tables(texts, full=False)
    assert (len(found["device"]), len(found["host"])) == (1, 1)
    assert found == tables(texts, full=True)


@pytest.mark.parametrize(
    "event", [*PLAIN.values(), INSTANT, INSTANT | {"s": "t"}, SPAN], ids=lambda e: e["name"]
)
def test_the_number_of_inductor_is_taken(event: dict[str, Any]) -> None:
    """torch._inductor.profiler puts it behind all other fields of each event."""
    text = json.dumps(event | {"uid": 12}, indent=1)
    assert block([text]).plain
    assert left([text], full=False) == left([text], full=True)
    assert tables([text], full=False) == tables([text], full=True)


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        pytest.param(kind, json.dumps(PLAIN[kind]).replace(old, new, 1), id=f"{kind} {new}")
        for kind, old, new in [
            ("host", '"External id": 7', '"External id": "7"'),
            ("host", '"External id": 7', '"External id": 7.0'),
            ("host", '"External id": 7', '"External id": -0'),
            ("host", '"External id": 7', '"external id": null'),
            ("host", '"External id": 7', '"External id": nil'),
            ("host", '"External id": 7', '"External id": true'),
            ("host", '"External id": 7', '"External id": 7, "External id": 8'),
            ("host", '"External id": 7', '"External id": 9223372036854775808'),
            ("host", '"External id": 7', '"\\u0045xternal id": "7"'),
            ("host", '"External id"', '"external ID"'),
            ("host", '"External id":', '"unheard of" : {}, "External id":'),
            ("host", '"External id":', '"unheard of" : null, "External id":'),
            ("host", '"External id":', '"unheard of" : "\\n", "External id":'),
            ("host", '"External id":', '"unheard of" : 1e5, "External id":'),
            ("host", '"External id":', '"new" : 1, "New": 1, "External id":'),
            ("host", '"External id":', '"external id" : 1, "External id":'),
            ("host", '"External id": 7', '"External id": 0, "External id": 8'),
            ("host", '"External id":', '"stream" : 1, "stream": 1, "External id":'),
            ("host", '"External id":', '"block": [1.5], "External id":'),
            ("host", '"External id":', '"block": ["a b"], "External id":'),
            ("host", '"External id":', '"block": [null], "External id":'),
            ("host", '"name": "aten::mm"', '"name": 5'),
            ("host", '"finished": true', '"finished": 1'),
            ("host", '["float", ""]', '["float", 1]'),
            ("host", '["float", ""]', '["float", null]'),
            ("host", "[[2, 3], [], [[4]]]", "[[2, NaN], [], [[4]]]"),
            ("host", "[[2, 3], [], [[4]]]", '"[]"'),
            ("host", '"dur": 3.25', '"dur": 3.2501'),
            ("host", '"dur": 3.25', '"dur": NaN'),
            ("host", '"dur": 3.25', '"dur": -3.25'),
            ("host", '"dur": 3.25', '"dur": "3.25"'),
            ("host", '"ts": 1200.5', '"ts": 1200.5001'),
            ("host", '"ts": 1200.5', '"ts": 1.2e3'),
            ("host", '"pid": 1', '"pid": "1"'),
            ("host", '"pid": 1', '"pid": 18446744073709551617'),
            ("host", '"tid": 2', '"tid": "1234567890123456789"'),
            ("host", '"tid": 2', '"tid": "\\u0032"'),
            ("memory", '"tid": 2', '"tid": "2"'),
            ("flow", '"tid": 7', '"tid": "7"'),
            ("flow", '"pid": 0', '"pid": "7"'),
            ("host", '"args": {', '"id": 4, "args": {'),
            ("host", '"cat": "cpu_op"', '"cat": "kernel"'),
            ("device", '"blocks per SM": 0.25', '"blocks per SM": "inf"'),
            ("device", "[1, 2, 3]", "[1, 2.5, 3]"),
            ("device", "[1, 2, 3]", "[1, 2, 4294967296]"),
            ("device", '"[0, 1]"', '"[0,1]"'),
            ("device", '"[0, 1]"', '"[0,91]"'),
            ("device", '"[0, 1]"', '"[0, 1.5]"'),
            ("device", '"[0, 1]"', '"[0, 4294967296]"'),
            ("device", '"device": 0', '"device": 4294967296'),
            ("device", '"blocks per SM": 0.25', '"blocks per SM": 9e15'),
            ("device", '"cat": "kernel"', '"cat": "gpu_user_annotation"'),
            ("memory", '"s": "t"', '"s": "g"'),
            ("memory", '"[memory]"', '"[other]"'),
            ("memory", '"Bytes": -512', '"Bytes": "-512"'),
            ("flow", '"bp": "e"', '"bp": "x"'),
            ("flow", '"bp": "e"', '"uid": 1, "bp": "e"'),
            ("memory", '"s": "t"', '"uid": 1, "s": "t"'),
            ("host", '"args": {', '"uid": 1, "uid": 2, "args": {'),
            ("host", '"args": {', '"Uid": 1, "args": {'),
            ("host", '"args": {', '"uid": 1.5, "args": {'),
            ("host", '"args": {', '"uid": "1", "args": {'),
            ("host", '"args": {', '"uid": -0, "args": {'),
            ("host", '"tid": 2', '"tid": "2", "uid": 1'),
            ("other", '"tid": 2', '"tid": 2, "s": "p", "uid": 1'),
            ("flow", '"id": 9', '"id": "9"'),
            ("flow", '"bp": "e"', '"args": {}'),
            ("other", '"args": {', '"id": 4, "args": {'),
            ("other", '"args": {', '"args": [], "args": {'),
            ("other", '"main"', '["main"]'),
            ("other", '"main"', '"\\n"'),
            ("other", '"pid": 1', '"pid": "1"'),
            ("other", '"tid": 2', '"tid": "2", "s": "g"'),
            ("other", '"name": "thread_name", ', ""),
            ("other", '"ph": "M"', '"ph": "B"'),
        ]
    ],
)  # fmt: skip
def test_all_else_is_left_to_the_full_parse(kind: str, text: str) -> None:
    assert not taken(text, kind)


# Lists are as long as 60 of them would be together if they could be shorter: an event costs next to nothing.
@settings(max_examples=20, deadline=None)
@given(st.lists(events(), min_size=10, max_size=40))
def test_both_parses_agree(texts: list[str]) -> None:
    assert tables(texts, full=False) == tables(texts, full=True)


@settings(max_examples=300, deadline=None)
@given(
    st.integers(-(10**15), 10**15),
    st.sampled_from(["", ".0", ".5", ".05", ".125", ".999"]),
    st.sampled_from(['"ts":{}', '"ts" :\t{} ', '"ts":{},"ts":{}', '"ts":"{}"', '"Ts":{}']),
)
def test_times_are_exact_or_left(whole: int, decimals: str, layout: str) -> None:
    number = f"{whole}{decimals}"
    found = taken(json.dumps(HOST).replace('"ts": 1200.5', layout.replace("{}", number)), "host")
    if layout in ('"ts":{}', '"ts" :\t{} '):
        assert found is not None
        assert found["ts_ns"] == Decimal(number) * 1000
    else:
        assert found is None


@pytest.mark.parametrize("number", ["1e3", "1.2345", "9" * 16, "4e15", "3999999999999999.999"])
def test_odd_times_are_left(number: str) -> None:
    assert not taken(json.dumps(HOST).replace("1200.5", number), "host")


@settings(max_examples=300, deadline=None)
@given(st.text(), st.booleans(), st.lists(st.text(), max_size=3))
def test_texts_are_read_as_json_says(name: str, in_ascii: bool, types: list[str]) -> None:
    event = HOST | {"name": name, "args": {"Input type": types, "Call stack": name}}
    found = taken(json.dumps(event, ensure_ascii=in_ascii), "host")
    if "\0" in name + "".join(types):
        assert found is None
    else:
        assert found is not None
        assert (found["name"], found["call_stack"]) == (name, name or None)
        assert found["input_types"] == types


@settings(max_examples=300, deadline=None)
@given(st.floats(-9e15, 9e15, exclude_min=True, exclude_max=True) | st.integers(-(2**52), 2**52))
def test_decimals_are_read_as_json_says(value: float) -> None:
    text = json.dumps(DEVICE).replace("0.25", json.dumps(value))
    found = taken(text, "device")
    assert found is not None
    assert found["blocks_per_sm"] == value


def test_values_that_mean_none_stay_in_args_in_their_order() -> None:
    args = {"stream": -1, "External id": 0, "device": 3, "correlation": 0, "queued": 0}
    found = taken(json.dumps(DEVICE | {"args": args}), "device")
    assert found is not None
    assert found["args"] == '{"stream":-1,"External id":0,"correlation":0}'
    assert (found["stream_id"], found["device_id"], found["queued_ns"]) == (None, 3, 0)


def test_empty_texts_stay_in_args() -> None:
    """Nothing was recorded under them. In lists they are what the profiler says of a tensor."""
    args = {"Call stack": "", "Input type": ["", "float"], "Module Hierarchy": "", "new": ""}
    text = json.dumps(HOST | {"args": args})
    found = taken(text, "host")
    assert found is not None
    assert json.loads(found["args"]) == {"Call stack": "", "Module Hierarchy": "", "new": ""}
    assert (found["call_stack"], found["module_hierarchy"]) == (None, None)
    assert found["input_types"] == ["", "float"]
    assert tables([text], full=False) == tables([text], full=True)


def test_nulls_stay_in_args() -> None:
    """Python frames that no other calls have one. In lists they leave those before them alone."""
    none = {"Python parent id": None, "new": 1, "Input type": None, "Input Dims": None}
    text = json.dumps(HOST | {"args": none | {"Python id": 3}})
    found = block([json.dumps(HOST), text]).plain["host"].to_pylist()
    assert json.loads(found[1]["args"]) == none
    assert (found[0]["input_types"], found[1]["input_types"]) == (["float", ""], None)
    assert (found[1]["python_parent_id"], found[1]["python_id"]) == (None, 3)
    assert tables([text], full=False) == tables([text], full=True)
    spoilt = text.replace("3}", '3, "Python id": 4}')
    found = block([json.dumps(HOST), spoilt, json.dumps(HOST)]).plain["host"].to_pylist()
    assert [row["input_types"] for row in found] == [["float", ""]] * 2


NUMBERS = [
    *("1.50", "1e3", "-0", "1E+2", "123456789012345678901234567890", "-0.0", "1.0", "0.000001"),
    *("1234567890.25", "0.1000000000000000055511151231257827", "1e999", '[1.50, {"b": -0}]'),
]


@pytest.mark.parametrize("full", [True, False])
def test_numbers_stay_as_they_are_written(full: bool) -> None:
    numbers = NUMBERS * 5
    written = [number.replace(" ", "") for number in numbers]
    events = [
        json.dumps(event) for event in (HOST, DEVICE, MEMORY, METADATA, INSTANT) for _ in NUMBERS
    ]
    inside = [
        event.replace('"args": {', f'"args": {{"new": {number}, ')
        for event, number in zip(events, numbers, strict=True)
    ]
    for number, (args, _) in zip(written, left(inside, full=full), strict=True):
        assert args is not None
        assert args.startswith(f'{{"new":{number}')
    beside = [
        f'{event[:-1]}, "odd": {number}}}' for event, number in zip(events, numbers, strict=True)
    ]
    for number, (_, raw) in zip(written, left(beside, full=full), strict=True):
        assert raw is not None
        assert f'"odd":{number}' in raw


@pytest.mark.parametrize(
    "text", ["#1.50", "##", ": 1.50,", '\\"#2.50', "\\u0023x", "#", "\\u0022#1"]
)
def test_texts_that_look_like_such_numbers_stay_texts(text: str) -> None:
    event = json.dumps(HOST).replace('"args": {', f'"args": {{"{text}": 1.50, "b": "{text}", ')
    for full in (True, False):
        [(args, _)] = left([event], full=full)
        assert args is not None
        assert json.loads(args, parse_float=str) == json.loads(
            f'{{"{text}": "1.50", "b": "{text}"}}'
        )


NUMBER = r"\A-?(0|[1-9][0-9]{0,20})(\.[0-9]{1,20})?([eE][+-]?[0-9]{1,2})?\Z"


@settings(max_examples=8, deadline=None)
@given(st.lists(st.from_regex(NUMBER), min_size=5, max_size=20))
def test_both_parses_leave_any_number_as_it_is_written(numbers: list[str]) -> None:
    texts = [
        json.dumps(HOST).replace('"args": {', f'"args": {{"new": {number}, ') for number in numbers
    ]
    expected = [(f'{{"new":{number}}}', None) for number in numbers]
    assert left(texts, full=False) == expected
    assert left(texts, full=True) == expected


def test_arguments_without_a_column_stay_in_args() -> None:
    args = {"New": "a [{", "External id": 0, "old": -2.50, "Sequence number": 3, "is": True, "é": 1}
    found = taken(json.dumps(HOST | {"args": args}, ensure_ascii=False), "host")
    assert found is not None
    assert found["args"] == '{"New":"a [{","External id":0,"old":-2.5,"is":true,"é":1}'
    assert (found["external_id"], found["sequence_number"]) == (None, 3)


@pytest.mark.parametrize(("value", "held"), [(8, 8), (0, None)])
def test_older_keys_fill_the_columns_of_todays(value: int, held: int | None) -> None:
    """A null says under which key the value stood."""
    args = {"new": 1, "external id": value, "Input dims": [[1, 2]]}
    found = taken(json.dumps(HOST | {"args": args}), "host")
    assert found is not None
    left = {"new": 1} if held else {"new": 1, "external id": 0}
    marks = {"external id": None, "Input dims": None} if held else {"Input dims": None}
    assert json.loads(found["args"]) == marks | left
    assert found["args"].startswith(json.dumps(marks, separators=(",", ":"))[:-1])
    assert (found["external_id"], found["input_dims"]) == (held, "[[1,2]]")


@pytest.mark.parametrize(
    ("tid", "raw"),
    [("2", '{"tid":"2"}'), ("-2", '{"tid":"-2"}'), ("02", None), ("-", None), ("", None)],
)
def test_threads_that_are_written_as_text(tid: str, raw: str | None) -> None:
    found = taken(json.dumps(HOST | {"tid": tid}), "host")
    assert found is not None
    assert (found["tid"], found["raw"]) == (tid, raw)
    text = json.dumps(HOST | {"tid": tid, "pid": "all"})
    assert tables([text], full=False) == tables([text], full=True)


@pytest.mark.parametrize("indent", [None, 1])
@pytest.mark.parametrize("event", [METADATA, INSTANT, SPAN, METADATA | {"tid": "2"}])
def test_metadata_instants_and_spans(event: dict[str, Any], indent: int | None) -> None:
    text = json.dumps(event, indent=indent)
    found = taken(text, "other")
    assert found is not None
    assert json.loads(found["args"]) == event["args"]
    rest = {"s": "g"} if event is INSTANT else {"tid": "2"} if event["tid"] == "2" else None
    assert found["raw"] == (rest and json.dumps(rest, separators=(",", ":")))
    assert tables([text], full=False) == tables([text], full=True)


@pytest.mark.parametrize("field", ["ts", "dur"])
def test_a_span_without_a_time_is_left_to_the_full_parse(field: str) -> None:
    """Which counts it, whatever other events the file has."""
    text = json.dumps({name: value for name, value in SPAN.items() if name != field})
    assert not taken(text, "other")
    assert tables([text], full=False) == tables([text], full=True)


@pytest.mark.parametrize("change", [{"s": "\n"}, {"s": 1}, {"args": {"Bytes": 1}}, {"tid": "7"}])
def test_odd_instants_are_left_to_the_full_parse(change: dict[str, Any]) -> None:
    text = json.dumps(INSTANT | change)
    assert not taken(text, "other")
    assert tables([text], full=False) == tables([text], full=True)


def test_columns_stand_where_the_reader_puts_them() -> None:
    """A column of each kind has the name and the value of its key."""
    for kind, event in PLAIN.items():
        found = taken(json.dumps(event), kind)
        assert found is not None
        arguments = event.get("args", {})
        assert isinstance(arguments, dict)
        for column in layout().kinds[kind]:
            value = arguments.get(column.keys[0])
            if column.as_text or column.type == "JSON":
                value = json.dumps(value, separators=(",", ":")) if value else None
                value = [0, 1] if value == '"[0, 1]"' else value
            elif column.name == "device_id" and value == -1:
                value = None
            assert found[column.name] == value, column.name


def test_hundreds_of_categories() -> None:
    """The reader knows so many; those that come later are left to the full parse."""
    texts = [json.dumps(HOST | {"cat": f"new_{number}_runtime"}) for number in range(300)]
    found = block(texts * 2)
    assert found.plain["host"].num_rows == 2 * 256
    assert found.ids.to_pylist() == [*range(256, 300), *range(556, 601)]


@pytest.mark.parametrize(
    "category", ["", "é_runtime", 'say \\"hi\\"', "x" * 100_000, "\\u0063pu_op", "\\u006bernel"]
)
def test_odd_categories(category: str) -> None:
    texts = [json.dumps(HOST).replace("cpu_op", category)] * 2
    assert tables(texts, full=False) == tables(texts, full=True)


@pytest.mark.parametrize(
    ("column", "event"),
    [
        ("external_id", HOST),
        ("correlation_id", DEVICE),
        ("sequence_number", HOST),
        ("stream_id", DEVICE),
        ("device_id", DEVICE),
        ("bytes", DEVICE),
        ("bytes", MEMORY),
        ("total_allocated_bytes", MEMORY),
        ("total_reserved_bytes", MEMORY),
    ],
)
def test_both_parses_have_the_same_bounds_of_arguments(column: str, event: dict[str, Any]) -> None:
    """What is beyond stays in args."""
    kind = "memory" if event is MEMORY else "host" if event is HOST else "device"
    [key] = [c.keys[0] for c in layout().kinds[kind] if c.name == column]
    least, most = layout().argument_bounds[column]
    values = [bound + change for bound in (least, most) for change in (-1, 0, 1)]
    texts = [json.dumps(event | {"args": {key: value}}) for value in values]
    rows = tables(texts, full=False)
    assert rows == tables(texts, full=True)
    assert [(row[column], row["args"]) for row in rows[kind]] == [
        (value, None) if least <= value <= most else (None, {key: value}) for value in values
    ]


def test_every_bound_of_an_argument_is_tested() -> None:
    assert {*layout().argument_bounds} == {
        "external_id",
        "correlation_id",
        "sequence_number",
        "stream_id",
        "device_id",
        "bytes",
        "total_allocated_bytes",
        "total_reserved_bytes",
    }


@pytest.mark.parametrize("field", ["ts", "dur"])
def test_both_parses_have_the_same_bounds_of_times(field: str) -> None:
    """The compiled reader leaves what is near a bound to the full parse."""
    time_ns, duration_ns, _ = layout().compiled_bounds
    bound = (time_ns if field == "ts" else duration_ns) // 1000
    for value in (bound - 1, bound, bound + 1, bound + 1000):
        text = json.dumps(HOST | {field: value})
        assert (taken(text, "host") is None) == (value > bound)
        assert tables([text], full=False) == tables([text], full=True)
