"""Traces are taken in once they are whole, and never before."""

from __future__ import annotations

import gzip
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace

import pytest

import tracewh
from tracewh.ingest.api import FileResult, IngestError, drop, ingest
from tracewh.ingest.read import reader
from tracewh.ingest.sources.discover import Source
from tracewh.ingest.watch import Watch

EVENTS = [
    {"ph": "X", "cat": "cpu_op", "name": f"op{i}", "pid": 1, "tid": 2, "ts": 5 * i, "dur": 1}
    for i in range(200)
]
#: As torch writes it: an event a line, so that a file may be cut between two.
TEXT = '{"schemaVersion": 1, "traceEvents": [\n' + ",\n".join(map(json.dumps, EVENTS)) + "\n]}\n"


class Watched:
    """A log folder that is watched, and what was said of its files."""

    def __init__(self, folder: Path, run: str | None = None) -> None:
        self.logs = folder / "logs"
        self.warehouse = folder / "wh"
        self.left: list[tuple[str, str]] = []

        def on_left(source: Source, reason: str) -> None:
            self.left.append((source.path.name, reason))

        self.watch = Watch([self.logs], self.warehouse, on_left=on_left, run=run)

    def write(self, name: str, data: str | bytes) -> Path:
        path = self.logs / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data.encode() if isinstance(data, str) else data)
        return path

    def scan(self) -> list[tuple[str, str]]:
        """Name and fate of every file that a look tried."""
        return [(outcome.source.name, outcome.status) for outcome in self.watch.scan()]


@pytest.fixture
def watched(tmp_path: Path) -> Watched:
    return Watched(tmp_path)


def test_a_file_is_taken_in_at_the_second_look(watched: Watched) -> None:
    assert watched.scan() == []  # there is not even a folder
    watched.write("run/w.1.pt.trace.json", TEXT)
    assert watched.scan() == []
    assert watched.scan() == [("w.1.pt.trace.json", "ingested")]
    assert watched.scan() == watched.scan() == []
    watched.write("run/w.2.pt.trace.json.gz", gzip.compress(TEXT.encode()))
    assert watched.scan() == []
    [outcome] = watched.watch.scan()
    assert (outcome.run, outcome.worker, outcome.span, outcome.events) == ("run", "w", "2", 200)
    assert watched.left == []


@pytest.mark.parametrize("name", ["w.json", "w.json.gz"])
@pytest.mark.parametrize("pause", [1, 2, 5], ids="{} looks per piece".format)
def test_a_file_that_is_written_in_pieces(watched: Watched, name: str, pause: int) -> None:
    """By a writer that pauses for as long as several looks, also behind a whole event or member."""
    data = TEXT.encode()
    ends = [0, 10, data.index(b"\n") + 1, *range(5000, len(data), 5000), len(data)]
    pieces = [data[a:b] for a, b in pairwise(ends)]
    between = data.index(b"},", 7000) + 1
    pieces[2:4] = [data[ends[2] : between], data[between : ends[4]]]
    assert b"".join(pieces) == data
    if name.endswith(".gz"):
        pieces = [gzip.compress(piece) for piece in pieces]  # members that are whole
        pieces = [half for p in pieces for half in (p[: len(p) // 2], p[len(p) // 2 :])]
    written = b""
    for piece in pieces:
        assert not list(watched.warehouse.glob("data/*"))
        written += piece
        watched.write(f"run/{name}", written)
        if len(written) < sum(map(len, pieces)):
            assert [watched.scan() for _ in range(pause)] == [[]] * pause
    watched.scan()
    assert watched.scan() == [(name, "ingested")]
    with tracewh.open(watched.warehouse) as opened:
        assert opened.sql("SELECT count(*) FROM host_events").fetchall() == [(200,)]
    assert (len(watched.left) > len(pieces) / 2) == (pause > 1)


def test_what_stays_no_whole_trace_is_said_once(watched: Watched) -> None:
    path = watched.write("run/w.json", TEXT[:5000])
    watched.write("run/notes.json", '{"hello": "world"}')
    for _ in range(4):
        assert watched.scan() == []
    assert [name for name, _ in watched.left] == ["notes.json", "w.json"]
    assert watched.left[0][1] == "not a Kineto trace: a JSON object without traceEvents"
    assert watched.left[1][1] == "it is still being written, or was cut off"
    path.write_text(TEXT)
    assert [watched.scan(), watched.scan()] == [[], [("w.json", "ingested")]]
    assert len(watched.left) == 2


@pytest.mark.parametrize("end", [b"\n]", b"]", b"\n", b",\n"], ids=repr)
def test_a_bare_list_is_whole_with_its_bracket(watched: Watched, end: bytes) -> None:
    """Without it ingest takes such a file; but its writer may be about to go on."""
    watched.write("run/w.json", b"[" + ",\n".join(map(json.dumps, EVENTS)).encode() + end)
    assert watched.scan() == []
    assert watched.scan() == ([("w.json", "ingested")] if b"]" in end else [])


def test_files_that_are_in_are_not_read_again(
    watched: Watched, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ingest([watched.write("run/w.json", TEXT)], watched.warehouse)
    monkeypatch.setattr(reader.TraceReader, "blocks", lambda _: 1 / 0)
    again = Watched(tmp_path)
    assert [again.scan() for _ in range(3)] == [[], [], []]


def test_a_trace_that_is_written_again_replaces_the_old_one(watched: Watched) -> None:
    watched.write("run/w.json", TEXT)
    watched.scan(), watched.scan()
    path = watched.write("run/w.json", TEXT.replace("op199", "new"))
    os.utime(path, ns=(1, 1))
    assert [watched.scan(), watched.scan()] == [[], [("w.json", "ingested")]]
    with tracewh.open(watched.warehouse) as opened:
        assert opened.sql("SELECT count(*), max(name = 'new') FROM host_events").fetchall() == [
            (200, True)
        ]


def test_a_warehouse_that_is_removed_is_filled_again(watched: Watched) -> None:
    old, new = [("w.1.pt.trace.json", "ingested")], [("w.2.pt.trace.json", "ingested")]
    watched.write("run/w.1.pt.trace.json", TEXT)
    assert [watched.scan(), watched.scan()] == [[], old]
    drop(watched.warehouse, "run")
    assert [watched.scan(), watched.scan()] == [[], []]  # what was dropped stays away
    shutil.rmtree(watched.warehouse)
    watched.write("run/w.2.pt.trace.json", TEXT)
    assert [watched.scan(), watched.scan()] == [[], old + new]
    assert [watched.scan(), watched.scan()] == [[], []]
    again = Watched(watched.warehouse.parent)  # finds that all are stored
    assert [again.scan(), again.scan()] == [[], []]
    shutil.rmtree(watched.warehouse)
    assert [again.scan(), again.scan()] == [[], old + new]


def test_run_names_all_files(tmp_path: Path) -> None:
    """Whatever folders come later: a name that depended on them would change under a trace."""
    watched = Watched(tmp_path, run="mine")
    watched.write("a/w.json", TEXT)
    watched.scan(), watched.scan()
    watched.write("b/w.json", TEXT.replace("op", "other"))
    watched.scan()
    [outcome] = watched.watch.scan()
    assert (outcome.run, outcome.span) == ("mine", "2")


def test_run_names_captures_of_graphs_as_such(tmp_path: Path) -> None:
    """Views look for the graphs of a run in the run below it that is called capture_traces."""
    watched = Watched(tmp_path, run="mine")
    watched.write("a/w.json", TEXT)
    watched.write("a/capture_traces/graph_0.json", TEXT.replace("op", "other"))
    watched.scan()
    assert {outcome.run for outcome in watched.watch.scan()} == {"mine", "mine/capture_traces"}


def test_a_whole_file_that_was_refused_is_tried_again(
    watched: Watched, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ever more rarely, and at once when it changes."""
    from tracewh.ingest import ingest_trace

    def fail(*_: object) -> int:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(ingest_trace, "write_traces", fail)
        path = watched.write("run/w.json", TEXT)
        tries = [len(watched.scan()) for _ in range(16)]
        assert tries == [0, 1, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1]
    os.utime(path, ns=(1, 1))
    assert [watched.scan(), watched.scan()] == [[], [("w.json", "ingested")]]


def test_a_warehouse_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "wh").touch()
    with pytest.raises(IngestError) as error:
        Watched(tmp_path)
    assert str(error.value) == f"cannot write the warehouse {tmp_path}/wh: Not a directory"


TRAIN = """
import sys, time
import torch
from torch.profiler import profile, schedule, tensorboard_trace_handler
model = torch.nn.Linear(64, 64)
for use_gzip in (False, True):
    handler = tensorboard_trace_handler(sys.argv[1], worker_name=f"w{int(use_gzip)}", use_gzip=use_gzip)
    with profile(schedule=schedule(wait=0, warmup=1, active=2, repeat=2), on_trace_ready=handler,
                 record_shapes=True, with_stack=True) as profiler:
        for _ in range(6):
            model(torch.rand(8, 64)).sum().backward()
            profiler.step()
            time.sleep(0.1)
"""


def events(path: Path) -> int:
    data = path.read_bytes()
    text = gzip.decompress(data) if path.suffix == ".gz" else data
    return len(json.loads(text)["traceEvents"])


@pytest.fixture
def watching(tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    """The command, which watches the folder logs/."""
    main = "from tracewh.cli.app import run; run()"
    logs, warehouse = tmp_path / "logs", tmp_path / "wh"
    watching = subprocess.Popen(
        [sys.executable, "-c", main, "watch", logs, "-w", warehouse, "--interval", "1"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert watching.stderr is not None
    try:
        first = watching.stderr.readline()
        assert first == f"tracewh: watching {logs}, every 1 s; press Ctrl-C to stop\n"
        yield watching
    finally:
        watching.kill()
        watching.communicate()


def test_a_training_job(tmp_path: Path, watching: subprocess.Popen[str]) -> None:
    """torch writes traces, plain and gzip, while the command watches; then it is interrupted."""
    logs, warehouse = tmp_path / "logs" / "run", tmp_path / "wh"
    assert watching.stderr is not None
    subprocess.run([sys.executable, "-c", TRAIN, logs], check=True, capture_output=True)
    lines = [watching.stderr.readline() for _ in range(4)]
    time.sleep(0.5)
    watching.send_signal(signal.SIGINT)
    out, err = watching.communicate(timeout=60)
    assert (watching.returncode, out, err) == (0, "", "tracewh: stopped\n")
    written = sorted(logs.iterdir())
    assert [path.suffix for path in written] == [".json", ".json", ".gz", ".gz"]
    assert sorted(line.partition(": ingested ")[0] for line in lines) == [*map(str, written)]
    with tracewh.open(warehouse) as opened:
        found = opened.sql("SELECT source_path, events FROM traces ORDER BY ALL").fetchall()
    assert found == [(str(path), events(path)) for path in written]
    assert all(each.status == "unchanged" for each in ingest([logs], warehouse))


def test_it_can_be_terminated(tmp_path: Path, watching: subprocess.Popen[str]) -> None:
    """As the system does when a job ends."""
    assert watching.stderr is not None
    path = tmp_path / "logs" / "run" / "w.json"
    path.parent.mkdir(parents=True)
    path.write_text(TEXT)
    assert watching.stderr.readline().startswith(f"{path}: ingested 200 events, ")
    while not (tmp_path / "wh" / "tracewh.duckdb").exists():
        time.sleep(0.01)
    time.sleep(0.5)
    watching.send_signal(signal.SIGTERM)
    out, err = watching.communicate(timeout=60)
    assert (watching.returncode, out, err) == (0, "", "tracewh: stopped\n")
    assert [each.status for each in ingest([path], tmp_path / "wh")] == ["unchanged"]


def test_what_it_says(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A line for what is taken in and what is left alone; errors once; then it goes on."""
    from tracewh.cli.app import main
    from tracewh.cli.commands import watch as command

    logs, warehouse = tmp_path / "logs", tmp_path / "wh"
    (logs / "run").mkdir(parents=True)
    good, bad = logs / "run" / "a.json", logs / "run" / "b.json"
    good.write_text(TEXT)
    bad.write_text("{}")
    real: Callable[[Watch], list[FileResult]] = Watch.scan
    slept: list[int] = []

    def scan(self: Watch) -> list[FileResult]:
        if len(slept) == 5:
            raise KeyboardInterrupt
        if len(slept) in (2, 3):
            raise IngestError("cannot write the warehouse")
        return real(self)

    monkeypatch.setattr(Watch, "scan", scan)
    # Not time.sleep itself, which other threads call, too.
    monkeypatch.setattr(command, "time", SimpleNamespace(sleep=slept.append))
    assert main(["watch", str(logs), "-w", str(warehouse), "--interval", "7"]) == 0
    assert slept == [7] * 5
    out, err = capsys.readouterr()
    first, second, third, fourth, last = err.splitlines()
    assert (out, last) == ("", "tracewh: stopped")
    assert first == f"tracewh: watching {logs}, every 7 s; press Ctrl-C to stop"
    assert second == (
        f"{bad}: skipped until it changes: not a Kineto trace: a JSON object without traceEvents"
    )
    assert third.startswith(f"{good}: ingested 200 events, ")
    assert fourth == "cannot write the warehouse; trying again"
    assert (warehouse / "tracewh.duckdb").is_file()
