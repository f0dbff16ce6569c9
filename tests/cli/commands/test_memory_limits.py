"""A view that does not fit into its memory limit spills to a temporary folder, or fails with one line."""

from __future__ import annotations

import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import tracewh
from tests.cli.conftest import Command
from tests.cli.report.servers import visitor
from tests.conftest import made_once
from tests.storage.test_crashes import on_a_small_disk
from tracewh.storage import checks, compaction
from tracewh.views.warehouse import WarehouseError

__all__ = ["on_a_small_disk"]

EVENTS = 150_000
#: What 160 MB are too little for as well: where 120 are enough, DuckDB gets by with 100 on a busy machine.
COMPARISON = ("diff_operators", "--baseline", "large", "--experiment", "large", "--format", "csv")
NEEDS_MORE = (
    "the query needs more memory than its limit of 95.3 MiB; raise it with --memory-limit MB or "
    "TRACEWH_MEMORY_LIMIT=MB, or name a run and a worker"
)


@pytest.fixture(scope="session")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A trace with many operators and kernels, each with a long name of its own."""

    def write(folder: Path) -> None:
        with (folder / "a.pt.trace.json").open("w") as file:
            file.write('{"traceEvents":[{"ph":"X","cat":"user_annotation","name":"ProfilerStep#1",')
            file.write(f'"pid":1,"tid":1,"ts":0,"dur":{10 * EVENTS}}}')
            for i in range(EVENTS):
                file.write(
                    f',{{"ph":"X","cat":"cpu_op","name":"aten::op{i}_{"x" * 60}","pid":1,"tid":1,'
                    f'"ts":{10 * i},"dur":5,"args":{{"External id":{i}}}}}'
                    f',{{"ph":"X","cat":"kernel","name":"kernel{i}_{"y" * 60}","pid":0,"tid":7,'
                    f'"ts":{10 * i + 3},"dur":4,"args":{{"External id":{i},"stream":7}}}}'
                )
            file.write("]}")
        tracewh.ingest(folder / "a.pt.trace.json", folder / "wh", run="large")

    return made_once(tmp_path_factory, "large", write) / "wh"


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A temporary folder of the system's, for this test alone."""
    folder = tmp_path / "tmp"
    folder.mkdir()
    monkeypatch.setenv("TMPDIR", str(folder))
    monkeypatch.setattr(tempfile, "tempdir", None)
    return folder


def has_spilled(temporary: Path) -> bool:
    return any(temporary.glob("tracewh-tmp-*/spill/*"))


@pytest.mark.parametrize("view", ["operator_stats", "kernel_stats"])
def test_a_view_that_spills_has_the_same_rows(large: Path, temporary: Path, view: str) -> None:
    with tracewh.open(large) as whole:
        expected = whole.view(view).fetchall()
        assert not has_spilled(temporary)
    assert len(expected) == EVENTS
    with tracewh.open(large) as limited:
        limited.limit_memory(100)
        batches = limited.view(view).to_arrow_reader(1000)
        rows = [tuple(row.values()) for batch in batches for row in batch.to_pylist()]
        assert any(temporary.glob("tracewh-tmp-*/spill"))
    assert rows == expected
    assert [*temporary.iterdir()] == []


def test_show_leaves_nothing_where_it_spilled(
    tracewh: Command, large: Path, temporary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(temporary)
    command = ("show", "operator_stats", "--format", "csv", "-w", large)
    limited = tracewh(*command, "--memory-limit", "100")
    assert (limited.code, limited.err) == (0, "")
    assert limited.out == tracewh(*command).out
    assert [*temporary.iterdir()] == []


def test_a_view_that_fails_says_what_to_do(tracewh: Command, large: Path, temporary: Path) -> None:
    failed = tracewh("show", *COMPARISON, "--memory-limit", "100", "-w", large)
    assert (failed.code, failed.err) == (1, f"tracewh: {NEEDS_MORE}\n")
    assert [*temporary.iterdir()] == []
    raised = tracewh("show", *COMPARISON, "--memory-limit", "400", "-w", large)
    assert (raised.code, raised.out.count("\n")) == (0, EVENTS + 1)


def test_a_trace_whose_links_do_not_fit_is_not_called_damaged(
    tracewh: Command, large: Path, temporary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checks, "MEMORY", "64MB")
    found = tracewh("check", "-w", large)
    assert found.code == 0
    assert re.fullmatch(r"tracewh: 1 trace, [\d.]+ kB: no problems found\n", found.err)
    assert [*temporary.iterdir()] == []
    monkeypatch.setattr(checks, "MEMORY", "8MB")
    found = tracewh("check", "-w", large)
    [folder] = large.glob("data/*/*/*")
    said = (
        f"tracewh: the links of {folder} cannot be checked: they need more than 8MB of memory and the space that is "
        f"left in {temporary}; name another folder in TMPDIR"
    )
    assert (found.code, found.err.splitlines()[-1]) == (1, said)
    assert [*temporary.iterdir()] == []


def test_compact_keeps_to_its_limit(
    tracewh: Command, large: Path, temporary: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    warehouse = Path(shutil.copytree(large, tmp_path / "wh"))
    [one] = warehouse.glob("data/*/*/*")
    shutil.copytree(one, one.with_name("span=2"))
    count = ("query", "SELECT count(*) AS events FROM cpu_ops", "--format", "csv", "-w", warehouse)
    expected = tracewh(*count)
    assert expected.out == f"events\n{2 * EVENTS}\n"
    monkeypatch.setattr(compaction, "MEMORY", "100MB")
    assert tracewh("compact", "large", "-w", warehouse).code == 0
    assert any(warehouse.glob("data/*/_compact*/host_events*.parquet"))
    assert tracewh(*count) == expected
    assert [*(warehouse / ".staging").iterdir()] == [*temporary.iterdir()] == []


def test_a_limit_for_all_commands(
    tracewh: Command, large: Path, temporary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TRACEWH_MEMORY_LIMIT", "100")
    limit = ("query", "SELECT current_setting('memory_limit') AS limit", "-w", large)
    assert "95.3 MiB" in tracewh(*limit).out
    assert "190.7 MiB" in tracewh(*limit, "--memory-limit", "200").out
    failed = tracewh("show", *COMPARISON, "-w", large)
    assert (failed.code, failed.err) == (1, f"tracewh: {NEEDS_MORE}\n")
    assert [*temporary.iterdir()] == []


@pytest.mark.parametrize("text", ["99", "1 GB", "-1"])
def test_a_limit_that_is_none(large: Path, monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setenv("TRACEWH_MEMORY_LIMIT", text)
    with pytest.raises(WarehouseError) as raised:
        tracewh.open(large)
    said = f"TRACEWH_MEMORY_LIMIT is a whole number of MB of at least 100, not {text!r}"
    assert str(raised.value) == said


def test_a_limit_that_is_too_low_for_any_view(large: Path) -> None:
    with tracewh.open(large) as opened:
        before = opened.limits()
        for limit in (99, -1):
            with pytest.raises(WarehouseError) as raised:
                opened.limit_memory(limit)
            assert str(raised.value) == f"the memory limit must be at least 100 MB, not {limit}"
        assert opened.limits() == before


def test_a_process_that_frees_nothing_removes_what_was_spilled(
    large: Path, temporary: Path, tmp_path: Path
) -> None:
    numbered = "SELECT range, row_number() OVER (ORDER BY hash(range)) AS n FROM range(6_000_000)"
    query = f"SELECT n // 1_000_000 AS million, count(*) AS rows FROM ({numbered}) GROUP BY ALL ORDER BY ALL"
    words = ["query", query, "--memory-limit", "100", "--format", "csv", "-w", str(large)]
    # With `python -c` DuckDB would take the process for an interactive one, and print a progress bar.
    program = tmp_path / "program.py"
    program.write_text("from tracewh.cli.app import run; run()")
    with subprocess.Popen(
        [sys.executable, str(program), *words],
        stdout=subprocess.PIPE,
    ) as process:
        while not has_spilled(temporary):
            assert process.poll() is None
            time.sleep(0.01)
        assert process.stdout is not None
        lines = process.stdout.read().decode().split()
    assert process.returncode == 0
    assert lines == ["million,rows", "0,999999", *(f"{n},1000000" for n in range(1, 6)), "6,1"]
    assert [*temporary.iterdir()] == []


def test_an_interrupt_removes_what_was_spilled(large: Path, temporary: Path) -> None:
    code = "from tracewh.cli.app import run; run()"
    words = ["show", "critical_path", "--memory-limit", "100", "-w", str(large)]
    with subprocess.Popen(
        [sys.executable, "-c", code, *words], stderr=subprocess.PIPE, stdout=subprocess.DEVNULL
    ) as process:
        while not has_spilled(temporary):
            assert process.poll() is None
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        assert process.stderr is not None
        assert process.stderr.read() == b"tracewh: interrupted\n"
    assert process.returncode == 130
    assert [*temporary.iterdir()] == []


def test_a_temporary_folder_that_is_full(
    large: Path, tmp_path: Path, on_a_small_disk: Callable[..., str]
) -> None:
    on_a_small_disk(
        4000,
        f"""
        TMPDIR=$PWD tracewh show critical_path --memory-limit 100 -w '{large}' > $OUT/table 2> $OUT/said
        echo $? > $OUT/code
        find . > $OUT/list
        """,
    )
    out = tmp_path / "out"
    assert (out / "said").read_text() == (
        f"tracewh: the query does not fit into memory, and the temporary folder {tmp_path}/disk is full; free some "
        "space, name another folder in TMPDIR, or name a run and a worker\n"
    )
    assert (out / "code").read_text() == "1\n"
    assert (out / "list").read_text() == ".\n"


def test_a_query_of_serve_spills(large: Path, temporary: Path) -> None:
    def ask(client: Any, sql: str) -> Any:
        return client.post("/api/sql", json={"sql": sql}).json()

    numbers = "FROM range(8_000_000) AS t(i) SELECT i, hash(i) AS h ORDER BY h LIMIT 7_000_000"
    with (
        tracewh.open(large) as opened,
        visitor(opened, memory_mb=100, seconds=60) as client,
        ThreadPoolExecutor(1) as thread,
    ):
        counted = thread.submit(ask, client, f"SELECT count(*) FROM ({numbers})")
        seen = False
        while not counted.done():
            seen = seen or any(temporary.glob("tracewh-tmp-*/*/tracewh-tmp-*/spill/*"))
            time.sleep(0.01)
        assert (counted.result()["values"], seen) == ([[7_000_000]], True)
    assert [*temporary.iterdir()] == []


@pytest.mark.parametrize(
    ("limit", "least", "shared"),
    [("8000MB", 100, "947.1 MiB"), ("8000MB", 2000, "1.8 GiB"), ("500MB", 2000, "476.8 MiB")],
)
def test_processes_share_the_memory_of_one(
    large: Path, limit: str, least: int, shared: str
) -> None:
    with tracewh.open(large) as opened:
        opened._con.execute(f"SET memory_limit = '{limit}'")
        opened.share_memory(8, least)
        assert opened.sql("SELECT current_setting('memory_limit')").fetchall() == [(shared,)]


def test_a_page_of_serve_keeps_to_its_share(
    large: Path, temporary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TRACEWH_MEMORY_LIMIT", "100")
    with tracewh.open(large) as opened, visitor(opened, seconds=60) as client:
        found = client.get("/api/panel/operators-table", params={"run": "large"})
        assert (found.status_code, found.json()["rows"] > 0) == (200, True)
        assert any(temporary.glob("tracewh-tmp-*/*/tracewh-tmp-*/spill"))
    assert [*temporary.iterdir()] == []
