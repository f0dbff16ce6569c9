"""Log folders in a store are watched as local ones are."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import fsspec
import pytest

from tracewh.cli.app import main
from tracewh.errors import IngestError
from tracewh.ingest.read import reader
from tracewh.ingest.watch import Watch

EVENT = {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": 10, "dur": 5}
TRACE = json.dumps({"schemaVersion": 1, "traceEvents": [EVENT]}).encode()


def test_a_trace_is_taken_in_once_it_is_whole(
    store: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = f"{store.url}/watched"
    left: list[tuple[str, str]] = []
    errors: list[tuple[str, str]] = []

    def watch() -> Watch:
        return Watch(
            [url],
            tmp_path / "wh",
            on_left=lambda source, reason: left.append((str(source.path), reason)),
            on_store_error=lambda *said: errors.append(said),
        )

    looks = watch()
    assert looks.scan() == []  # there is no such folder yet
    store.put("watched/run/w.json", TRACE)
    store.put("watched/run/no.json", b"{}")
    assert looks.scan() == []
    [outcome] = looks.scan()
    assert (str(outcome.source), outcome.status) == (f"{url}/run/w.json", "ingested")
    assert left == [(f"{url}/run/no.json", "not a Kineto trace: a JSON object without traceEvents")]
    store.filesystem.delete_file("traces/watched/run/no.json")
    monkeypatch.setattr(reader.TraceReader, "blocks", lambda _: 1 / 0)  # is not read again
    again = watch()
    assert looks.scan() == looks.scan() == again.scan() == again.scan() == []
    assert errors == []


def test_a_file_whose_time_nobody_knows_is_compared(tmp_path: Path) -> None:
    fsspec.filesystem("memory").pipe("/untimed/run/w.json", TRACE)
    for status in ("ingested", "unchanged"):
        looks = Watch(["memory:///untimed/run"], tmp_path / "wh")
        assert [[one.status for one in looks.scan()] for _ in range(3)] == [[], [status], []]


def test_a_store_that_cannot_be_asked_is_named(
    s3: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs" / "w.json").write_bytes(TRACE)
    monkeypatch.setenv("S3_ENDPOINT", "http://127.0.0.1:1")
    errors: list[tuple[str, str]] = []
    looks = Watch(
        [f"{s3.url}/x", tmp_path / "logs"],
        tmp_path / "wh",
        on_store_error=lambda *said: errors.append(said),
    )
    looks.scan()
    assert [outcome.status for outcome in looks.scan()] == ["ingested"]
    said = f"{s3.url}/x: the store cannot be reached; check S3_ENDPOINT and AWS_REGION"
    assert errors == [(f"{s3.url}/x", said)] * 2


def test_standard_input_cannot_be_watched(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["watch", "-", "-w", str(tmp_path / "wh")]) == 1
    said = "tracewh: - is standard input, which can be read once: tracewh ingest -\n"
    assert capsys.readouterr().err == said
    assert not (tmp_path / "wh").exists()


@pytest.mark.parametrize(
    ("run", "said"),
    [
        ("", "a run needs a name"),
        (
            "x" * 252,
            f"the name of a run is too long for a folder, 256 bytes with 'run=': {'x' * 40}...",
        ),
    ],
)
def test_a_name_that_no_run_can_have(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], run: str, said: str
) -> None:
    assert main(["watch", str(tmp_path), "-w", str(tmp_path / "wh"), "--run", run]) == 1
    assert capsys.readouterr().err == f"tracewh: {said}; give it one with --run\n"


def test_into_a_store(s3: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    url = f"{s3.url}/watched-into"
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "w.json").write_bytes(TRACE)
    looks = Watch([tmp_path], url)
    assert [[one.status for one in looks.scan()] for _ in range(3)] == [[], ["ingested"], []]
    monkeypatch.setattr(reader.TraceReader, "blocks", lambda _: 1 / 0)  # is not read again
    again = Watch([tmp_path], url)
    assert again.scan() == again.scan() == []
    with pytest.raises(IngestError) as error:
        Watch([tmp_path], "s3://no-such-bucket/wh")
    said = "s3://no-such-bucket/wh: the bucket does not exist; create it, or name another"
    assert str(error.value) == said
