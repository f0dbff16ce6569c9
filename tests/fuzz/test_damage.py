"""Whatever happens to the bytes of a trace: no crash, no hang, no silent loss, no half a trace."""

from __future__ import annotations

import json
import os
import re
import time
from functools import cache
from pathlib import Path

import duckdb
import pytest
from hypothesis import HealthCheck, Phase, assume, given, settings
from hypothesis import strategies as st

from tests.fuzz.grammar import Trace, damaged, trace
from tests.ingest.conftest import canonical
from tests.ingest.whole import LEFT_OUT, Whole, whole_of_each
from tracewh.errors import RefusedError
from tracewh.ingest.parse import fast_parser
from tracewh.ingest.parse.fast_parser import FastParser
from tracewh.ingest.parse.sql_parser import create_raw_tables
from tracewh.ingest.read import chunks, decompress, reader, resync
from tracewh.ingest.read.json_repair import Scanner

#: More of them for a long run: see README.md.
EXAMPLES = int(os.environ.get("TRACEWH_FUZZ_EXAMPLES", "0"))
#: Spellings that no program writes: DuckDB takes them for numbers, and so they stay.
ODD_SPELLINGS = re.compile(rb"n(?:A[nN]|aN)|NAn|iN[fF]|inF|InF", re.DOTALL)
#: No time is measured here: whoever needs so long for some kilobytes hangs.
HANG_SECONDS = 60


def check(found: Whole | str, before: Trace, content: bytes, untouched: list[int]) -> None:
    """What must hold of any file made from a trace."""
    if isinstance(found, str):
        assert found.startswith("not a Kineto trace: "), found
        # Only a bare list can lose what tells that it is a trace: its first event.
        assert before.content.startswith(b"[") and 0 not in untouched, found
        return
    assert found.skipped == sum(found.reasons.get(cause, 0) for cause in LEFT_OUT)
    # A bare list that ends after an event does not tell whether there were more.
    is_open_list = content.startswith(b"[") and content.rstrip(b" ,\r\n\t").endswith(b"}")
    if len(found.events) < len(before.events) and not is_open_list:
        assert found.reasons, "events were lost, and nothing says so"
    rest = iter(found.events)
    for number in untouched:
        start, end = before.events[number]
        event = canonical(before.content[start:end].decode())
        if event not in rest:
            # A bracket in the wrong place may end the events for good: then what follows is counted.
            ended = found.reasons.keys() & {"bytes_after_the_end", "unreadable_metadata"}
            assert ended, f"event {number} was lost, or its order: {event}"
            break
    if content == before.content:
        assert len(found.events) + found.skipped == len(before.events)


# Shrinking would take minutes; the traces are short.
@settings(
    phases=[Phase.generate],
    max_examples=EXAMPLES or 60,
    deadline=None,
    derandomize=not EXAMPLES,
    suppress_health_check=[HealthCheck.too_slow],
)
@given(data=st.data(), before=trace())
def test_reader(
    tmp_path_factory: pytest.TempPathFactory, before: Trace, data: st.DataObject
) -> None:
    """The reader alone, with blocks of any size, so that the damage falls on their edges."""
    content, untouched = data.draw(damaged(before), "damaged")
    file = tmp_path_factory.getbasetemp() / "reader.json"
    file.write_bytes(content)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(decompress, "READ_BYTES", data.draw(st.integers(1, 500), "bytes per read"))
        patch.setattr(reader, "FIRST_BYTES", 1)
        patch.setattr(reader, "BLOCK_BYTES", data.draw(st.integers(50, 2000), "bytes per block"))
        patch.setattr(resync, "_LOOK_AHEAD", 300)
        if data.draw(st.booleans(), "short events"):
            patch.setattr(resync, "EVENT_BYTES", 6000)
            patch.setattr(chunks, "EVENT_BYTES", 6000)
            patch.setattr(fast_parser, "EVENT_BYTES", 6000)
        started = time.monotonic()
        found = read(file)
        check_columns(found, file)
    assert time.monotonic() - started < HANG_SECONDS
    check(found, before, content, untouched)


@cache
def database() -> duckdb.DuckDBPyConnection:
    con = duckdb.connect()
    create_raw_tables(con)
    return con


def check_columns(found: Whole | str, file: Path) -> None:
    """Where plain events are read into columns, they and all others are those that texts give."""
    opened = reader.TraceReader(file, splitter=FastParser(database()))
    columns: dict[int, tuple[str | None, str]] = {}
    texts: dict[int, str] = {}
    try:
        for block in opened.blocks():
            texts |= zip(block.ids.to_pylist(), block.texts.to_pylist(), strict=True)
            for batch in block.plain.values():
                names = batch["name"].to_pylist(), batch["pid"].to_pylist()
                columns |= zip(batch["event_id"].to_pylist(), zip(*names, strict=True), strict=True)
    except RefusedError as error:
        assert str(error) == found
        return
    assert isinstance(found, Whole)
    assert sorted([*columns, *texts]) == [*range(opened.events)] == [*range(len(found.events))]
    for number, text in texts.items():
        assert canonical(Scanner(text.encode(), 0).read().text.decode()) == found.events[number]
    for number, (name, pid) in columns.items():
        event = json.loads(found.events[number])
        assert (event.get("name"), str(event["pid"])) == (name, pid)
    for cause in (opened.reasons | found.reasons).keys() - {"not_a_number"}:
        # That DuckDB takes: where events are texts, they are mended when it has read them.
        assert opened.reasons.get(cause) == found.reasons.get(cause), cause
    assert (opened.skipped_events, opened.metadata) == (found.skipped, found.metadata)


def read(file: Path) -> Whole | str:
    opened = reader.TraceReader(file)
    try:
        texts = [text for block in opened.blocks() for text in block.texts.to_pylist()]
    except RefusedError as error:
        return str(error)
    events = [canonical(Scanner(text.encode(), 0).read().text.decode()) for text in texts]
    return Whole(events, opened.skipped_events, dict(opened.reasons), opened.metadata)


@settings(
    phases=[Phase.generate],
    max_examples=EXAMPLES or 5,
    deadline=None,
    derandomize=not EXAMPLES,
    suppress_health_check=[HealthCheck.too_slow],
)
@given(data=st.data(), traces=st.lists(trace(most=30), min_size=5, max_size=5))
def test_ingest(
    tmp_path_factory: pytest.TempPathFactory, traces: list[Trace], data: st.DataObject
) -> None:
    """All of ingest, of several files at once, and the events rebuilt."""
    files = [(before, *data.draw(damaged(before), "damaged")) for before in traces]
    files = [each for each in files if not ODD_SPELLINGS.search(each[1])]
    assume(files)
    started = time.monotonic()
    contents = {str(number): content for number, (_, content, _) in enumerate(files)}
    found = whole_of_each(tmp_path_factory.mktemp("ingest"), contents)
    assert time.monotonic() - started < HANG_SECONDS
    for number, each in enumerate(files):
        check(found[str(number)], *each)
