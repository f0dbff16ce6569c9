"""A store that fails while a warehouse is written there: one line each, and whole traces only."""

from __future__ import annotations

import os
import random
import signal
import socket
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import pytest

import tracewh
from tests.forked import start_forked
from tests.storage.remote.test_object_store import OBJECTS, names, operators, trace
from tracewh.ingest import ingest_trace
from tracewh.ingest.api import FileResult, IngestError
from tracewh.schema import tables
from tracewh.storage.staging import scratch
from tracewh.views.listing import Listing

KILLS = 4


@pytest.fixture
def logs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """Traces that are committed one after the other."""
    monkeypatch.setattr(ingest_trace, "COMMITS_AT_ONCE", 1)
    return [trace(tmp_path / "run" / f"w{number}.json", str(number)) for number in range(3)]


def second(logs: list[Path], url: str, happens: Callable[[], object]) -> tuple[str, str]:
    """Why the second file of three is refused, where something happens after the first, and where."""

    def on_result(outcome: FileResult) -> None:
        if outcome.source == logs[0]:
            happens()

    first, second, _ = tracewh.ingest(logs, url, jobs=1, on_result=on_result)
    assert (first.status, first.reason) == ("ingested", "")
    assert second.status == "refused"
    said, _, where = second.reason.rpartition(": ")
    return said, where.rpartition("/")[0]


def ask(method: str, url: str, data: str = "") -> None:
    with urlopen(Request(url, data.encode(), {"Content-Type": "text/plain"}, method=method)):
        pass


def test_a_permission_that_is_lost(s3: Any, logs: list[Path]) -> None:
    url = f"{s3.url}/lost"
    reset = f"{s3.endpoint}/moto-api/reset-auth"
    try:
        said = second(logs, url, lambda: ask("POST", reset, "0"))
    finally:
        ask("POST", reset, "inf")
    no_access = (
        "the store denies access; check AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE"
    )
    assert said == (no_access, f"{url}/data/run=run/worker=w1/span=default")
    assert list(operators(url)) == [("run", "w0", "default")]
    assert [one.status for one in tracewh.ingest(logs, url)] == [
        "unchanged",
        "ingested",
        "ingested",
    ]
    assert sorted(operators(url).values()) == ["0", "1", "2"]


def test_a_bucket_that_is_gone(s3: Any, logs: list[Path]) -> None:
    s3.filesystem.create_dir("doomed")

    def doom() -> None:
        s3.filesystem.delete_dir_contents("doomed")
        ask("DELETE", f"{s3.endpoint}/doomed")

    assert second(logs, "s3://doomed/wh", doom) == (
        "the bucket does not exist; create it, or name another",
        "s3://doomed/wh/data/run=run/worker=w1/span=default",
    )


@contextmanager
def forwarded(port: int) -> Iterator[tuple[int, Callable[[], None]]]:
    """A port that leads to another one, and what cuts it off."""
    listening = socket.create_server(("127.0.0.1", 0))
    opened: list[socket.socket] = []

    def pump(source: socket.socket, sink: socket.socket) -> None:
        try:
            while data := source.recv(1 << 16):
                sink.sendall(data)
        except OSError:
            pass

    def accept() -> None:
        while True:
            try:
                ends = (listening.accept()[0], socket.create_connection(("127.0.0.1", port)))
            except OSError:
                return
            opened.extend(ends)
            for pair in (ends, ends[::-1]):
                threading.Thread(target=pump, args=pair, daemon=True).start()

    def cut() -> None:
        listening.shutdown(socket.SHUT_RDWR)
        for end in (listening, *opened):
            end.close()

    threading.Thread(target=accept, daemon=True).start()
    try:
        yield listening.getsockname()[1], cut
    finally:
        listening.close()


def test_a_store_that_goes_down(s3: Any, logs: list[Path], monkeypatch: pytest.MonkeyPatch) -> None:
    url = f"{s3.url}/down"
    unreached = "the store cannot be reached; check S3_ENDPOINT and AWS_REGION"
    port = int(s3.endpoint.rpartition(":")[2])
    with forwarded(port) as (port, cut), monkeypatch.context() as patch:
        patch.setenv("S3_ENDPOINT", f"http://127.0.0.1:{port}")
        said = second(logs, url, cut)
        with pytest.raises(IngestError) as error:
            tracewh.ingest(logs, url)
    assert said == (unreached, f"{url}/data/run=run/worker=w1/span=default")
    assert str(error.value) == f"{url}: {unreached}"
    assert list(operators(url).values()) == ["0"]


def test_a_bucket_that_is_not_there(store: Any, logs: list[Path]) -> None:
    url = store.url.replace("traces", "no-such-bucket") + "/wh"
    with pytest.raises(IngestError) as error:
        tracewh.ingest(logs, url)
    assert str(error.value) == f"{url}: the bucket does not exist; create it, or name another"


@pytest.mark.parametrize("url", ["hdfs://host:9000/wh", "webhdfs://host/wh", "memory://x/wh"])
def test_where_nothing_is_written(logs: list[Path], url: str) -> None:
    with pytest.raises(IngestError) as error:
        tracewh.ingest(logs, url)
    assert str(error.value) == (
        f"{url}: tracewh can only read a warehouse there; write it to a folder and copy that, or to S3, "
        "Google Cloud or Azure"
    )


def test_no_room_here(s3: Any, logs: list[Path], monkeypatch: pytest.MonkeyPatch) -> None:
    """A trace is made in a temporary folder first."""
    monkeypatch.setattr(tempfile, "tempdir", "/nowhere")
    with pytest.raises(IngestError) as error:
        tracewh.ingest(logs, f"{s3.url}/room")
    assert str(error.value) == (
        "cannot write to the temporary folder /nowhere: No such file or directory; set TMPDIR"
    )


def test_what_a_living_ingest_writes_stays() -> None:
    with scratch() as one, scratch() as other:
        assert one.path.is_dir() and other.path.is_dir()
    assert not one.path.parent.exists()


def test_kills_while_it_uploads(
    s3: Any, logs: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By turns of an ingest that goes on, and of one that replaces everything."""
    url = f"{s3.url}/killed"
    (tmp_path / "tmp").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "tmp"))
    seed = random.randrange(10**6)
    moments = random.Random(seed)

    killed = 0
    for turn in range(KILLS):
        moment = moments.randrange(1, 2 * OBJECTS)
        force = ["--force"] if turn % 2 else []
        process = start_forked(
            tmp_path / "log", "ingest", logs[0].parent, "-w", url, "--jobs", "2", *force
        )
        with s3.log.open("rb") as log:
            log.seek(0, os.SEEK_END)
            uploads = 0
            while uploads < moment and process.is_alive():
                uploads += log.read().count(b'"PUT ')
                time.sleep(0.005)
        process.kill()
        process.join()
        killed += process.exitcode == -signal.SIGKILL
        if any("_manifest" in name for name in names(s3, "killed")):
            assert all(one.files.keys() == tables().keys() for one in Listing.of(url).traces), seed
            seen = operators(url)
            assert {key[1]: f"w{name}" for key, name in seen.items()} == {k[1]: k[1] for k in seen}
    assert killed > KILLS / 2, seed
    assert os.listdir(tmp_path / "tmp"), seed
    monkeypatch.setattr(tempfile, "tempdir", None)
    assert {one.status for one in tracewh.ingest(logs, url)} <= {"ingested", "unchanged"}, seed
    assert sorted(operators(url).values()) == ["0", "1", "2"], seed
    assert os.listdir(tmp_path / "tmp") == [], seed
