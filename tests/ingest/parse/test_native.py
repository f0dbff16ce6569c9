"""The compiled reader takes JSON by the letter and nothing else, and says why it stops."""

from __future__ import annotations

import json
import re
from typing import Any

import orjson
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tests.ingest.parse.plain_events import PLAIN, database, events, layout
from tracewh.ingest.parse import fast_parser

pytestmark = pytest.mark.skipif(
    not fast_parser.is_available(), reason="ingest/native was not compiled"
)

native: Any = vars(fast_parser)["_events"]  # some tests misuse it


def joined(texts: list[str]) -> bytearray:
    return bytearray(" ,\n ".join(texts).encode())


def events_before(reader: Any, text: bytearray) -> tuple[int, int, str]:
    """How many events were read, where the next one starts, and why it stopped there."""
    at, why = 0, b""
    while isinstance(why, bytes):
        at, why = reader.read(text, at)
        if isinstance(why, bytes):
            reader.add_category(why, None, [])
    reader.take()
    return reader.events, at, why


def reader() -> Any:
    return fast_parser.new_reader(layout())


def test_a_text_that_ends_anywhere_ends_and_is_not_odd() -> None:
    deep = json.dumps(
        {"a\\u00e9\\ud83d\\ude00": [1.5e3, -0.25, True, False, None, {"b": "\u00e9"}, []]}
    )
    texts = [*(json.dumps(event) for event in PLAIN.values()), deep, deep, "{}", "{}"]
    text = joined(texts)
    starts = [match.start() for match in re.finditer(rb"(?<=,\n )\{", text)]
    for end in range(len(text)):
        one = reader()
        seen = sum(start < end for start in starts)
        at = starts[seen - 1] if seen else 0
        assert events_before(one, text[:end]) == (seen, at, "ends"), text[:end]


@st.composite
def damaged(draw: st.DrawFn) -> bytearray:
    texts = draw(st.lists(events(), min_size=1, max_size=4))
    text = joined([*texts, "{}"])
    for _ in range(draw(st.integers(0, 3))):
        at = draw(st.integers(0, len(text) - 1))
        new = draw(st.sampled_from([*b'{}[]",:\\ \n0123456789eE+-.tfnu\0\x1f\x80\xc3\xed\xff']))
        text[at : at + draw(st.integers(0, 2))] = bytes([new])
    return text


def is_strict(text: bytes | bytearray) -> bool:
    try:
        found = orjson.loads(b"[" + text + b"]")
    except orjson.JSONDecodeError:
        return False
    return all(isinstance(event, dict) for event in found)


@pytest.mark.parametrize(
    "text",
    [
        r"\ud800\udc00",
        r"\ud800",
        r"\ud800x",
        r"\ud800\n",
        r"\ud800\ud800",
        r"\udc00\udc00",
        r"\udbff\udfff",
    ],
)
def test_surrogates_come_in_pairs(text: str) -> None:
    event = joined([f'{{"a": "{text}"}}', "{}"])
    assert events_before(reader(), event)[2] == ("ends" if is_strict(event) else "odd")


@settings(max_examples=700, deadline=None)
@given(damaged())
def test_what_is_taken_is_json_and_json_is_taken(text: bytearray) -> None:
    assume(not re.search(rb"[eE]\+?\d{3}", text))  # beyond what is taken for sure
    count, at, why = events_before(reader(), text)
    assert is_strict(text[:at].rstrip(b" \n\t\r,") if count else b"")
    if is_strict(text):
        found = orjson.loads(b"[" + text + b"]")
        assert (count, why) == (len(found) - 1, "ends")
        assert text[at:].startswith(b"{")


@pytest.mark.parametrize(
    ("number", "why"),
    [
        ("1" * 301, "odd"),
        ("1e201", "odd"),
        ("1e200", "ends"),
        ("1" * 300, "ends"),
        ("1e-999", "ends"),
    ],
)
def test_numbers_that_a_double_may_not_hold_are_not_taken(number: str, why: str) -> None:
    assert events_before(reader(), joined([f'{{"a": {number}}}', "{}"]))[2] == why


def test_values_too_deep_are_not_taken() -> None:
    for depth, why in ((64, "ends"), (65, "odd")):
        text = joined(['{"a": ' + "[" * depth + "]" * depth + "}", "{}"])
        assert events_before(reader(), text)[2] == why


BOUNDS = (1, 1, 1.0)
EMPTY: dict[str, list[Any]] = {kind: [] for kind in PLAIN}


def test_an_empty_reader_reads() -> None:
    """The next test changes one thing each."""
    assert events_before(native.Reader(EMPTY, BOUNDS), joined(["{}", "{}"]))[0] == 1


@pytest.mark.parametrize(
    "call",
    [
        lambda: native.Reader({}, BOUNDS),
        lambda: native.Reader({**EMPTY, "counter": []}, BOUNDS),
        lambda: native.Reader({"counter": [], **dict([*EMPTY.items()][1:])}, BOUNDS),
        lambda: native.Reader({**EMPTY, "host": [("key", 99, (0, 1), (0, 1), 0)]}, BOUNDS),
        lambda: native.Reader({**EMPTY, "host": [("key", 0, (0, 1), (0, 1), 1)]}, BOUNDS),
        lambda: native.Reader({**EMPTY, "host": [("key", 0, (0, 1), (0, 1), 0)] * 60}, BOUNDS),
        lambda: native.Reader({**EMPTY, "host": ()}, BOUNDS),
        lambda: native.Reader(EMPTY, (1, 1)),
        lambda: reader().read(b"{}", 0),
        lambda: reader().read(bytearray(b"{}"), 3),
        lambda: reader().read(bytearray(b"{}"), -1),
        lambda: reader().add("{}"),
        lambda: reader().add_category(b"x", "counter", []),
        lambda: reader().add_category(b"x", "host", [62]),
    ],
)
def test_what_the_reader_cannot_use_is_refused(call: Any) -> None:
    with pytest.raises((TypeError, ValueError)):
        call()


@pytest.mark.parametrize(
    "text",
    [
        *("\u0080", "\u07ff", "\u0800", "\ud7ff", "\ue000", "\uffff", "\U00010000", "\U0010ffff"),
        *(b"\x80", b"\xc0\xaf", b"\xc1\xbf", b"\xe0\x80\x80", b"\xe0\x9f\xbf", b"\xed\xa0\x80"),
        *(
            b"\xf0\x8f\xbf\xbf",
            b"\xf4\x90\x80\x80",
            b"\xf5\x80\x80\x80",
            b"\xe2\x82",
            b"\xe2\x28\xa1",
        ),
    ],
)
def test_bytes_that_are_no_utf8_are_odd(text: str | bytes) -> None:
    written = text.encode() if isinstance(text, str) else text
    event = bytearray(b'{"a": "' + written + b'"}, {}')
    assert is_strict(event) == isinstance(text, str)
    assert events_before(reader(), event)[2] == ("ends" if is_strict(event) else "odd")


def test_the_reader_writes_the_columns_of_the_raw_tables() -> None:
    """It has types of its own for them, and works out no category; `bind` it passes on to `raw`."""
    types = {**layout().fields, **layout().remainders, "bind": "VARCHAR"}
    del types["category"]
    assert dict(native.FIELDS) == {
        name: native.WHOLE if type_ == "BIGINT" else native.TEXT for name, type_ in types.items()
    }


def test_every_event_goes_to_a_kind_that_has_a_table() -> None:
    [(kinds,)] = (
        database()[0]
        .execute("""
        SELECT list(DISTINCT event_table(p.phase, c.category, n.name, t.timed, s.stream))
        FROM
            (SELECT unnest(['X', 'B', 's', 'f', 't', 'i', 'I', 'C', 'M', NULL]) AS phase) AS p,
            (SELECT unnest(['cpu_op', 'kernel', 'Trace', 'new', NULL]) AS category) AS c,
            (SELECT unnest(['[memory]', 'other']) AS name) AS n,
            (SELECT unnest([true, false]) AS timed) AS t,
            (SELECT unnest([true, false]) AS stream) AS s
    """)
        .fetchall()
    )
    assert {*kinds} == {*layout().kinds}
    assert {*PLAIN} == {*layout().compiled}
