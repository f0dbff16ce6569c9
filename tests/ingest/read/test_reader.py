"""The reader gives back every event of a file, however the file is laid out, and says what is wrong."""

from __future__ import annotations

import bz2
import gzip
import hashlib
import json
import lzma
import shutil
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tracewh.errors import RefusedError
from tracewh.ingest.read import decompress, reader
from tracewh.ingest.read.reader import TraceReader

Event = dict[str, Any]

SIMPLE: list[Event] = [
    {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 2, "ts": 3, "dur": 4.5},
    {"ph": "i", "name": "Record Window End", "s": "g"},
    {},
    {"ph": "X", "name": "Füße 🔥", "args": {"External id": 7, "list": [1, [2, []]], "none": None}},
]
#: What looks like the end of an event and is none: objects in lists, and JSON inside strings.
TRICKY: list[Event] = [
    *SIMPLE,
    {"name": "objects in a list", "args": {"a": [{}, {"b": [{"c": 1}, {"c": 2}]}, {"d": {}}]}},
    {"name": "}, {", "args": {"}, {": "},{"}},
    {"name": '{"ph": "X"}, {"ph": "X"}'},
    {"name": '"traceEvents": [', "args": {"traceEvents": [{}, {}]}},
    {"name": "]}", "args": {"]}": "}]}"}},
    {"name": 'C:\\"}, {"\\', "args": {"\\": '\\\\"', '"': "}\n, {"}},
    {"name": "last"},
]
METADATA: dict[str, Any] = {
    "schemaVersion": 1,
    "note": "traceEvents",
    "deviceProperties": [{"id": 0, "name": "}, {"}, {"id": 1}, {"id": 2}],
    "traceName": 'C:\\traces\\"traceEvents": [].json',
}


def one_per_line(events: Sequence[Event]) -> str:
    return "[\n" + ",\n".join(json.dumps(event) for event in events) + "\n]"


def comma_first(events: Sequence[Event]) -> str:
    return "[\r\n\t" + "\r\n\t,\t".join(json.dumps(event) for event in events) + "\r\n]"


def kineto(events: Sequence[Event]) -> str:
    """As libkineto writes: fields in lines of their own, arguments deeper, no comma at the end."""
    texts = []
    for event in events:
        fields = [json.dumps({key: value})[1:-1] for key, value in event.items() if key != "args"]
        text = "  {\n    " + ", ".join(fields)
        if "args" in event:
            args = [json.dumps({key: value})[1:-1] for key, value in event["args"].items()]
            text += (
                ("," if fields else "") + '\n    "args": {\n      ' + ", ".join(args) + "\n    }"
            )
        texts.append(text + "\n  }")
    return "[\n" + ",\n".join(texts) + "\n  ]"


LAYOUTS: dict[str, Callable[[Sequence[Event]], str]] = {
    "compact": json.dumps,
    "no spaces": lambda events: json.dumps(events, separators=(",", ":")),
    "not escaped": lambda events: json.dumps(events, ensure_ascii=False),
    "indented": lambda events: json.dumps(events, indent=2),
    "one per line": one_per_line,
    "comma first": comma_first,
    "kineto": kineto,
}


def trace(
    events: Sequence[Event],
    layout: str = "compact",
    before: Event | None = None,
    after: Event | None = None,
) -> bytes:
    """A trace file with metadata before and after its events."""
    members = [json.dumps(before)[1:-1]] if before else []
    members += [f'"traceEvents" : {LAYOUTS[layout](events)}']
    members += [json.dumps(after, indent=1)[1:-1]] if after else []
    return ("\n{" + ",\n".join(members) + "}\n").encode()


def read(path: Path) -> tuple[list[Event], dict[str, Any]]:
    """The events of a file, parsed, and its metadata."""
    opened = TraceReader(path)
    events: list[Event] = []
    for block in opened.blocks():
        first = len(events)
        assert block.ids.to_pylist() == list(range(first, first + block.events))
        events += [json.loads(text) for text in block.texts.to_pylist()]
    assert opened.events == len(events)
    return events, opened.metadata


def reads(path: Path, text: bytes) -> tuple[list[Event], dict[str, Any]]:
    path.write_bytes(text)
    return read(path)


@pytest.mark.parametrize("events", [[], SIMPLE[:1], TRICKY], ids=["none", "one", "tricky"])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_layouts(tmp_path: Path, layout: str, events: list[Event]) -> None:
    before = {"before": METADATA, "schemaVersion": 1}
    file = tmp_path / "trace.json"
    assert reads(file, trace(events, layout)) == (events, {})
    assert reads(file, trace(events, layout, before)) == (events, before)
    assert reads(file, trace(events, layout, None, METADATA)) == (events, METADATA)
    assert reads(file, trace(events, layout, before, METADATA)) == (events, before | METADATA)


def test_of_a_key_that_stands_twice_the_last_value_counts(tmp_path: Path) -> None:
    text = trace([], "compact", {"rank": 0, "world": 2}, {"rank": 1})
    assert reads(tmp_path / "trace.json", text) == ([], {"rank": 1, "world": 2})


def test_numbers_of_the_metadata_are_kept_to_the_last_digit(tmp_path: Path) -> None:
    metadata = {"small": 2**53 + 1, "large": 2**64 - 1, "larger": 2**70 + 1, "decimal": 0.1}
    assert reads(tmp_path / "trace.json", trace([], after=metadata)) == ([], metadata)


@pytest.mark.parametrize("layout", ["kineto", "no spaces"])
def test_a_block_may_end_anywhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, layout: str
) -> None:
    """Where a block grows by one byte it ends at every byte once."""
    file = tmp_path / "trace.json"
    file.write_bytes(trace(SIMPLE, layout, {"schemaVersion": 1}, METADATA))
    monkeypatch.setattr(decompress, "READ_BYTES", 1)
    for size in (1, 2, 7):
        monkeypatch.setattr(reader, "BLOCK_BYTES", size)
        assert read(file) == (SIMPLE, METADATA), f"blocks of {size} bytes"


def test_a_block_may_end_inside_what_looks_like_the_end_of_an_event(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The size of the first block moves its end; two blocks hold what follows any event's start."""
    events: list[Event] = [
        {"n": "}, {"},
        {"args": {"a": [{}, {"b": [{}, {}]}, {}]}},
        {"]}": '}, {"traceEvents": [{}, {'},
        {"args": {"a": [{}, {}]}},
    ]
    file = tmp_path / "trace.json"
    text = trace(events, "kineto", None, {"d": [{}, {}]})
    file.write_bytes(text)
    monkeypatch.setattr(decompress, "READ_BYTES", 1)
    for size in range(50, len(text), 3):
        monkeypatch.setattr(reader, "BLOCK_BYTES", size)
        assert read(file) == (events, {"d": [{}, {}]}), f"blocks of {size} bytes"


def test_a_read_may_end_anywhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In the key that starts the events, between two gzip members; two bytes tell what gzip is."""
    plain, zipped = tmp_path / "trace.json", tmp_path / "trace.json.gz"
    text = trace(TRICKY, "indented", METADATA)
    plain.write_bytes(text)
    zipped.write_bytes(gzip.compress(text[:300]) + gzip.compress(b"") + gzip.compress(text[300:]))
    for size in (*range(2, 20), 299, 300, 301):
        monkeypatch.setattr(decompress, "READ_BYTES", size)
        assert read(plain) == (TRICKY, METADATA), f"reads of {size} bytes"
        assert read(zipped) == (TRICKY, METADATA), f"reads of {size} bytes, compressed"


def zstd_frame(window_log: int, text: bytes) -> bytes:
    """A frame with a window of that size, and a single block that is not compressed."""
    header = b"\x28\xb5\x2f\xfd\0" + bytes([window_log - 10 << 3])
    return header + (len(text) << 3 | 1).to_bytes(3, "little") + text


def test_a_zstd_window_of_128_mib_is_read(tmp_path: Path) -> None:
    assert reads(tmp_path / "trace.json", zstd_frame(27, trace(SIMPLE))) == (SIMPLE, {})


def test_gzip_is_told_by_its_first_bytes_not_by_the_name(tmp_path: Path) -> None:
    text = trace(SIMPLE)
    assert reads(tmp_path / "plain.json.gz", text) == (SIMPLE, {})
    assert reads(tmp_path / "zipped.json", gzip.compress(text)) == (SIMPLE, {})


def test_hash_and_progress_are_of_the_stored_bytes(tmp_path: Path) -> None:
    stored = gzip.compress(trace(SIMPLE))
    file = tmp_path / "trace.json.gz"
    file.write_bytes(stored)
    counts: list[int] = []
    opened = TraceReader(file, counts.append)
    assert sum(len(block.texts) for block in opened.blocks()) == len(SIMPLE)
    assert opened.content_hash == hashlib.blake2b(stored, digest_size=32).hexdigest()
    assert sum(counts) == len(stored)


@pytest.mark.parametrize("block", [1000, 1 << 20])
def test_the_text_of_the_events_is_counted_as_it_was_before_it_was_compressed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, block: int
) -> None:
    monkeypatch.setattr(reader, "BLOCK_BYTES", block)
    events = ", ".join(['{"ph": "i", "name": "a"}'] * 1000)
    file = tmp_path / "trace.json.gz"
    file.write_bytes(gzip.compress(f'{{"a": 1, "traceEvents": [{events}], "b": 2}}'.encode()))
    opened = TraceReader(file)
    assert sum(found.events for found in opened.blocks()) == 1000
    assert opened.text_bytes == len(events)


#: Short, and of what JSON and its look-alikes are made.
words = st.lists(
    st.sampled_from([*'{}[],:"\\ \n aé🔥', "}, {", '"traceEvents": [', "]}", "},{", '\\"'])
).map("".join)
values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | words,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=3),
    max_leaves=6,
)
objects = st.dictionaries(words, values, max_size=4)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(
    events=st.lists(objects, max_size=6),
    layout=st.sampled_from([name for name in LAYOUTS if name != "kineto"]),
    metadata=objects,
    is_before=st.booleans(),
    data=st.data(),
)
def test_any_events(
    tmp_path_factory: pytest.TempPathFactory,
    events: list[Event],
    layout: str,
    metadata: dict[str, Any],
    is_before: bool,
    data: st.DataObject,
) -> None:
    metadata.pop("traceEvents", None)
    text = trace(events, layout, *((metadata, None) if is_before else (None, metadata)))
    longest = max((len(LAYOUTS[layout]([event]).encode()) for event in events), default=1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(decompress, "READ_BYTES", data.draw(st.integers(1, 50), "bytes per read"))
        patch.setattr(
            reader, "BLOCK_BYTES", data.draw(st.integers(longest, 4 * longest), "per block")
        )
        file = tmp_path_factory.mktemp("any") / "trace.json"
        assert reads(file, text) == (events, metadata)


TRACE = b'{"traceEvents": []}'


def archived(kind: str) -> bytes:
    """A trace in an archive."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "logs").mkdir()
        Path(folder, "logs", "trace.json").write_bytes(TRACE)
        return Path(shutil.make_archive(f"{folder}/made", kind, f"{folder}/logs")).read_bytes()


ONLY_SOME_TABLES = "which is read only if a profiler wrote it or if it has the columns of pipeline_operations, and not from a pipe"


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        pytest.param(b"", "not a Kineto trace: the file is empty", id="empty"),
        pytest.param(b" \n", "not a Kineto trace: the file is empty", id="blank"),
        pytest.param(gzip.compress(b""), "not a Kineto trace: the file is empty", id="empty gzip"),
        pytest.param(b"hello", "not a Kineto trace: not a JSON object", id="text"),
        pytest.param(b"[1, 2]", "not a Kineto trace: not a JSON object", id="list"),
        pytest.param(b"[]", "not a Kineto trace: not a JSON object", id="empty list"),
        pytest.param(
            bz2.compress(TRACE),
            "not a Kineto trace: compressed with bzip2; decompress it first: bunzip2",
            id="bzip2",
        ),
        pytest.param(
            lzma.compress(TRACE),
            "not a Kineto trace: compressed with xz; decompress it first: unxz",
            id="xz",
        ),
        pytest.param(
            bytes.fromhex("04224d18 6440a7 0e000080") + TRACE[:14] + bytes(4),
            "not a Kineto trace: compressed with lz4; decompress it first: unlz4",
            id="lz4",
        ),
        # Forms of exports of Nsight Systems.
        pytest.param(
            b"ARROW1\0\0\xff\xff",
            "not a Kineto trace: an Arrow file; if nsys wrote it, export the report again with --type sqlite",
            id="Arrow",
        ),
        pytest.param(
            b"\x89HDF\r\n\x1a\n\0",
            "not a Kineto trace: an HDF5 file; if nsys wrote it, export the report again with --type sqlite",
            id="HDF5",
        ),
        # `nsys export --type json` writes an object per line, and `--type jsonlines` a row of a table.
        pytest.param(
            b'{"Type":80,"CudaEvent":{"startNs":"3913448975","endNs":"4015230442",'
            b'"globalPid":"281919807815680"}}\n{"data":["[Unknown]","python"]}\n',
            "not a Kineto trace: a JSON export of Nsight Systems; export the report again with --type sqlite",
            id="JSON of nsys",
        ),
        pytest.param(
            b'{"start":10,"end":20,"globalTid":281919807815680,"nameId":7}\n',
            "not a Kineto trace: a JSON export of Nsight Systems; export the report again with --type sqlite",
            id="JSON lines of nsys",
        ),
        pytest.param(
            archived("zip"),
            "not a Kineto trace: a ZIP archive; unpack it, and ingest the folder",
            id="zip",
        ),
        pytest.param(
            archived("gztar"),
            "not a Kineto trace: a tar archive; unpack it, and ingest the folder",
            id="tar",
        ),
        pytest.param(
            b"7z\xbc\xaf\x27\x1c" + bytes(26),
            "not a Kineto trace: a 7z archive; unpack it, and ingest the folder",
            id="7z",
        ),
        pytest.param(
            b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n",
            "not a Kineto trace: a pointer of Git LFS; fetch the file itself: git lfs pull",
            id="Git LFS",
        ),
        pytest.param(
            gzip.compress(gzip.compress(trace(SIMPLE))),
            "not a Kineto trace: compressed twice, the first time with gzip; decompress it once",
            id="gzip in gzip",
        ),
        pytest.param(
            gzip.compress(b"\x28\xb5\x2f\xfd and more"),
            "not a Kineto trace: compressed twice, the first time with zstd; decompress it once",
            id="zstd in gzip",
        ),
        pytest.param(
            b"PAR1\x15\0PAR1",
            f"not a Kineto trace: a Parquet file, {ONLY_SOME_TABLES}; if nsys wrote it, ingest its folder",
            id="Parquet",
        ),
        pytest.param(
            b'"ID","Process ID","Kernel Name"\n',
            f"not a Kineto trace: a CSV table, {ONLY_SOME_TABLES}",
            id="CSV",
        ),
        pytest.param(
            b"\n<!doctype html><title>Sign in</title>",
            "not a Kineto trace: a web page or XML, perhaps the error of a download; download the trace again",
            id="web page",
        ),
        pytest.param(
            b'[{"pid": 1, "args": {"ph": "X"}}, {"ph": "X"}]',
            "not a Kineto trace: a list of objects that does not begin with an event (one with ph)",
            id="list of other objects",
        ),
        pytest.param(
            b'[{"ph": "X", "name": "a"',
            "not a Kineto trace: a list of objects that does not begin with an event (one with ph)",
            id="list cut in its first event",
        ),
        pytest.param(
            b"[[1, 2], [3]]",
            "not a Kineto trace: a PyTorch memory timeline (a list of lists)",
            id="memory timeline",
        ),
        pytest.param(
            b'{"schema": "1.1.1-chakra.0.0.4", "pid": 1, "nodes": []}',
            "not a Kineto trace: a PyTorch execution trace (it has nodes, not traceEvents)",
            id="execution trace",
        ),
        pytest.param(
            b'{"rocprofiler-sdk-tool": [{"metadata": {}}]}',
            "not a Kineto trace: a rocprofv3 trace; export the PyTorch profiler's own trace",
            id="rocprofv3",
        ),
        pytest.param(
            b'{"schemaVersion": 1}',
            "not a Kineto trace: a JSON object without traceEvents",
            id="no events",
        ),
        *(
            pytest.param(
                text,
                "not a Kineto trace: its traceEvents are not at the top of the JSON object, or what stands before them "
                "is damaged or is nested too deeply",
                id=kind,
            )
            for kind, text in {
                "events deeper": b'{"metadata": {"traceEvents": [{}]}}',
                "damage before the events": b'{"a": {5}, "traceEvents" : [{}]}',
                "nested metadata": b'{"a": %s, "traceEvents": [{}]}' % (b"[" * 2000 + b"]" * 2000),
            }.items()
        ),
        pytest.param(
            b'{"traceEvents": {"ph": "X"}}',
            "not a Kineto trace: a JSON object without traceEvents",
            id="events no list",
        ),
        *(
            pytest.param(
                trace(SIMPLE).decode().encode(encoding),
                "not a Kineto trace: not UTF-8 text, perhaps UTF-16; save it as UTF-8",
                id=encoding,
            )
            for encoding in ("utf-16", "utf-16-le", "utf-16-be", "utf-32")
        ),
        pytest.param(
            gzip.compress(trace(SIMPLE), mtime=0)[:20],
            "the gzip data ends early, at byte 20; too little is left to read: copy the file again",
            id="gzip cut before the events",
        ),
        pytest.param(
            gzip.compress(trace(SIMPLE), mtime=0)[:10] + b"\xff" * 20,
            "damaged gzip data (Error -1 Invalid deflate block found), at byte 10; "
            "too little is left to read: copy the file again",
            id="gzip damaged before the events",
        ),
        pytest.param(
            zstd_frame(28, trace(SIMPLE)),
            "compressed with zstd --long, with a window of more than 128 MiB, at byte 5; "
            "decompress it first: zstd -d --long=31",
            id="zstd with a large window",
        ),
    ],
)
def test_refused(tmp_path: Path, content: bytes, reason: str) -> None:
    with pytest.raises(RefusedError) as error:
        reads(tmp_path / "trace.json", content)
    assert str(error.value) == reason


def test_a_first_event_that_is_longer_than_what_is_read_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(decompress, "READ_BYTES", 50)
    events = [SIMPLE[0] | {"name": "x" * 1000}, *SIMPLE]
    assert reads(tmp_path / "list.json", json.dumps(events).encode()) == (events, {})
