"""What is read straight into columns is what the full parse gives, and nothing else is."""

from __future__ import annotations

import json
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.ingest.conftest import rows
from tracewh.ingest import inflate, plain
from tracewh.ingest import reader as trace_reader
from tracewh.ingest.api import ingest
from tracewh.ingest.flatten import Flattener, prepare
from tracewh.ingest.plain import KINDS, Parser
from tracewh.ingest.split import Block, Splitter
from tracewh.ingest.tables import tables as written_tables

SAMPLES = Path(plain.__file__).parents[1] / "samples"

pytestmark = pytest.mark.skipif(not plain.is_available(), reason="ingest/native was not compiled")

HOST = {
    "ph": "X",
    "cat": "cpu_op",
    "name": "aten::mm",
    "pid": 1,
    "tid": 2,
    "ts": 1200.5,
    "dur": 3.25,
    "args": {
        "External id": 7,
        "Sequence number": 5,
        "Input Dims": [[2, 3], [], [[4]]],
        "Input type": ["float", ""],
        "Call stack": "a; b",
        "finished": True,
    },
}
DEVICE = {
    "ph": "X",
    "cat": "kernel",
    "name": "void f<128>(int)",
    "pid": 0,
    "tid": 7,
    "ts": 1204,
    "dur": 1,
    "args": {
        "device": 0,
        "stream": 7,
        "correlation": 9,
        "grid": [1, 2, 3],
        "blocks per SM": 0.25,
        "Process Group Ranks": "[0, 1]",
    },
}
MEMORY = {
    "ph": "i",
    "cat": "cpu_instant_event",
    "s": "t",
    "name": "[memory]",
    "pid": 1,
    "tid": 2,
    "ts": 1.001,
    "args": {"Device Type": 0, "Device Id": -1, "Addr": 2**62, "Bytes": -512},
}
FLOW = {
    "ph": "f",
    "cat": "ac2g",
    "name": "ac2g",
    "id": 9,
    "pid": 0,
    "tid": 7,
    "ts": 1204,
    "bp": "e",
}
METADATA = {
    "ph": "M",
    "name": "thread_name",
    "pid": 1,
    "tid": 2,
    "ts": 0,
    "args": {"name": "main", "sort_index": 5},
}
INSTANT = {
    "ph": "i",
    "s": "g",
    "name": "Record Window End",
    "pid": "",
    "tid": "",
    "ts": 5.5,
    "args": {"Op count": 0},
}
SPAN = {
    "ph": "X",
    "cat": "Trace",
    "name": "PyTorch Profiler (0)",
    "pid": "Spans",
    "tid": "PyTorch Profiler",
    "ts": 1,
    "dur": 2,
    "args": {"Op count": 0},
}
PLAIN = {"host": HOST, "device": DEVICE, "memory": MEMORY, "flow": FLOW, "other": METADATA}
TABLES = (*KINDS, "counter")


#: Events are plain where another one follows.
LAST = '{"ph": "B", "name": "what nobody foresaw"}'


@cache
def database() -> tuple[duckdb.DuckDBPyConnection, Flattener]:
    """One for all tests: planning its statements takes longer than running them."""
    con = duckdb.connect()
    con.execute("SET threads = 1; SET disabled_optimizers = 'filter_pushdown'")
    prepare(con)
    return con, Flattener(con, 1)


def block(texts: list[str], splitter: Parser | Splitter | None = None) -> Block:
    splitter = splitter or Parser(database()[0])
    buffer = bytearray(",".join([*texts, LAST]).encode() + b"]")
    cut = splitter.split(buffer, True)
    assert (cut.block.events, cut.ended) == (len(texts) + 1, True)
    return cut.block


def tables(texts: list[str], *, full: bool) -> dict[str, list[dict[str, Any]]]:
    """The rows of every raw table, with args and raw as values."""
    con, flattener = database()
    flattener.add(block(texts, Splitter() if full else None))
    flattener.finish()
    found = {}
    for name in TABLES:
        rows = con.execute(f"FROM raw_{name} ORDER BY event_id")
        names = [column[0] for column in rows.description]
        found[name] = [
            {
                key: json.loads(value) if key in ("args", "raw") and value else value
                for key, value in zip(names, row, strict=True)
            }
            for row in rows.fetchall()
        ]
        con.execute(f"TRUNCATE raw_{name}")
    return found


def taken(text: str, kind: str) -> dict[str, Any] | None:
    """The columns of an event, if it is plain."""
    found = block([text]).plain
    assert found.keys() <= {kind}
    return found[kind].to_pylist()[0] if found else None


@pytest.mark.parametrize("indent", [None, 1])
@pytest.mark.parametrize("kind", KINDS)
def test_plain_events_are_taken(kind: str, indent: int | None) -> None:
    assert taken(json.dumps(PLAIN[kind], indent=indent), kind)


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
            ("host", '"External id":', '"stream" : 1, "External id":'),
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
            ("flow", '"pid": 0', '"pid": "all"'),
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


SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**70), 2**70),
    st.integers(-2, 10),
    st.floats(allow_nan=False, allow_infinity=False),
    st.sampled_from(
        ["", "7", "7.5", "[1, 2]", "[1,2]", 'a "quoted": b', "x\\u0041:", "é:1", "e", "t"]
    ),
)
VALUES = st.one_of(
    SCALARS, st.lists(SCALARS, max_size=3), st.dictionaries(st.sampled_from("ab:"), SCALARS)
)


@st.composite
def events(draw: st.DrawFn) -> str:
    """An event that is nearly plain: a value or two differ, a key is new or gone."""
    event = json.loads(json.dumps(draw(st.sampled_from([*PLAIN.values(), INSTANT, SPAN]))))
    for _ in range(draw(st.integers(0, 2))):
        target = event.get("args", event) if draw(st.booleans()) else event
        target = target if isinstance(target, dict) and target else event
        new = [
            "unheard of",
            "Unheard of",
            "device",
            "External id",
            "external id",
            "Input dims",
            "id",
        ]
        key = draw(st.sampled_from([*target, *new]))
        if draw(st.booleans()):
            target[key] = draw(VALUES)
        else:
            target.pop(key, None)
    separators = draw(st.sampled_from([(",", ":"), (", ", ": "), (" ,\n ", " :\t")]))
    return json.dumps(event, separators=separators, ensure_ascii=draw(st.booleans()))


@settings(max_examples=60, deadline=None)
@given(st.lists(events(), min_size=1, max_size=30))
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
        assert (found["name"], found["call_stack"]) == (name, name)
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
        for column in written_tables()[table].arguments if (table := KINDS[kind]) else ():
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


def test_more_events_after_what_was_read_ahead(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two profilers wrote into one file; the second list is sought in what was read beside the first."""
    monkeypatch.setattr(inflate, "READ_BYTES", 50)
    monkeypatch.setattr(trace_reader, "FIRST_BYTES", 1)
    monkeypatch.setattr(trace_reader, "BLOCK_BYTES", 200)
    between = {f"key {number}": number for number in range(1000)}
    first = json.dumps({"traceEvents": [HOST, DEVICE]})
    second = json.dumps(between | {"traceEvents": [MEMORY, FLOW]})
    file = tmp_path / "twice.json"
    file.write_text(f"{first[:-1]}, {second[1:]}")
    opened = trace_reader.TraceReader(file, parser=Parser(database()[0]))
    assert sum(found.events for found in opened.blocks()) == opened.events == 4
    assert opened.metadata == between


def test_without_a_compiler_the_tables_are_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ingest([SAMPLES], tmp_path / "compiled")
    monkeypatch.setattr(plain, "_events", None)
    ingest([SAMPLES], tmp_path / "not")
    for table in written_tables():
        found = rows(tmp_path / "compiled", table)
        assert rows(tmp_path / "not", table) == found


def test_the_event_before_the_bracket_is_plain() -> None:
    cut = Parser(database()[0]).split(bytearray(json.dumps([LAST, HOST]).encode()[1:]), True)
    assert not cut.block.plain  # a text is no event, and what stands behind it is read the slow way
    cut = Parser(database()[0]).split(bytearray(json.dumps([{}, HOST]).encode()[1:]), True)
    assert (cut.ended, cut.block.plain["host"].num_rows) == (True, 1)


def test_nothing_of_a_block_is_left_for_the_next() -> None:
    parser = Parser(database()[0])
    bare = {key: value for key, value in HOST.items() if key != "args"}
    block([json.dumps(HOST | {"args": HOST["args"] | {"Call stack": "x" * 1000}})] * 8, parser)
    found = block([json.dumps(HOST), json.dumps(bare)], parser).plain["host"]
    found.validate(full=True)
    first, second = found.to_pylist()
    assert (first["call_stack"], second["call_stack"], second["input_types"]) == (
        "a; b",
        None,
        None,
    )


def test_the_batch_of_a_block_is_sound() -> None:
    """Arrow's own check of offsets, views and UTF-8; as many rows as the reader has room for."""
    parser = Parser(database()[0])
    for count in (1, 1024, 9, 2048):
        texts = [json.dumps(event, indent=1) for event in PLAIN.values()] * count
        for kind, batch in block(texts, parser).plain.items():
            batch.validate(full=True)
            assert isinstance(batch, pa.RecordBatch)
            [first, *others] = batch.drop_columns("event_id").to_pylist()
            assert others == [first] * (count - 1), kind


def test_ingest_does_not_load_pandas() -> None:
    """Where it is installed it would take longer than a small trace."""
    import subprocess
    import sys

    code = """
import sys, tempfile, tracewh
from pathlib import Path
from tracewh.ingest.api import ingest
samples = Path(tracewh.__file__).parent / 'samples'
with tempfile.TemporaryDirectory() as folder:
    (outcome, *_) = ingest([samples], folder)
assert outcome.status == 'ingested', outcome
assert 'pandas' not in sys.modules
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
