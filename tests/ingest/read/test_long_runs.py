"""A byte that stands hundreds of millions of times in a row costs no more than its reading."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tracewh.ingest.read import buffers, chunks, decompress, json_repair, reader, resync
from tracewh.ingest.read.buffers import BLANKS, Blanks, TextBuffer
from tracewh.ingest.read.reader import TraceReader

EVENT = b'{"ph": "X", "cat": "cpu_op", "name": "one", "pid": 1, "tid": 2, "ts": 5, "dur": 3}'
#: A file, cut where the blanks are put, and whether they are in a text.
PLACES = {
    "at the start": (b"", b'{"traceEvents": [%b, %b], "a": 1}'),
    "before a list": (b"", b"[%b, %b]"),
    "before the first key": (b"{", b'"traceEvents": [%b, %b], "a": 1}'),
    "behind the colon": (b'{"traceEvents":', b'[%b, %b], "a": 1}'),
    "before the first event": (b'{"traceEvents": [', b'%b, %b], "a": 1}'),
    "before a comma": (b'{"traceEvents": [%b', b', %b], "a": 1}'),
    "between events": (b'{"traceEvents": [%b,', b'%b], "a": 1}'),
    "between keys": (b'{"traceEvents": [%b,{"ph": "X",', b'"b": 1}], "a": 1}'),
    "before a value": (b'{"traceEvents": [%b,{"ph":', b'"X", "b": 1}], "a": 1}'),
    "before the end": (b'{"traceEvents": [%b, %b', b'], "a": 1}'),
    "behind the events": (b'{"traceEvents": [%b, %b]', b', "a": 1}'),
    "at the end": (b'{"traceEvents": [%b, %b], "a": 1}', b""),
    "in a name": (b'{"traceEvents": [%b, {"ph": "X", "name": "', b'"}], "a": 1}'),
    "in the metadata": (b'{"b": "', b'", "traceEvents": [%b, %b], "a": 1}'),
}


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Everything a thousandth of its size."""
    monkeypatch.setattr(decompress, "READ_BYTES", 1000)
    monkeypatch.setattr(buffers, "MOST_BLANKS", 1000)
    monkeypatch.setattr(reader, "FIRST_BYTES", 1000)
    monkeypatch.setattr(reader, "BLOCK_BYTES", 2000)


def read(file: Path, content: bytes) -> tuple[int, int, dict[str, int], int]:
    """How many events there are and were skipped, what was repaired, and the longest text held."""
    file.write_bytes(content)
    held = [0]

    class Measured(TextBuffer):
        def grow(self, size: int = 1) -> bool:
            grown = super().grow(size)
            held[0] = max(held[0], len(self.buffer))
            return grown

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reader, "TextBuffer", Measured)
        opened = TraceReader(file)
        for _ in opened.blocks():
            pass
    return opened.events, opened.skipped_events, dict(opened.reasons), held[0]


@pytest.mark.parametrize("blank", [b" ", b"\n", b"\t\r", b"\0"])
@pytest.mark.parametrize("place", PLACES)
@pytest.mark.usefixtures("small")
def test_blanks_are_not_held(tmp_path: Path, place: str, blank: bytes) -> None:
    before, after = (part.replace(b"%b", EVENT) for part in PLACES[place])
    events, skipped, reasons, held = read(tmp_path / "t.json", before + blank * 500_000 + after)
    assert (events, skipped) == (2, 0)
    control = reasons.keys() & {"control_characters"}  # which NUL is, and blanks inside a text
    assert reasons == {"long_blanks": 1, **dict.fromkeys(control, 1)}
    assert held < 10_000


@pytest.mark.usefixtures("small")
def test_few_blanks_are_no_long_run(tmp_path: Path) -> None:
    content = (
        b'{"traceEvents": [' + EVENT + b" " * 900 + b"," + b"\n" * 900 + EVENT + b"]}" + b"\0" * 900
    )
    assert read(tmp_path / "t.json", content)[:3] == (2, 0, {})


@settings(max_examples=200, deadline=None)
@given(st.lists(st.text("a \0\n", max_size=9).map(str.encode)), st.integers(1, 9))
def test_of_each_run_the_first_blanks_are_kept(parts: list[bytes], most: int) -> None:
    """However the runs are cut into chunks of at most so many bytes."""
    chunks = [part[:most] for part in parts if part]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(buffers, "MOST_BLANKS", most)
        blanks = Blanks(iter(chunks))
        found = b"".join(blanks)
    # A run that began inside a chunk is cut in the next.
    whole = b"".join(chunks)
    assert found.translate(None, BLANKS) == whole.translate(None, BLANKS)
    runs = [len(run) for run in whole.replace(b"a", b"|").split(b"|")]
    kept = [len(run) for run in found.replace(b"a", b"|").split(b"|")]
    assert kept == [min(run, most) for run in runs]
    assert blanks.runs == sum(run > most for run in runs)


@pytest.mark.parametrize("few", [0, 1, 64])
def test_separators_behind_long_runs(monkeypatch: pytest.MonkeyPatch, few: int) -> None:
    random.seed(1)
    data = b"".join(random.choice([b"}", b",", b"{", b" " * 3, b"\n" * 500]) for _ in range(5000))
    commas = (at for at in range(len(data)) if data[at : at + 1] == b",")
    expected = [at for at in commas if is_separator(data, at)]
    monkeypatch.setattr(chunks, "FEW_BLANKS", few)
    assert chunks.find_separators(np.frombuffer(bytearray(data), np.uint8)).tolist() == expected


def is_separator(data: bytes, at: int) -> bool:
    """Whether the comma at a place is between two objects."""
    return data[:at].rstrip()[-1:] == b"}" and data[at + 1 :].lstrip()[:1] == b"{"


@pytest.mark.parametrize(
    ("run", "reasons"),
    [(b",", {"stray_commas": 200_000}), (b", ", {"stray_commas": 200_000}),
     (b"]", {"stray_bytes": 200_000}), (b"}", {"stray_bytes": 200_000})],
)  # fmt: skip
def test_a_run_between_events_is_read_in_one_go(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run: bytes, reasons: dict[str, int]
) -> None:
    """A look at what follows a bracket is a look at all of the run, so few of them are allowed."""
    looks: list[Any] = []
    monkeypatch.setattr(resync, "_is_end", counted(resync._is_end, looks))
    monkeypatch.setattr(resync, "_skip", counted(resync._skip, looks))
    content = b'{"traceEvents": [' + EVENT + run * 200_000 + EVENT + b"]}"
    assert read(tmp_path / "t.json", content)[:3] == (2, 0, reasons | separator(run))
    assert len(looks) < 100


def separator(run: bytes) -> dict[str, int]:
    """Of many commas one is due; where none is, it is missing."""
    return {"stray_commas": 199_999} if b"," in run else {}


def counted(function: Callable[..., Any], calls: list[Any]) -> Callable[..., Any]:
    def call(*args: Any) -> Any:
        calls.append(args)
        return function(*args)

    return call


def test_commas_inside_an_event_are_read_in_one_go(monkeypatch: pytest.MonkeyPatch) -> None:
    skips: list[Any] = []
    monkeypatch.setattr(json_repair.Scanner, "_skip", counted(json_repair.Scanner._skip, skips))
    value = json_repair.Scanner(b'{"a": 1' + b", " * 100_000 + b'"b": 2}', 0).read()
    assert (value.text, value.causes) == (b'{"a": 1,"b": 2}', frozenset({"stray_commas"}))
    assert len(skips) < 20
