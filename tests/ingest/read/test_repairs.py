"""What the wild contains: each oddity in a small file, and what is in the warehouse afterwards."""

from __future__ import annotations

import gzip
import random
from pathlib import Path
from typing import Any

import duckdb
import pytest

from tests.ingest.conftest import canonical
from tests.ingest.whole import Whole, whole, whole_of_each
from tracewh.ingest.parse.fast_parser import FastParser, is_available
from tracewh.ingest.parse.sql_parser import create_raw_tables
from tracewh.ingest.read.reader import TraceReader

ONE = b'{"ph": "X", "cat": "cpu_op", "name": "one", "pid": 1, "tid": 2, "ts": 5, "dur": 3}'
TWO = b'{"ph": "X", "cat": "cpu_op", "name": "two", "pid": 1, "tid": 2, "ts": 9, "dur": 1}'


#: What is held of a file, by the name of its case.
Ingested = dict[str, Whole | str]


def op(name: bytes, args: bytes = b'{"External id": 7}') -> bytes:
    """An event whose name and arguments are given as they stand in the file."""
    return (
        b'{"ph": "X", "cat": "cpu_op", "name": %b, "pid": 1, "tid": 2, "ts": 6, "dur": 1, "args": %b}'
        % (name, args)
    )


def event(start: int = 6, **change: bytes) -> bytes:
    """An event with fields given as they stand in the file."""
    fields = {
        "ph": b'"X"',
        "cat": b'"cpu_op"',
        "name": b'"odd"',
        "pid": b"1",
        "tid": b"2",
        "ts": b"%d" % start,
        "dur": b"1",
        **change,
    }
    return b"{" + b", ".join(b'"%b": %b' % (k.encode(), v) for k, v in fields.items()) + b"}"


def trace(*elements: bytes, separator: bytes = b",\n") -> bytes:
    return b'{"schemaVersion": 1, "traceEvents": [\n' + separator.join(elements) + b"\n]}"


def kept(*events: bytes, skipped: int = 0, metadata: Any = None, **reasons: int) -> Whole:
    return Whole([canonical(text.decode()) for text in events], skipped, reasons, metadata or {})


#: A damaged event, the event that the warehouse holds instead, and the causes.
REPAIRED = {
    "a raw newline and tab": (op(b'"a\n\tb"'), op(rb'"a\n\tb"'), ["control_characters"]),
    "a raw NUL": (op(b'"a\0b"'), op(rb'"a\u0000b"'), ["control_characters"]),
    "a raw control character in a key": (
        op(b'"a"', b'{"k\x1f": 1}'),
        op(b'"a"', rb'{"k\u001f": 1}'),
        ["control_characters"],
    ),
    "a control character between fields": (
        op(b'"a"', b'{"k":\x0b1}'),
        op(b'"a"', b'{"k": 1}'),
        ["control_characters"],
    ),
    "bad UTF-8": (op(b'"a\xff\xfeb"'), op('"a��b"'.encode()), ["bad_utf8"]),
    "UTF-8 cut in a character": (op(b'"a\xf0\x9f\x94"'), op('"a�"'.encode()), ["bad_utf8"]),
    "a surrogate in UTF-8": (op(b'"\xed\xa0\x80"'), op('"���"'.encode()), ["bad_utf8"]),
    "Latin-1": (op("'Füße'".encode("latin-1").replace(b"'", b'"')), op('"F��e"'.encode()), ["bad_utf8"]),
    "half a surrogate pair": (op(rb'"\ud83d\udd25 \ud83d!"'), op('"🔥 �!"'.encode()), ["lone_surrogates"]),
    "numbers that are none": (
        op(b'"a"', b'{"a": NaN, "b": -Infinity, "c": N/A, "d": inf,"e":nan,"f":[Infinity, -nan(ind)] }'),
        op(b'"a"', b'{"a": "NaN", "b": "-Infinity", "c": "N/A", "d": "inf", "e": "nan", "f": ["Infinity", "-nan(ind)"]}'),
        ["not_a_number"],
    ),
    "times that are none": (
        event(ts=b"NaN", dur=b"inf"),
        event(ts=b'"NaN"', dur=b'"inf"'),
        ["not_a_number", "missing_times"],
    ),
    "numbers as nobody writes them": (
        op(b'"a"', b'{"a": .5, "b": 0x10, "c": 007, "d": True}'),
        op(b'"a"', b'{"a": ".5", "b": "0x10", "c": "007", "d": "True"}'),
        ["bare_words"],
    ),
    "a Windows path": (
        op(rb'"C:\Users\name\torch\Module.py(5)"'),
        op(rb'"C:\\Users\\name\\torch\\Module.py(5)"'),
        ["backslashes"],
    ),
    "a path with a backslash at its end": (
        op(rb'"D:\"', rb'{"dir": "C:\temp\"}'),
        op(rb'"D:\\"', rb'{"dir": "C:\\temp\\"}'),
        ["backslashes"],
    ),
    "escapes beside a bad one": (op(rb'"\"a\\b\" \x"'), op(rb'"\"a\\b\" \\x"'), ["backslashes"]),
    "quotes in a name": (op(b'"say "hi" to"'), op(rb'"say \"hi\" to"'), ["unescaped_quotes"]),
    "quotes with commas": (
        op(b'"f("a", "b")"', b'{"g": "x="1", y="2"", "h": ["", "p "q" r"]}'),
        op(rb'"f(\"a\", \"b\")"', rb'{"g": "x=\"1\", y=\"2\"", "h": ["", "p \"q\" r"]}'),
        ["unescaped_quotes"],
    ),
    "nothing but a quote": (op(b'"""'), op(rb'"\""'), ["unescaped_quotes"]),
    "a missing value": (op(b'"a"', b'{"a": , "b": }'), op(b'"a"', b'{"a": null, "b": null}'), ["missing_values"]),
    "commas too many": (
        op(b'"\\q"', b'{"a": 1,, "b": [1, 2, ], }'),
        op(rb'"\\q"', b'{"a": 1, "b": [1, 2]}'),
        ["backslashes", "stray_commas"],
    ),
    "several at once": (
        op(b'"a\n\xff\\U"', b'{"a": "b"c", "d": nan}'),
        op('"a\\n�\\\\U"'.encode(), rb'{"a": "b\"c", "d": "nan"}'),
        ["bad_utf8", "backslashes", "control_characters", "not_a_number", "unescaped_quotes"],
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", REPAIRED)
def test_repaired(ingested: Ingested, case: str) -> None:
    _, repaired, causes = REPAIRED[case]
    assert ingested[case] == kept(ONE, repaired, TWO, repaired, **dict.fromkeys(causes, 2))


@pytest.mark.parametrize(
    "separator", [b",", b",\n  ", b"\r\n,\r\n"], ids=["compact", "lines", "comma first"]
)
# NaN and Infinity alone are repaired where events become rows, not where they are read.
@pytest.mark.parametrize("case", [case for case in REPAIRED if case != "times that are none"])
def test_repaired_between_any_separators(tmp_path: Path, case: str, separator: bytes) -> None:
    damaged, repaired, causes = REPAIRED[case]
    found = read(tmp_path, trace(ONE, damaged, TWO, damaged, separator=separator))
    reasons = dict.fromkeys(causes, 2)
    assert found == kept(ONE, repaired, TWO, repaired, metadata={"schemaVersion": 1}, **reasons)


#: What is no damage at all.
SOUND = {
    "whole numbers beyond 2^53": op(b'"a"', b'{"Addr": 18446744073709551615, "Bytes": 9007199254740993}'),
    "ids up to 2^64 - 1": event(args=b'{"External id": 18446744073709551615, "correlation": 9223372036854775808}'),
    "numbers beyond 64 bits": op(b'"a"', b'{"External id": 18446744073709551616, "x": -123456789012345678901234567890}'),
    "numbers beyond a double": op(b'"a"', b'{"x": 1e999, "y": -1E+400}'),
    "no arguments": event(),
    "an escaped NUL": op(rb'"a\u0000b"', rb'{"k\u0000": "\u0000"}'),
    "a number that is none beside events in a list": op(b'"a"', b'{"a": [{"ph": ": nan"}], "b": 1}'),
    "words like numbers": op(b'"nan: inf, NaN [-inf"', b'{"a": "inf", "b": ["NaN"]}'),
    "escapes": op(rb'"\"\\\/\b\f\n\r\t\u00e9\ud83d\udd25"'),
    "objects in lists": op(b'"}, {"', b'{"a": [{}, {"b": [{"ph": "X"}, {"ph": "X"}]}], "b": "], "}'),
    "an empty object": b"{}",
}  # fmt: skip


#: What comes back as it was, and is counted, because its columns say something else.
ODD = {
    "text for numbers": (event(pid=b'"1"', tid=b'"2"', args=b'{"External id": "7", "Ev Idx": "x", "Sequence number": "NaN"}'), ["text_numbers"]),
    "a handle": (b'{"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": 1, "dur": 2, "args": {"context": "0x1000", "device": 0}}', []),
    "text for times": (event(ts=b'"5.5"', dur=b'"1"'), ["text_timestamps", "text_durations"]),
    "a negative duration": (event(dur=b"-5"), ["negative_durations"]),
    "a time that is no number": (event(ts=b'"soon"'), ["missing_times"]),
    "a duration that is no number": (event(dur=b"null"), ["missing_times"]),
    "neither time nor duration": (b'{"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7}', ["missing_times"]),
    "a duration without a time": (b'{"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "dur": 5}', ["missing_times"]),
    "a span without a duration": (b'{"ph": "X", "cat": "Trace", "name": "a", "pid": "Spans", "tid": "P", "ts": 1}', ["missing_times"]),
    "an instant at the end of time": (b'{"ph": "i", "name": "Record Window End", "ts": 9223372036854775807, "s": "g"}', []),
    "no time where none is due": (b'{"ph": "M", "name": "process_name", "pid": 1, "args": {"name": "a"}}', []),
}  # fmt: skip


@pytest.mark.parametrize("case", ODD)
def test_odd(ingested: Ingested, case: str) -> None:
    odd, causes = ODD[case]
    assert ingested[case] == kept(ONE, odd, TWO, odd, **dict.fromkeys(causes, 2))


def test_a_key_twice(tmp_path: Path) -> None:
    twice = op(b'"a"', b'{"x": 1, "x": 2}')
    found = whole(tmp_path, trace(ONE, twice, twice.replace(b'"ph"', b'"dur": 1, "ph"', 1)))
    assert isinstance(found, Whole)
    assert (len(found.events), found.reasons) == (3, {"duplicate_keys": 2})


def test_a_key_twice_in_a_counter(tmp_path: Path) -> None:
    """Nothing is left of its fields but the arguments: one of them is no number."""
    fields = b'"ph": "C", "name": "a", "pid": 1, "ts": 5, "args": {"x": "s"}}'
    found = whole(tmp_path, trace(b'{"name": "a", ' + fields))
    assert isinstance(found, Whole)
    assert (found.events, found.reasons) == (
        [canonical("{" + fields.decode())],
        {"duplicate_keys": 1},
    )


@pytest.mark.parametrize("case", SOUND)
def test_sound(ingested: Ingested, case: str) -> None:
    assert ingested[case] == kept(TWO, SOUND[case], ONE)


#: What stands between ONE and TWO and cannot be read, events left out, and the causes.
LEFT_OUT = {
    "a key without its end": (b'{"ph": "X", "cat: 5, "name": "a"}', 1, {"unreadable_event": 1}),
    "no closing brace": (op(b'"a"')[:-1], 1, {"unreadable_event": 1}),
    "one brace too many": (op(b'"a"') + b"}", 0, {"stray_bytes": 3}),
    "no opening brace": (op(b'"a"')[1:], 1, {"unreadable_event": 1}),
    "a member without a comma": (b'{"ph": "X" "cat": "a"}', 1, {"unreadable_event": 1}),
    "two events run together": (op(b'"a"')[:-9] + op(b'"b"')[9:], 1, {"unreadable_event": 1}),
    "two unreadable events": (op(b'"a"')[:-1] + b",\n" + op(b'"b"')[:-1], 2, {"unreadable_event": 2}),
    "a list that swallows the rest": (event(args=b'{"a": [1, 2')[:-1], 1, {"unreadable_event": 1}),
    "plain text": (b"Segmentation fault (core dumped)", 1, {"not_an_object": 1}),
    "text with a brace": (b"at {core}", 1, {"unreadable_event": 1}),
    "null": (b"null", 1, {"not_an_object": 1}),
    "what is no event": (b'5, "text", [1, {"a": "X"}], true', 4, {"not_an_object": 4}),
    "a bracket too many": (b"[", 0, {"stray_bytes": 3}),
    "an end too early": (b"]", 0, {"stray_bytes": 1, "stray_commas": 1}),
    "the end of the file too early": (b"]}", 0, {"stray_bytes": 4}),
    "the end of the file in front of an event": (b"]}" + op(b'"a"'), 0, {"stray_bytes": 2}),
    "commas": (b", ,", 0, {"stray_commas": 3}),
}  # fmt: skip


@pytest.mark.parametrize("case", LEFT_OUT)
def test_left_out(ingested: Ingested, case: str) -> None:
    damaged, skipped, reasons = LEFT_OUT[case]
    extra = [op(b'"a"')] if op(b'"a"') in damaged and not skipped else []
    assert ingested[case] == kept(ONE, *extra, TWO, ONE, skipped=skipped, **reasons)


WHOLE = (
    b'{"traceName": "t", "traceEvents": ['
    + ONE
    + b", "
    + TWO
    + b'], "after": {"a": [1, 2]}, "z": 0}'
)
HEAD = {"traceName": "t"}
AFTER = {"traceName": "t", "after": {"a": [1, 2]}}


def read(folder: Path, content: bytes) -> Whole:
    """What the reader makes of a file, without the rest of ingest."""
    path = folder / "trace.json"
    path.write_bytes(content)
    reader = TraceReader(path)
    events = [canonical(text) for block in reader.blocks() for text in block.texts.to_pylist()]
    return Whole(events, reader.skipped_events, dict(reader.reasons), reader.metadata)


def test_cut_anywhere(tmp_path: Path) -> None:
    """Whole events stay, and so do whole keys after them; the bytes after the last are counted."""
    ends = [WHOLE.index(b"[") + 1, WHOLE.index(ONE) + len(ONE), WHOLE.index(TWO) + len(TWO)]
    after = WHOLE.index(b"]}", ends[2]) + 2
    for cut in range(ends[0], len(WHOLE)):
        events = [ONE, TWO][: sum(cut >= end for end in ends[1:])]
        last = max(end for end in (*ends, ends[2] + 1, after) if end <= cut)
        assert read(tmp_path, WHOLE[:cut]) == kept(
            *events,
            metadata=HEAD if cut < after else AFTER,
            truncated_bytes=len(WHOLE[last:cut].strip(b", ")),
        ), f"cut at byte {cut}: {WHOLE[:cut]!r}"
    assert read(tmp_path, WHOLE) == kept(ONE, TWO, metadata={**AFTER, "z": 0})


FLIPPED = bytearray(gzip.compress(WHOLE, mtime=0))
FLIPPED[-8] ^= 1
#: Random digits, which gzip cannot shorten much, so that a cut far from the end leaves events whole.
MANY = [event(start=at, name=b'"%x"' % pow(7, at + 999, 2**521 - 1)) for at in range(100)]
ZIPPED = gzip.compress(trace(*MANY), mtime=0)
BARE = b"[" + ONE + b",\n" + TWO

#: Files, and what the warehouse then holds.
FILES = {
    "cut in an event": (
        trace(ONE, TWO)[:-20],
        kept(ONE, truncated_bytes=len(TWO) - 17),
    ),
    "cut in the first event": (
        trace(ONE)[:-20],
        kept(metadata={}, truncated_bytes=len(ONE) - 17),
    ),
    "cut after an unreadable event": (
        trace(ONE, b'{"ph": "X" 5}', TWO)[:-20],
        kept(
            ONE,
            skipped=1,
           
            unreadable_event=1,
            truncated_bytes=len(TWO) - 17,
        ),
    ),
    "cut after an event whose arguments begin with a name": (
        b'{"traceEvents": [' + ONE + b', {"ph": "M", "args": {"name": "a"}}',
        kept(ONE, b'{"ph": "M", "args": {"name": "a"}}', truncated_bytes=0),
    ),
    "an event that swallows all others": (
        b'{"traceEvents": [{"ph": "X", "a": [5, ' + ONE + b", " + TWO + b'], "b": 1}',
        kept(ONE, TWO, skipped=1, metadata={"b": 1}, unreadable_event=1),
    ),
    "an unreadable event at the end": (
        trace(ONE, b'{"ph": "X" 5}')[:-1] + b', "a": [{"id": 0}, {"name": "]"}], "b": 2}',
        kept(
            ONE,
            skipped=1,
            metadata={"a": [{"id": 0}, {"name": "]"}], "b": 2},
            unreadable_event=1,
        ),
    ),
    "no closing quote in the last event": (
        trace(ONE, event(name=b'"odd')) + b"\n",
        kept(ONE, skipped=1, unreadable_event=1),
    ),
    "gzip members": (gzip.compress(WHOLE[:99]) + gzip.compress(WHOLE[99:]), read_whole := kept(ONE, TWO, metadata={**AFTER, "z": 0})),
    "gzip without its end": (gzip.compress(WHOLE)[:-8], Whole(read_whole.events, 0, {"truncated_bytes": 0}, read_whole.metadata)),
    "gzip with a wrong checksum": (bytes(FLIPPED), Whole(read_whole.events, 0, {"damaged_compression": 1}, read_whole.metadata)),
    "gzip and a line break": (gzip.compress(WHOLE) + b"\n", read_whole),
    "gzip and more": (gzip.compress(WHOLE) + b"more", Whole(read_whole.events, 0, {"bytes_after_the_end": 4}, read_whole.metadata)),
    "gzip members, the second damaged": (
        gzip.compress(BARE[:-5]) + gzip.compress(BARE[-5:])[1:],
        kept(ONE, truncated_bytes=len(TWO) - 5, damaged_compression=1),
    ),
    "a byte order mark": (
        b"\xef\xbb\xbf" + WHOLE,
        Whole(read_whole.events, 0, {"byte_order_mark": 1}, read_whole.metadata),
    ),
    "a bare list": (BARE + b"]", kept(ONE, TWO)),
    "a bare list, pretty": (b"\n [\n  " + ONE.replace(b", ", b",\n    ") + b"\n  ,\n" + TWO + b"\n]\n", kept(ONE, TWO)),
    "a bare list without its end": (BARE, kept(ONE, TWO)),
    "a bare list that ends with a comma": (BARE + b",\n", kept(ONE, TWO)),
    "a bare list cut in an event": (BARE[:-5], kept(ONE, truncated_bytes=len(TWO) - 5)),
    "a bare list and more": (BARE + b"]\n{}", kept(ONE, TWO, bytes_after_the_end=2)),
    "a bare list that begins with a damaged event": (
        b'[{"ph": "X" 5},' + ONE + b"]",
        kept(ONE, skipped=1, unreadable_event=1),
    ),
    "two lists of events": (
        b'{"a": 1, "traceEvents": [' + ONE + b'], "distributedInfo": {"rank": 0}, "traceEvents": ['
        + TWO + b'], "distributedInfo": {"rank": 1}, "traceEvents": []}',
        kept(ONE, TWO, metadata={"a": 1, "distributedInfo": {"rank": 1}}),
    ),
    "more after the end": (WHOLE + b"{}\n", Whole(read_whole.events, 0, {"bytes_after_the_end": 2}, read_whole.metadata)),
    "numbers in the metadata that are none": (
        b'{"a": NaN, "traceEvents": [' + ONE + b'], "roctracer_version": nan, "b": -Infinity, "c": 1e999}',
        kept(ONE, metadata={"a": "NaN", "roctracer_version": "nan", "b": "-Infinity", "c": "1e999"}, not_a_number=1),
    ),
    "bad text in the metadata": (
        b'{"traceName": "C:\\Users\xff\n", "traceEvents": [' + ONE + b'], "username": "a "b" c"}',
        kept(
            ONE,
            metadata={"traceName": "C:\\Users\ufffd\n", "username": 'a "b" c'},
            backslashes=1, bad_utf8=1, control_characters=1, unescaped_quotes=1,
        ),
    ),
    "an odd key after the events": (
        b'{"traceEvents": [' + ONE + b"], " + rb'"\"a\\": 1}',
        kept(ONE, metadata={'"a\\': 1}),
    ),
    "a comma and no key after the events": (b'{"traceEvents": [' + ONE + b"],}", kept(ONE, stray_commas=1)),
    "a trailing comma": (
        b'{"traceEvents": [' + ONE + b',\n], "a": 1,\n}',
        kept(ONE, metadata={"a": 1}, stray_commas=1),
    ),
    "unreadable metadata": (
        b'{"a": 1, "traceEvents": [' + ONE + b'], "b": 2, "c" 3, "d": 4}',
        kept(ONE, metadata={"a": 1, "b": 2}, unreadable_metadata=1),
    ),
    "metadata with a number beyond 64 bits": (
        b'{"traceEvents": [' + ONE + b'], "a": 123456789012345678901234567890}',
        kept(ONE, metadata={"a": 123456789012345678901234567890}),
    ),
    "metadata with a number of 5,000 digits": (
        b'{"a": ' + b"9" * 5000 + b', "traceEvents": [' + ONE + b'], "b": -' + b"9" * 5000 + b"}",
        kept(ONE, metadata={"a": "9" * 5000, "b": "-" + "9" * 5000}),
    ),
    "metadata that is nested too deeply": (
        b'{"a": 1, "traceEvents": [' + ONE + b'], "b": ' + b"[" * 5000 + b"]" * 5000 + b"}",
        kept(ONE, unreadable_metadata=1),
    ),
    "metadata too large for its columns": (
        b'{"schemaVersion": 5000000000, "baseTimeNanoseconds": 9223372036854775807, "distributedInfo": '
        b'{"rank": 99999999999, "world_size": 1e30}, "traceEvents": [' + ONE + b"]}",
        kept(
            ONE,
            metadata={
                "schemaVersion": 5000000000,
                "baseTimeNanoseconds": 9223372036854775807,
                "distributedInfo": {"rank": 99999999999, "world_size": 1e30},
            },
        ),
    ),
    "no events": (b'{"traceEvents":[]}', kept()),
    "nothing but unreadable events": (
        trace(b'{"ph": "X" 5}'),
        kept(skipped=1, unreadable_event=1),
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", FILES)
def test_files(ingested: Ingested, case: str) -> None:
    assert ingested[case] == FILES[case][1]


@pytest.fixture(scope="module")
def ingested(tmp_path_factory: pytest.TempPathFactory) -> Ingested:
    """What is held of each case above, of one ingest. The tests below ingest one file at a time."""
    cases = [
        *((case, trace(ONE, damaged, TWO, damaged)) for case, (damaged, *_) in REPAIRED.items()),
        *((case, trace(ONE, odd, TWO, odd)) for case, (odd, _) in ODD.items()),
        *((case, trace(TWO, sound, ONE)) for case, sound in SOUND.items()),
        *((case, trace(ONE, damaged, TWO, ONE)) for case, (damaged, *_) in LEFT_OUT.items()),
        *((case, content) for case, (content, _) in FILES.items()),
    ]
    contents = dict(cases)
    assert len(contents) == len(cases)
    return whole_of_each(tmp_path_factory.mktemp("repairs"), contents)


@pytest.mark.parametrize("cut", [len(ZIPPED) // 4, len(ZIPPED) // 2, len(ZIPPED) - 30])
@pytest.mark.parametrize("damaged", [False, True], ids=["cut", "damaged"])
def test_gzip_that_cannot_be_read_to_the_end(tmp_path: Path, cut: int, damaged: bool) -> None:
    stored = ZIPPED[:cut] + (random.Random(1).randbytes(5000) if damaged else b"")
    found = whole(tmp_path, stored)
    assert isinstance(found, Whole)
    expected = [canonical(text.decode()) for text in MANY]
    # A deflate block of 100 events may be read up to the byte of the cut, and no further.
    assert len(found.events) >= 0.9 * len(MANY) * cut / len(ZIPPED) - 1
    assert found.events == expected[: len(found.events)]
    # What follows a damage may look like text for a while.
    causes = {"truncated_bytes", "damaged_compression"} if damaged else {"truncated_bytes"}
    assert found.reasons.keys() - {"unreadable_event"} == causes
    assert found.metadata == {}


@pytest.mark.skipif(not is_available(), reason="ingest/native was not compiled")
@pytest.mark.parametrize(
    ("text", "commas"),
    [
        (b'{"ph": "X", "args": {"a": 1,}}', 1),
        (b'{"ph": "X", "args": {"a": [1, ], "b": ",]"} , }', 1),
        (b'{"ph": "X"}, , {"ph": "i"},, {"ph": "i", "args": {},}', 3),
        (b'{"ph": "X", "name": "f<(lambda: 1, )>, }"}', 0),
    ],
)
def test_both_readers_count_stray_commas_alike(tmp_path: Path, text: bytes, commas: int) -> None:
    """DuckDB takes a comma before a closing bracket for sound JSON."""
    file = tmp_path / "trace.json"
    file.write_bytes(trace(ONE, text, TWO))
    with duckdb.connect() as con:
        create_raw_tables(con)
        found = []
        for parser in (None, FastParser(con)):
            opened = TraceReader(file, splitter=parser)
            assert sum(block.events for block in opened.blocks()) == opened.events
            found.append((opened.events, opened.reasons))
    assert found[0] == found[1]
    assert found[0][1] == ({"stray_commas": commas} if commas else {})
