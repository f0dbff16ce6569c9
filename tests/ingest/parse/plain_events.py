"""Plain events, and what the two ways to read them make of a text."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

import duckdb
from hypothesis import strategies as st

from tracewh.ingest.parse.event_layout import EventLayout, event_layout
from tracewh.ingest.parse.fast_parser import FastParser
from tracewh.ingest.parse.sql_parser import SqlParser, create_raw_tables
from tracewh.ingest.read.chunks import Block, Splitter, TextSplitter

HOST: dict[str, Any] = {
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


#: Events are plain where another one follows.
LAST = '{"ph": "B", "name": "what nobody foresaw"}'


@cache
def database() -> tuple[duckdb.DuckDBPyConnection, SqlParser]:
    """One for all tests: planning its statements takes longer than running them."""
    con = duckdb.connect()
    con.execute("SET threads = 1; SET disabled_optimizers = 'filter_pushdown'")
    create_raw_tables(con)
    return con, SqlParser(con, 1)


def layout() -> EventLayout:
    return event_layout(database()[0])


def block(texts: list[str], splitter: Splitter | None = None) -> Block:
    splitter = splitter or FastParser(database()[0])
    buffer = bytearray(",".join([*texts, LAST]).encode() + b"]")
    cut = splitter.split(buffer, True)
    assert (cut.block.events, cut.ended) == (len(texts) + 1, True)
    return cut.block


def tables(texts: list[str], *, full: bool) -> dict[str, list[dict[str, Any]]]:
    """The rows of every raw table, with args and raw as values."""
    con, flattener = database()
    flattener.add(block(texts, TextSplitter() if full else None))
    flattener.finish()
    found = {}
    for name in layout().kinds:
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
            "uid",
            "stream",
        ]
        key = draw(st.sampled_from([*target, *new]))
        if draw(st.booleans()):
            target[key] = draw(VALUES)
        else:
            target.pop(key, None)
    separators = draw(st.sampled_from([(",", ":"), (", ", ": "), (" ,\n ", " :\t")]))
    return json.dumps(event, separators=separators, ensure_ascii=draw(st.booleans()))


def left(texts: list[str], *, full: bool) -> list[tuple[str | None, str | None]]:
    """The args and raw of every event, as they are written, in the order of the file."""
    con, flattener = database()
    flattener.add(block(texts, TextSplitter() if full else None))
    flattener.finish()
    select = " UNION ALL ".join(
        f"SELECT event_id, args, raw FROM raw_{name}" for name in layout().kinds
    )
    found = con.execute(f"SELECT args, raw FROM ({select}) ORDER BY event_id").fetchall()
    for name in layout().kinds:
        con.execute(f"TRUNCATE raw_{name}")
    return found[:-1]
