"""The one parse of plain events gives what the full parse gives, and loses nothing."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from decimal import Decimal
from functools import cache
from typing import Any

import duckdb
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tracewh.ingest.flatten import BLOCKS_WITHOUT, Flattener, prepare
from tracewh.ingest.plain import KINDS, are_odd
from tracewh.ingest.reader import Block
from tracewh.ingest.scan import HINTS, MANY, NO_TIME, scan

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
PLAIN = {"host": HOST, "device": DEVICE, "memory": MEMORY, "flow": FLOW}
TABLES = (*KINDS, "counter", "other")


@cache
def flattener(full: bool) -> tuple[duckdb.DuckDBPyConnection, Flattener]:
    """One for all tests: planning its statements takes longer than running them."""
    con = duckdb.connect()
    con.execute("SET threads = 1; SET disabled_optimizers = 'filter_pushdown'")
    prepare(con)
    return con, Flattener(con.cursor(), unpadded=full)


@contextmanager
def flattened(texts: list[str], *, full: bool) -> Iterator[duckdb.DuckDBPyConnection]:
    """The raw tables of a block, without what waits for `finish`."""
    con, one = flattener(full)
    one.in_vain = 0
    one.flatten(Block(10, pa.array(texts, pa.string()), bytearray()))
    yield con
    one.finish()
    for name in TABLES:
        con.execute(f"TRUNCATE raw_{name}")


def tables(texts: list[str], *, full: bool) -> dict[str, list[dict[str, Any]]]:
    """The rows of every raw table, with args and raw as values."""
    with flattened(texts, full=full) as con:
        flattener(full)[1].finish()
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
        return found


def is_taken(text: str, kind: str) -> bool:
    """Whether the one parse takes the event, which does not stand at the end of its block."""
    with flattened([text, '{"ph": "M", "name": "process_name"}'], full=False) as con:
        row = con.execute(f"SELECT count(*) FROM raw_{kind}").fetchone()
    assert row is not None
    return bool(row[0])


@pytest.mark.parametrize("indent", [None, 1])
@pytest.mark.parametrize("kind", KINDS)
def test_plain_events_are_taken(kind: str, indent: int | None) -> None:
    assert is_taken(json.dumps(PLAIN[kind], indent=indent), kind)


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        pytest.param(kind, json.dumps(PLAIN[kind]).replace(old, new, 1), id=f"{kind} {new}")
        for kind, old, new in [
            ("host", '"External id": 7', '"External id": "7"'),
            ("host", '"External id": 7', '"External id": 7.0'),
            ("host", '"External id": 7', '"External id": null'),
            ("host", '"External id": 7', '"External id": true'),
            ("host", '"External id": 7', '"External id": 7, "External id": 8'),
            ("host", '"External id": 7', '"External id": 9223372036854775808'),
            ("host", '"External id": 7', '"\\u0045xternal id": "7"'),
            ("host", '"External id"', '"External  id"'),
            ("host", '"External id":', '"unheard of" : 1, "External id":'),
            ("host", '"name": "aten::mm"', '"name": 5'),
            ("host", '"finished": true', '"finished": 1'),
            ("host", '["float", ""]', '["float", 1]'),
            ("host", '["float", ""]', '["float", null]'),
            ("host", "[[2, 3], [], [[4]]]", "[[2, NaN], [], [[4]]]"),
            ("host", "[[2, 3], [], [[4]]]", '"[]"'),
            ("host", '"dur": 3.25', '"dur": 3.2501'),
            ("host", '"dur": 3.25', '"dur": NaN'),
            ("host", '"dur": 3.25', '"dur": "3.25"'),
            ("host", '"ts": 1200.5', '"ts": 1200.5001'),
            ("host", '"ts": 1200.5', '"ts": 1.2e3'),
            ("host", '"pid": 1', '"pid": "1"'),
            ("host", '"pid": 1', '"pid": 18446744073709551617'),
            ("host", '"args": {', '"id": 4, "args": {'),
            ("host", '"cat": "cpu_op"', '"cat": "kernel"'),
            ("device", '"blocks per SM": 0.25', '"blocks per SM": "inf"'),
            ("device", "[1, 2, 3]", "[1, 2.5, 3]"),
            ("device", "[1, 2, 3]", "[1, 2, 4294967296]"),
            ("device", '"[0, 1]"', '"[0,1]"'),
            ("device", '"cat": "kernel"', '"cat": "gpu_user_annotation"'),
            ("memory", '"s": "t"', '"s": "g"'),
            ("memory", '"Bytes": -512', '"Bytes": "-512"'),
            ("flow", '"bp": "e"', '"bp": "x"'),
            ("flow", '"id": 9', '"id": "9"'),
            ("flow", '"bp": "e"', '"args": {}'),
        ]
    ],
)  # fmt: skip
def test_all_else_is_left_to_the_full_parse(kind: str, text: str) -> None:
    assert not is_taken(text, kind)


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
    event = json.loads(json.dumps(PLAIN[draw(st.sampled_from(KINDS))]))
    for _ in range(draw(st.integers(0, 2))):
        target = event.get("args", event) if draw(st.booleans()) else event
        target = target if isinstance(target, dict) and target else event
        key = draw(st.sampled_from([*target, "unheard of", "device", "External id", "id"]))
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


@settings(max_examples=200, deadline=None)
@given(st.lists(events(), min_size=1, max_size=5))
def test_no_key_is_missed(texts: list[str]) -> None:
    found = scan(pa.array(texts, pa.string()))
    for text, keys in zip(texts, found.keys.tolist(), strict=True):
        assert keys >= count_keys(json.loads(text))


def count_keys(value: Any) -> int:
    if isinstance(value, dict):
        return len(value) + sum(map(count_keys, value.values()))
    return sum(map(count_keys, value)) if isinstance(value, list) else 0


@settings(max_examples=300, deadline=None)
@given(
    st.integers(-(10**15), 10**15),
    st.sampled_from(["", ".0", ".5", ".05", ".125", ".999"]),
    st.sampled_from(['"ts":{}', '"ts": {}', '"ts" :{}', '"ts":  {} ', '"ts":{},"ts":{}', '"ts":"{}"', '"Ts":{}']),
)  # fmt: skip
def test_times_are_exact_or_left(whole: int, decimals: str, layout: str) -> None:
    number = f"{whole}{decimals}"
    text = "{" + layout.replace("{}", number) + "}" + " " * 40
    (time,) = scan(pa.array([text], pa.string())).times.tolist()
    if layout in ('"ts":{}', '"ts": {}', '"ts":  {} '):
        assert time == Decimal(number) * 1000
    else:
        assert time == NO_TIME


@pytest.mark.parametrize(
    "number", ["1e3", "1.2345", "01x", "-", ".5", "1.", "1.2.3", "9" * 17, "NaN"]
)
def test_odd_times_are_left(number: str) -> None:
    text = f'{{"ts": {number}, "x": 1}}' + " " * 40
    assert scan(pa.array([text], pa.string())).times.tolist() == [NO_TIME]


def test_a_time_at_the_end_of_the_text_is_left() -> None:
    assert scan(pa.array(['{"ts":5}'], pa.string())).times.tolist() == [NO_TIME]


def test_hints() -> None:
    texts = [json.dumps(PLAIN[kind]) for kind in KINDS]
    texts += ["{}", '{"name": "x", "ph": "X"}', '{"ph": "M", "cat": "x"}', '{"ph": "X"}']
    hints = scan(pa.array(texts, pa.string())).hints.tolist()
    assert hints == [*(HINTS[kind] for kind in KINDS), 0, 0, 0, 0]


def test_keys_with_a_space_before_the_colon_are_too_many() -> None:
    keys = scan(pa.array(['{"a": 1}', '{"a" : 1, "b": 2}', '{"c": 3}'], pa.string())).keys
    assert keys.tolist() == [1, MANY, 1]


def test_what_is_odd_is_a_value_of_another_type_or_a_key_with_an_escape() -> None:
    texts = ['{"pid": 1}', '{"pid": "1"}', r'{"p\u0069d": 1}', r'{"name": "a\\b"}']
    assert are_odd(pa.array(texts, pa.string())).to_pylist() == [False, True, True, False]


def test_after_a_block_without_plain_events_the_next_ones_are_not_searched() -> None:
    """They go to the full parse, which takes them too; after a while it looks again."""
    odd, plain = '{"ph": "M", "name": "process_name"}', json.dumps(HOST)
    with duckdb.connect() as con:
        prepare(con)
        one = Flattener(con)

        def taken_at_once(text: str) -> bool:
            before = con.execute("SELECT count(*) FROM raw_host").fetchall()
            one.flatten(Block(0, pa.array([text]), bytearray()))
            return con.execute("SELECT count(*) FROM raw_host").fetchall() != before

        assert taken_at_once(plain)
        taken = [taken_at_once(text) for text in [odd, *[plain] * BLOCKS_WITHOUT, plain]]
        assert taken == [False] * (BLOCKS_WITHOUT + 1) + [True]
        one.finish()
        assert con.execute("SELECT count(*) FROM raw_host").fetchall() == [(BLOCKS_WITHOUT + 2,)]


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
