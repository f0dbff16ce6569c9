"""tracewh check: rows for what is wrong, a line that sums up, the commands that repair it."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pytest

import tracewh as library
from tests.cli.conftest import Command
from tests.cli.report.parts import panels_only
from tracewh.views.needed_traces import reads_captures
from tracewh.views.registry import installed
from tracewh.views.warehouse import Warehouse, listed

EVENT = {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": 10, "dur": 5}


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with two trace files and a warehouse of them, as it is before a test."""
    folder = tmp_path_factory.mktemp("kept")
    for run in ("a b", "c"):
        path = folder / "used" / "logs" / run / "w.json"
        path.parent.mkdir(parents=True)
        path.write_text(json.dumps({"traceEvents": [EVENT]}), "utf-8")
    library.ingest(folder / "used" / "logs", folder / "used" / "wh")
    return shutil.copytree(folder / "used", folder / "unused")


@pytest.fixture
def real(kept: Path) -> Path:
    """A warehouse of two ingested traces, of the runs `a b` and `c`, always in the place that it knows."""
    used = kept.with_name("used")
    shutil.rmtree(used)
    shutil.copytree(kept, used)
    return used / "wh"


def size(warehouse: Path, run: str = "*") -> str:
    files = warehouse.glob(f"data/{run}/*/*/*.parquet")
    return f"{sum(path.stat().st_size for path in files) / 1000:.1f} kB"


def test_sound(tracewh: Command, real: Path) -> None:
    done = tracewh("check", "-w", real)
    assert (done.code, done.out) == (0, "")
    assert done.err == f"tracewh: 2 traces, {size(real)}: no problems found\n"
    done = tracewh("check", "c", "-w", real, "--format", "json")
    assert (done.code, done.out) == (0, "[]\n")
    assert done.err == f"tracewh: 1 trace, {size(real, 'run=c')}: no problems found\n"


def test_what_is_wrong_and_what_to_do(tracewh: Command, real: Path) -> None:
    source = real.parent / "logs" / "a b" / "w.json"
    (real / "data/run=a%20b/worker=w/span=default/steps.parquet").unlink()
    (real / ".staging" / "dead").mkdir()
    (real / "tracewh.duckdb").write_bytes(b"damaged")
    done = tracewh("check", "-w", real, "--format", "json")
    assert done.code == 1
    remedies = [
        f"tracewh ingest --force --run 'a b' -w {real} '{source}'",
        f"tracewh ingest LOGDIR -w {real}",
        f"tracewh relink -w {real}",
    ]
    assert [(row["run"], row["file"], row["remedy"]) for row in done.json] == [
        ("a b", "steps.parquet", remedies[0]),
        (None, ".staging/dead", remedies[1]),
        (None, "tracewh.duckdb", remedies[2]),
    ]
    first, *lines = done.err.splitlines()
    assert first == f"tracewh: 2 traces, {size(real)}: 1 damaged; to repair:"
    assert lines == [f"  {remedy}" for remedy in remedies]
    assert tracewh("ingest", "--force", "--run", "a b", "-w", real, source).code == 0
    assert tracewh("relink", "-w", real).code == 0
    assert tracewh("check", "-w", real).code == 0


def test_a_warehouse_after_its_last_trace_was_dropped(tracewh: Command, real: Path) -> None:
    for run in ("a b", "c"):
        assert tracewh("drop", run, "-y", "-w", real).code == 0
    assert (real / "tracewh.duckdb").exists()
    done = tracewh("check", "-w", real)
    assert (done.code, done.err) == (0, "tracewh: 0 traces, 0 B: no problems found\n")


@pytest.mark.parametrize("words", [("show", "runs"), ("query", "FROM traces"), ("runs",)])
@pytest.mark.parametrize("damage", [b"damaged", b"PAR1" + bytes(100) + b"PAR2", b""])
def test_who_reads_a_damaged_file_hears_of_it(
    tracewh: Command, real: Path, words: tuple[str, ...], damage: bytes
) -> None:
    (real / "data/run=c/worker=w/span=default/traces.parquet").write_bytes(damage)
    done = tracewh(*words, "-w", real)
    assert (done.code, done.out) == (1, "")
    source = real.parent / "logs" / "c" / "w.json"
    assert done.err == (
        "tracewh: the trace c/w/default is damaged: traces.parquet cannot be read; to repair:\n"
        f"  tracewh ingest --force --run c -w {real} {source}\n"
    )


def write_as(folder: Path, table: str, columns: str) -> None:
    """Write a file of a trace with other columns."""
    file, other = folder / f"{table}.parquet", folder.parent / "other"
    duckdb.execute(
        f"COPY (SELECT {columns} FROM read_parquet('{file}', hive_partitioning = false)) TO '{other}' (FORMAT parquet)"
    )
    other.replace(file)


def test_who_reads_a_trace_of_another_version_hears_of_it(tracewh: Command, real: Path) -> None:
    """It is not damaged. Only a newer version has another layout; an older one may have written fewer columns."""
    folder = real / "data/run=c/worker=w/span=default"
    write_as(folder, "steps", "* EXCLUDE (is_tail)")
    done = tracewh("query", "SELECT s.is_tail FROM steps AS s", "-w", real)
    source = real.parent / "logs" / "c" / "w.json"
    assert done.code == 1
    assert done.err == (
        "tracewh: the trace c/w/default was written by another version of tracewh: steps.parquet has no column is_tail; "
        "ingest it again:\n"
        f"  tracewh ingest --force --run c -w {real} {source}\n"
    )
    write_as(folder, "traces", "* REPLACE (2 AS layout_version)")
    done = tracewh("query", "SELECT s.is_tail FROM steps AS s", "-w", real)
    newer = "was written by a newer version of tracewh, with layout 2; this version reads layout 1"
    update = "pip install --upgrade tracewh"
    assert (done.code, done.err) == (
        1,
        f"tracewh: the trace c/w/default {newer}. Update it: {update}\n",
    )
    [row] = tracewh("check", "c", "-w", real, "--format", "json").json
    assert (row["file"], row["problem"], row["remedy"]) == ("", newer, update)


@pytest.fixture
def damaged(real: Path) -> Path:
    """The same, the run `a b` cut off."""
    for file in (real / "data/run=a%20b/worker=w/span=default").glob("*.parquet"):
        file.write_bytes(file.read_bytes()[:-100])
    return real


@pytest.mark.parametrize(
    "words",
    [
        ("show", "operator_stats", "--run", "c"),
        ("show", "trace_quality", "--run", "c", "--worker", "w"),
        ("show", "critical_path_summary", "--run", "c"),
        ("show", "diff_overview", "--baseline", "c", "--experiment", "c"),
        ("diff", "c", "c"),
        ("report", "c", "-o", "page.html"),
    ],
)
def test_a_damaged_trace_blocks_no_other_run(
    tracewh: Command,
    damaged: Path,
    words: tuple[str, ...],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    with panels_only("steps"):
        done = tracewh(*words, "-w", damaged)
    assert done.code == 0, done.err


@pytest.mark.parametrize("is_compacted", [False, True])
def test_a_damaged_trace_blocks_no_view_of_another_run(
    tracewh: Command, real: Path, is_compacted: bool
) -> None:
    if is_compacted:
        assert tracewh("compact", "c", "-w", real).code == 0
    for file in (real / "data/run=a%20b/worker=w/span=default").glob("*.parquet"):
        file.write_bytes(file.read_bytes()[:-100])
    with library.open(real) as opened:
        opened.select_traces(None, {"run": "c"})
        # Which files are opened depends on a view's parameters and on whether it reads captured graphs.
        views = installed().newest()
        captures = [] if is_compacted else [v for v in views if reads_captures(v.object_name)]
        for view in {view.name: view for view in (*views[::3], *captures)}.values():
            names = {param.name for param in view.params}
            sides = {"baseline": "c", "experiment": "c"} if "baseline" in names else {}
            arguments: dict[str, Any] | None = sides or ({"run": "c"} if "run" in names else None)
            if arguments is not None:
                assert isinstance(opened.view(view.name, **arguments).fetchall(), list)


@pytest.mark.parametrize("opened", [lambda path: path, listed], ids=["folder", "listing"])
def test_what_is_kept_open_can_be_changed(real: Path, opened: Callable[[Path], Any]) -> None:
    with Warehouse(opened(real)) as warehouse:
        for run, seen in (("c", ["c"]), ("a b", ["a b"]), (None, ["a b", "c"])):
            warehouse.select_traces(None, {"run": run})
            rows = warehouse.sql("FROM cpu_ops SELECT run ORDER BY run").fetchall()
            assert rows == [(each,) for each in seen]
            assert sorted(keys[0] for keys in warehouse.names()) == ["a b", "c"]


def test_who_asks_for_a_damaged_trace_hears_which_it_is(tracewh: Command, damaged: Path) -> None:
    done = tracewh("show", "operator_stats", "-w", damaged)
    assert (done.code, done.out) == (1, "")
    source = damaged.parent / "logs" / "a b" / "w.json"
    said, remedy = done.err.splitlines()
    assert said.startswith("tracewh: the trace a b/w/default is damaged: ")
    assert said.endswith(".parquet cannot be read; to repair:")
    assert remedy == f"  tracewh ingest --force --run 'a b' -w {damaged} '{source}'"


def test_damage_in_a_message_that_names_no_file(tracewh: Command, real: Path) -> None:
    file = real / "data/run=c/worker=w/span=default/traces.parquet"
    data = file.read_bytes()
    file.write_bytes(data[:-200] + bytes(192) + data[-8:])
    done = tracewh("query", "FROM traces", "-w", real)
    assert (done.code, done.out) == (1, "")
    said = "(Invalid data); `tracewh check` shows which one and how to repair it"
    assert done.err == f"tracewh: a trace is damaged {said}\n"


def test_a_damaged_trace_can_be_dropped(tracewh: Command, real: Path) -> None:
    """Although nothing can be asked of the warehouse as long as it is in."""
    folder = real / "data/run=c/worker=w/span=default"
    (folder / "traces.parquet").write_bytes(b"damaged")
    assert tracewh("runs", "-w", real).code == 1
    done = tracewh("drop", "c", "-y", "-w", real)
    assert (done.code, done.err) == (0, "removed 1 trace of run 'c'\n")
    assert not folder.exists()
    assert tracewh("runs", "-w", real).code == 0


@pytest.mark.parametrize("how", ["missing", "old", "moved"])
def test_the_database(tracewh: Command, real: Path, how: str) -> None:
    where = real
    if how == "missing":
        (real / "tracewh.duckdb").unlink()
    elif how == "old":
        (real / ".tracewh.duckdb.origin").write_text("tracewh 0.0.1")
    else:
        where = Path(shutil.move(real, real.with_name("elsewhere")))
    said = (
        "it is missing"
        if how == "missing"
        else "it is incomplete, or was written by another version of tracewh or for another folder"
    )
    [row] = tracewh("check", "-w", where, "--format", "json").json
    assert (row["file"], row["problem"]) == ("tracewh.duckdb", said)
    assert row["remedy"] == f"tracewh relink -w {where}"


def test_no_such_run_and_no_warehouse(tracewh: Command, real: Path, tmp_path: Path) -> None:
    done = tracewh("check", "d", "-w", real)
    assert (done.code, done.err) == (2, "tracewh: no run named 'd'; the runs are a b, c\n")
    done = tracewh("check", "-w", tmp_path / "nowhere")
    assert done.code == 1
    assert "does not exist; create a warehouse with `tracewh ingest LOGDIR" in done.err
