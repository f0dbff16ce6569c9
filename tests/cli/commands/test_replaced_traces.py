"""A query that cannot read a file runs once more: a trace may have been replaced while it ran."""

from __future__ import annotations

import io
import pickle
import shlex
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import duckdb
import pytest

import tracewh as library
from tests.cli.conftest import Command
from tracewh.cli.diagnostics import sql_error
from tracewh.cli.output.output import Output
from tracewh.cli.report import worker
from tracewh.cli.report.messages import Setup, Task, write
from tracewh.views.block_cache import BlockCache

SHOW = ("show", "operator_stats", "--run", "base")
QUERY = ("query", "SELECT name FROM host_events ORDER BY ALL")


@pytest.fixture
def copy(warehouse: Path, tmp_path: Path) -> Path:
    """A warehouse whose files may be damaged."""
    return Path(shutil.copytree(warehouse, tmp_path / "wh"))


@contextmanager
def damaged(warehouse: Path) -> Iterator[None]:
    """Let the files of the events be unreadable for a while, except for their footers: so are replaced files."""
    files = {path: path.read_bytes() for path in warehouse.glob("data/*/*/*/host_events.parquet")}
    assert files
    for path, content in files.items():
        footer = int.from_bytes(content[-8:-4], "little") + 8
        path.write_bytes(content[:4] + bytes(len(content) - 4 - footer) + content[-footer:])
    try:
        yield
    finally:
        for path, content in files.items():
            path.write_bytes(content)


def failing(times: int, warehouse: Path, call: Callable[..., Any]) -> Callable[..., Any]:
    """A function whose first calls find damaged files."""
    calls = []

    def called(*arguments: Any, **named: Any) -> Any:
        calls.append(1)
        if len(calls) > times:
            return call(*arguments, **named)
        with damaged(warehouse):
            return call(*arguments, **named)

    return called


@pytest.mark.parametrize("command", [SHOW, QUERY])
@pytest.mark.parametrize("is_file", [False, True])
def test_what_is_written_whole_is_written_again(
    tracewh: Command,
    copy: Path,
    monkeypatch: pytest.MonkeyPatch,
    command: tuple[str, ...],
    is_file: bool,
    tmp_path: Path,
) -> None:
    file = tmp_path / "rows.csv"
    options = ("--format", "csv", "-o", file) if is_file else ()
    expected = tracewh(*command, *options, "-w", copy)
    content = file.read_text() if is_file else expected.out
    assert (expected.code, expected.err, bool(content)) == (0, "", True)
    file.unlink(missing_ok=True)
    # A table on the screen is of rows that were read before.
    reads: tuple[Any, str] = (BlockCache, "execute")
    if is_file or command is QUERY:
        reads = (Output, "write")
    read = getattr(*reads)
    monkeypatch.setattr(*reads, failing(1, copy, read))
    found = tracewh(*command, *options, "-w", copy)
    assert (found.code, found.err, found.out) == (0, "", expected.out)
    assert not is_file or file.read_text() == content
    monkeypatch.setattr(*reads, failing(2, copy, read))
    found = tracewh(*command, *options, "-w", copy)
    assert (found.code, "damaged" in found.err) == (1, True)


def test_what_is_streamed_is_not_begun_again(
    tracewh: Command, copy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Output, "write", failing(1, copy, Output.write))
    found = tracewh(*QUERY, "--format", "csv", "-w", copy)
    assert (found.code, "damaged" in found.err) == (1, True)


@pytest.mark.parametrize(("times", "status"), [(0, 200), (1, 200), (2, 400)])
def test_serve_answers_again(
    copy: Path, monkeypatch: pytest.MonkeyPatch, times: int, status: int
) -> None:
    setup = io.BytesIO()
    write(setup, pickle.dumps(Setup(str(copy), 1000, 8)))
    child = worker.Child(io.BytesIO(setup.getvalue()), io.BytesIO())
    child._warehouse = worker._opened(child._setup)
    answer = failing(times, copy, worker.HANDLERS["query"])
    monkeypatch.setitem(worker.HANDLERS, "query", answer)
    found = child._run(Task("query", {"sql": QUERY[1]}))
    assert (found.status, b"damaged" in found.body) == (status, status == 400)
    child._warehouse.close()


def test_a_file_whose_footer_is_gone_is_a_damaged_trace(tracewh: Command, copy: Path) -> None:
    for path in copy.glob("data/run=base/*/*/host_events.parquet"):
        path.write_bytes(b"PAR1" + bytes(1000) + b"PAR1")
    found = tracewh(*SHOW, "-w", copy)
    assert found.code == 1
    assert "is damaged: host_events.parquet cannot be read; to repair:" in found.err
    moved = copy.rename(
        copy.with_name("it's \"mine\"'s")
    )  # the message of DuckDB has the path in quotes
    found = tracewh(*SHOW, "-w", moved)
    assert f" -w {shlex.quote(str(moved))}" in found.err


def test_a_warehouse_that_was_removed_is_not_a_damaged_trace(copy: Path) -> None:
    with library.open(copy) as opened:
        shutil.rmtree(copy / "data")

        def said() -> str:
            with pytest.raises(duckdb.Error) as failed:
                opened.sql("FROM host_events").fetchall()
            return sql_error(failed.value)

        assert said() == (
            f"{copy} is not a warehouse: it has no data/ folder; create a warehouse with "
            f"`tracewh ingest LOGDIR -w {copy}`"
        )
        (copy / "data" / "run=a" / "worker=b" / "span=c").mkdir(parents=True)
        assert (
            said() == f"{copy} holds no traces; ingest some with `tracewh ingest LOGDIR -w {copy}`"
        )
