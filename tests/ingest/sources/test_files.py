"""Standard input as a trace, and what a search lists."""

from __future__ import annotations

import gzip
import io
import os
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from unittest.mock import Mock

import pytest

import tracewh
from tests.forked import run_forked
from tracewh.errors import IngestError
from tracewh.ingest.sources import files
from tracewh.ingest.sources.discover import discover
from tracewh.ingest.watch import Watch

EVENT = '{"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": %s, "dur": 5}'
TRACE = ('{"schemaVersion": 1, "traceEvents": [' + EVENT % "10" + "]}").encode()
#: Decimals that count nanoseconds, as nightly builds of 2024 wrote: such a file is read twice.
NANOSECONDS = [5, 10, 20, 123]
UNPADDED = (
    '{"schemaVersion": 1, "traceEvents": ['
    + ",\n".join(EVENT % f"1719792000000000.{ns}" for ns in NANOSECONDS)
    + "]}"
).encode()


def ingest(stdin: bytes, warehouse: Path, *words: str) -> tuple[int | None, str]:
    """What the command line makes of a pipe: its exit code, and what it says on stderr."""
    log = warehouse.with_name("log")
    return run_forked(log, "ingest", "-", "-w", warehouse, *words, stdin=stdin)


def rows(warehouse: Path) -> list[tuple[object, ...]]:
    with tracewh.open(warehouse) as opened:
        sql = "FROM traces SELECT run, worker, span, source_path, source_bytes, events ORDER BY ALL"
        return opened.sql(sql).fetchall()


@pytest.mark.parametrize("pack", [bytes, gzip.compress], ids=["plain", "gzip"])
def test_stdin(tmp_path: Path, pack: Callable[[bytes], bytes]) -> None:
    stored = pack(TRACE)
    code, said = ingest(stored, tmp_path / "wh")
    assert (code, said.splitlines()[-1][:19]) == (0, "tracewh: 1 ingested")
    assert rows(tmp_path / "wh") == [("stdin", "stdin", "default", "stdin", len(stored), 1)]
    assert "1 unchanged" in ingest(stored, tmp_path / "wh")[1]
    assert ingest(stored, tmp_path / "wh", "--run", "mine")[0] == 0
    assert [run for run, *_ in rows(tmp_path / "wh")] == ["mine", "stdin"]
    assert list((tmp_path / "wh" / ".staging").iterdir()) == []


def test_another_trace_through_stdin_is_another_span(tmp_path: Path) -> None:
    for text in (TRACE, TRACE.replace(b"5", b"6"), TRACE):
        assert ingest(text, tmp_path / "wh")[0] == 0
    assert [span for _, _, span, *_ in rows(tmp_path / "wh")] == ["2", "default"]


def test_stdin_that_is_read_twice(tmp_path: Path) -> None:
    code, said = ingest(UNPADDED, tmp_path / "wh")
    assert code == 0, said
    with tracewh.open(tmp_path / "wh") as warehouse:
        found = warehouse.sql(
            "FROM host_events SELECT start_ns % 1000 ORDER BY start_ns"
        ).fetchall()
    assert [ns for (ns,) in found] == NANOSECONDS


def test_stdin_that_is_no_trace(tmp_path: Path) -> None:
    code, said = ingest(b"", tmp_path / "wh")
    assert code == 1
    assert "stdin: refused: not a Kineto trace: the file is empty" in said


def test_stdin_that_is_a_terminal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    for stdin in (Terminal(), None):
        monkeypatch.setattr(sys, "stdin", stdin)
        with pytest.raises(IngestError) as error:
            tracewh.ingest("-", tmp_path / "wh")
        assert str(error.value) == "- reads standard input, and no trace is piped into it"


def test_stdin_beside_files_and_twice(tmp_path: Path) -> None:
    file = tmp_path / "run" / "w.json"
    file.parent.mkdir()
    file.write_bytes(TRACE)
    sources = discover(["-", file, "-"], "given")
    assert [(s.run, s.worker, s.path) for s in sources] == [
        ("given/run", "w", file),
        ("given/stdin", "stdin", files.STDIN),
    ]


def test_a_folder_is_listed_once_for_all_files_that_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(20):
        (tmp_path / f"w.{number:02}.json").touch()
    paths = sorted(tmp_path.iterdir())
    listdir = Mock(wraps=os.listdir)
    monkeypatch.setattr(os, "listdir", listdir)
    found = discover(paths)
    assert [source.span for source in found] == [str(number) for number in range(1, 21)]
    assert listdir.call_count == 1


def test_a_named_pipe_is_read_as_standard_input_is(tmp_path: Path) -> None:
    pipe = tmp_path / "run" / "w.json"
    pipe.parent.mkdir()
    os.mkfifo(pipe)
    other = TRACE.replace(b'"ts"', b'"new": 1, "ts"')
    assert other != TRACE
    spans = []
    for content in (TRACE, TRACE, other):
        with ThreadPoolExecutor(1) as pool:
            pool.submit(pipe.write_bytes, content)
            [outcome] = tracewh.ingest([pipe, pipe], tmp_path / "wh")
        assert (outcome.run, outcome.worker, outcome.events) == ("run", "w", 1)
        assert outcome.source_bytes == len(content)
        spans.append((outcome.status, outcome.span))
    assert spans == [("ingested", "default"), ("unchanged", "default"), ("ingested", "2")]
    # No file takes the place of either: both have the same path.
    (file := tmp_path / "w.json").write_bytes(other)
    [outcome] = tracewh.ingest([file], tmp_path / "wh", run="run", force=True)
    assert outcome.span == "3"


def test_only_json_is_read_from_a_named_pipe(tmp_path: Path) -> None:
    """The name of a pipe does not open it before its copy is made."""
    pipe = tmp_path / "ncu.csv"
    os.mkfifo(pipe)
    with ThreadPoolExecutor(1) as pool:
        pool.submit(pipe.write_text, '"ID","Process ID","Kernel Name"')
        [outcome] = tracewh.ingest([pipe], tmp_path / "wh")
    assert outcome.reason.startswith("not a Kineto trace: a CSV table, which is read only if")


@pytest.mark.parametrize("name", ["w.csv", "w.sqlite", "w.parquet"])
def test_a_named_pipe_is_not_opened_to_recognise_it(tmp_path: Path, name: str) -> None:
    """Files of these names are those of other profilers, if their content says so."""
    os.mkfifo(tmp_path / name)
    [source] = discover([tmp_path / name])
    assert (source.reader, source.problem) == ("kineto", "")


def test_a_pipe_is_not_watched(tmp_path: Path) -> None:
    pipe = tmp_path / "w.json"
    os.mkfifo(pipe)
    with pytest.raises(IngestError) as error:
        Watch([pipe], tmp_path / "wh")
    assert str(error.value) == f"{pipe} is a pipe, which can be read once: tracewh ingest {pipe}"
