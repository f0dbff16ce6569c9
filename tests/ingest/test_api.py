"""What an ingest leaves in the warehouse: whole traces, each once, or nothing."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tracewh.ingest import ingest_trace
from tracewh.ingest.api import IngestError, Progress, drop, ingest
from tracewh.ingest.link import Writing
from tracewh.schema import SQL

#: Writes a trace of one operator, and returns its path.
Write = Callable[..., Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def write(name: str, operator: str = "aten::mm") -> Path:
        path = tmp_path / "logs" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        event = {
            "ph": "X",
            "cat": "cpu_op",
            "name": operator,
            "pid": 1,
            "tid": 2,
            "ts": 5,
            "dur": 1,
        }
        path.write_text(json.dumps({"traceEvents": [event]}), "utf-8")
        return path

    return write


@pytest.fixture
def warehouse(tmp_path: Path) -> Path:
    return tmp_path / "warehouse"


def inside(warehouse: Path) -> dict[tuple[str, str, str], str]:
    """The operator of every trace, by its keys."""
    if not any(warehouse.glob("data/*")):
        return {}
    rows = duckdb.execute(
        "SELECT t.run, t.worker, t.span, t.name"
        " FROM read_parquet(?, hive_partitioning = true, hive_types_autocast = false) AS t",
        [f"{warehouse}/data/*/*/*/host_events.parquet"],
    ).fetchall()
    return {(run, worker, span): name for run, worker, span, name in rows}


def left_over(warehouse: Path) -> list[Path]:
    return list((warehouse / ".staging").iterdir())


def test_a_file_that_is_in_is_not_even_read(write: Write, warehouse: Path) -> None:
    path = write("run/w.7.json")
    [first] = ingest([path], warehouse)
    stat = path.stat()
    path.write_bytes(b"#" * stat.st_size)  # would be refused
    os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    [second] = ingest([path], warehouse)
    assert (first.status, second.status) == ("ingested", "unchanged")
    assert (second.run, second.worker, second.span) == ("run", "w", "1")
    assert (second.events, second.source_bytes) == (1, stat.st_size)
    assert second.stored_bytes == first.stored_bytes > 0


def test_a_file_that_was_touched_or_moved_is_unchanged(write: Write, warehouse: Path) -> None:
    path = write("run/w.json")
    ingest([path], warehouse)
    os.utime(path, ns=(1, 1))
    assert [each.status for each in ingest([path], warehouse)] == ["unchanged"]
    moved = path.parents[1] / "elsewhere" / "run" / "w.json"
    moved.parent.mkdir(parents=True)
    path.rename(moved)
    assert [each.status for each in ingest([moved], warehouse)] == ["unchanged"]
    assert inside(warehouse) == {("run", "w", "default"): "aten::mm"}


def test_a_file_that_changed_replaces_its_trace(write: Write, warehouse: Path) -> None:
    path = write("run/w.json", "aten::mm")
    ingest([path], warehouse)
    write("run/w.json", "aten::mv")  # of the same size
    os.utime(path, ns=(1, 1))
    [outcome] = ingest([path], warehouse)
    assert outcome.status == "ingested"
    assert inside(warehouse) == {("run", "w", "default"): "aten::mv"}
    assert left_over(warehouse) == []


def test_force_takes_a_file_in_again(write: Write, warehouse: Path) -> None:
    path = write("run/w.json")
    ingest([path], warehouse)
    [folder] = warehouse.glob("data/*/*/*")
    before = (folder / "traces.parquet").stat().st_mtime_ns
    [outcome] = ingest([path], warehouse, force=True)
    assert outcome.status == "ingested"
    assert list(warehouse.glob("data/*/*/*")) == [folder]
    assert (folder / "traces.parquet").stat().st_mtime_ns > before


def test_force_takes_files_in_again_that_were_moved(write: Write, warehouse: Path) -> None:
    """Two of them are alike. One more copy takes the place of no trace whose file is ingested, too."""
    logs = write("old/run/w.7.json").parent
    write("old/run/w.8.json")
    write("old/run/w.9.json", "aten::add")
    ingest([logs], warehouse)
    expected = {
        ("run", "w", str(n)): name for n, name in enumerate(["aten::mm"] * 2 + ["aten::add"], 1)
    }
    logs = logs.parent.rename(logs.parents[1] / "new") / "run"
    for _ in range(2):
        found = ingest([logs], warehouse, force=True)
        assert [(each.status, each.span) for each in found] == [("ingested", n) for n in "123"]
        assert inside(warehouse) == expected
    [alone] = ingest([logs / "w.8.json"], warehouse, force=True)
    assert alone.span == "2"
    other = write("other/run/w.json", "aten::add")
    write("new/run/w.9.json", "aten::mv")
    ingest([logs, other], warehouse, force=True)
    assert inside(warehouse) == expected | {
        ("run", "w", "3"): "aten::mv",
        ("run", "w", "default"): "aten::add",
    }


def test_two_files_of_one_name_both_get_in(write: Write, warehouse: Path) -> None:
    paths = [write("a/run/w.json", "aten::mm"), write("b/run/w.json", "aten::add")]
    expected = {("run", "w", "default"): "aten::mm", ("run", "w", "2"): "aten::add"}
    ingest([path.parent for path in paths], warehouse)
    assert inside(warehouse) == expected
    assert [each.status for each in ingest(paths, warehouse)] == ["unchanged"] * 2
    # Each replaces its own trace, in one call or alone.
    ingest(paths, warehouse, force=True)
    ingest(paths[1:], warehouse, force=True)
    assert inside(warehouse) == expected


def test_copies_are_told_apart(write: Write, warehouse: Path) -> None:
    """Two recordings with the same bytes are two traces, and each is known again."""
    logs = write("run/w.7.json").parent
    write("run/w.8.json")
    assert [each.status for each in ingest([logs], warehouse)] == ["ingested"] * 2
    again = ingest([logs], warehouse)
    assert [(each.source.name, each.status, each.span) for each in again] == [
        ("w.7.json", "unchanged", "1"),
        ("w.8.json", "unchanged", "2"),
    ]


def test_an_earlier_recording_that_comes_later_moves_nothing(write: Write, warehouse: Path) -> None:
    """The numbers of the files shift, those of traces that are in stay."""
    logs = write("run/w.20.json", "aten::mm").parent
    ingest([logs], warehouse)
    write("run/w.10.json", "aten::add")
    assert [each.status for each in ingest([logs], warehouse)] == ["ingested", "unchanged"]
    expected = {("run", "w", "1"): "aten::mm", ("run", "w", "2"): "aten::add"}
    assert inside(warehouse) == expected
    ingest([logs], warehouse, force=True)
    assert inside(warehouse) == expected


def test_a_refused_file_leaves_nothing_and_the_others_get_in(write: Write, warehouse: Path) -> None:
    good = write("run/a.json")
    bad = write("run/b.json")
    bad.write_text('{"traceEvent', "utf-8")
    outcomes = ingest([good.parent], warehouse)
    assert [(each.source, each.status, each.run) for each in outcomes] == [
        (good, "ingested", "run"),
        (bad, "refused", None),
    ]
    assert outcomes[1].reason == "not a Kineto trace: a JSON object without traceEvents"
    assert (outcomes[1].stored_bytes, outcomes[1].events) == (0, 0)
    assert inside(warehouse) == {("run", "a", "default"): "aten::mm"}
    assert left_over(warehouse) == []


@pytest.mark.parametrize(
    ("pids", "said"),
    [
        ([7, 8], "2 processes (7, 8)"),
        (["[TP00] 7", "[TP01] 7"], "2 processes ([TP00] 7, [TP01] 7)"),
        ([4, 3, 2, 1], "4 processes (1, 2, 3, ...)"),
    ],
)
def test_a_trace_that_was_merged_from_several_is_refused(
    tmp_path: Path, warehouse: Path, pids: list[object], said: str
) -> None:
    """Ids of operators and of launches repeat in it, and a step would hold the work of all."""
    event = {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "tid": 1, "ts": 1, "dur": 2}
    path = tmp_path / "run" / "merged.json"
    path.parent.mkdir()
    path.write_text(json.dumps({"traceEvents": [event | {"pid": pid} for pid in pids]}))
    [outcome] = ingest([path], warehouse)
    assert outcome.status == "refused"
    assert outcome.reason == (
        f"it has the operators of {said}: their traces were merged, and ids of operators and kernels repeat in "
        "it; ingest the traces that were merged"
    )
    assert left_over(warehouse) == []


def test_other_events_and_few_operators_may_be_of_other_processes(
    tmp_path: Path, warehouse: Path
) -> None:
    event = {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": 1, "dur": 2}
    others = [event | {"pid": 2, "cat": "user_annotation"}, event | {"pid": 3, "cat": "other"}]
    damaged = [event | {"pid": None}] * 5 + [event | {"pid": 17}]
    path = tmp_path / "run" / "w.json"
    path.parent.mkdir()
    path.write_text(json.dumps({"traceEvents": [event] * 99 + others + damaged}))
    [outcome] = ingest([path], warehouse)
    assert outcome.status == "ingested"


@pytest.mark.parametrize("before", [True, False], ids=["there was a trace", "there was none"])
def test_a_failure_in_the_middle_leaves_what_there_was(
    write: Write, warehouse: Path, monkeypatch: pytest.MonkeyPatch, before: bool
) -> None:
    path = write("run/w.json")
    if before:
        ingest([path], warehouse)
    was = inside(warehouse)
    assert bool(was) == before

    def fail(_con: object, traces: Sequence[Writing], *_rest: object) -> None:
        [trace] = traces
        (trace.folder / "traces.parquet").write_bytes(b"half")
        raise RuntimeError("power cut")

    monkeypatch.setattr(ingest_trace, "write_traces", fail)
    [outcome] = ingest([path], warehouse, force=True)
    assert outcome.status == "refused"
    assert outcome.reason == (
        "RuntimeError: power cut; this is a bug in tracewh: please report it, with the file if you "
        "may (TRACEWH_DEBUG=1 shows where)"
    )
    assert left_over(warehouse) == []
    assert inside(warehouse) == was
    monkeypatch.setenv("TRACEWH_DEBUG", "1")
    with pytest.raises(RuntimeError, match="power cut"):
        ingest([path], warehouse, force=True)
    assert left_over(warehouse) == []


def test_an_interrupted_ingest_leaves_nothing(write: Write, warehouse: Path) -> None:
    def interrupt(_: Progress) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        ingest([write("run/w.json")], warehouse, on_progress=interrupt)
    assert left_over(warehouse) == []
    assert inside(warehouse) == {}


def test_progress_and_outcomes(write: Write, warehouse: Path) -> None:
    paths = [write("run/b.json"), write("run/a.json"), write("run/c.json")]
    paths[2].write_text("no trace", "utf-8")
    seen: list[Progress] = []
    settled: list[Any] = []
    outcomes = ingest(paths, warehouse, on_progress=seen.append, on_result=settled.append)
    assert [each.source.name for each in outcomes] == ["a.json", "b.json", "c.json"]
    assert sorted(settled, key=lambda each: each.source) == outcomes
    total = sum(path.stat().st_size for path in paths)
    assert seen[-1] == Progress(
        files_total=3, files_done=3, bytes_total=total, bytes_done=total, events=2
    )
    assert all(
        now.files_done >= was.files_done and now.bytes_done >= was.bytes_done
        for was, now in pairwise(seen)
    )


def declared() -> dict[str, list[tuple[str, str]]]:
    """Names and types of the columns of every table, as DuckDB reads sql/tables."""
    with duckdb.connect() as con:
        for path in (SQL / "tables").glob("*.sql"):
            con.execute(path.read_text("utf-8"))
        return {
            path.stem: [
                (name, kind) for name, kind, *_ in con.execute(f"DESCRIBE {path.stem}").fetchall()
            ]
            for path in (SQL / "tables").glob("*.sql")
        }


@pytest.mark.parametrize("table", sorted(path.stem for path in (SQL / "tables").glob("*.sql")))
def test_every_folder_holds_every_table_as_declared(table: str, empty: Path) -> None:
    file = empty / f"{table}.parquet"
    described = duckdb.execute(
        "DESCRIBE FROM read_parquet(?, hive_partitioning = true, hive_types_autocast = false)",
        [str(file)],
    ).fetchall()
    columns = {name: kind for name, kind, *_ in described}
    assert columns == dict(declared()[table])
    assert pq.read_metadata(file).num_rows == (1 if table == "traces" else 0)
    for field in pq.read_schema(file):
        kind = field.type.value_type if pa.types.is_list(field.type) else field.type
        assert not pa.types.is_unsigned_integer(kind), field
        assert not (pa.types.is_timestamp(kind) and kind.unit == "ns"), field
        assert field.name == field.name.lower()


@pytest.fixture(scope="module")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a trace without events."""
    path = tmp_path_factory.mktemp("empty")
    (path / "w.json").write_text('{"traceEvents": []}', "utf-8")
    ingest([path / "w.json"], path / "warehouse")
    [folder] = (path / "warehouse").glob("data/*/*/*")
    files = {file.name for file in folder.iterdir()}
    assert files == {"_manifest.json", *(f"{table}.parquet" for table in declared())}
    return folder


def test_drop(write: Write, warehouse: Path) -> None:
    for name in ("a/v.json", "a/w.1.json", "a/w.2.json", "a/w.3.json", "b/w.1.json"):
        write(name)
    logs = write("c/w.json").parents[1]
    ingest([logs], warehouse)
    assert drop(warehouse, "a", "w", "2") == 1
    assert ("a", "w", "2") not in inside(warehouse)
    assert len(inside(warehouse)) == 5
    assert drop(warehouse, "a", "w") == 2
    assert set(inside(warehouse)) == {("a", "v", "default"), ("b", "w", "1"), ("c", "w", "default")}
    assert drop(warehouse, "a", "x") == drop(warehouse, "x") == drop(warehouse, "a", None, "7") == 0
    assert drop(warehouse, "a") == 1
    assert sorted(path.name for path in (warehouse / "data").iterdir()) == ["run=b", "run=c"]
    assert left_over(warehouse) == []
    [outcome] = ingest([logs / "a" / "v.json"], warehouse)
    assert outcome.status == "ingested"


def test_drop_makes_no_warehouse(tmp_path: Path) -> None:
    assert drop(tmp_path / "nowhere", "a") == 0
    assert not (tmp_path / "nowhere").exists()


@pytest.mark.parametrize("run", ["a/b c=d%", "Läufe/№ 1", "a%2Fb", "..", "7", "0x10", "*"])
def test_any_name_is_kept_and_read_by_others(write: Write, warehouse: Path, run: str) -> None:
    [outcome] = ingest([write("x/w.json")], warehouse, run=run)
    assert outcome.run == run
    [folder] = warehouse.glob("data/*/*/*")
    # Slow to import, and every process of a test run collects this file.
    import polars
    from pyarrow import dataset

    assert folder.parents[2] == warehouse / "data"
    assert inside(warehouse) == {(run, "w", "default"): "aten::mm"}
    [again] = ingest([str(outcome.source)], warehouse, run=run)
    assert again.status == "unchanged"

    keys = pa.schema([(key, pa.string()) for key in ("run", "worker", "span")])
    partitioning = dataset.partitioning(keys, flavor="hive")
    data = dataset.dataset(warehouse / "data", partitioning=partitioning, format="parquet")
    host = [file for file in data.files if file.endswith("/host_events.parquet")]
    table = dataset.dataset(
        host, partitioning=partitioning, partition_base_dir=str(warehouse / "data")
    )
    assert table.to_table(columns=["run", "worker", "span", "name"]).to_pylist() == [
        {"run": run, "worker": "w", "span": "default", "name": "aten::mm"}
    ]

    frame = polars.scan_parquet(
        folder / "host_events.parquet",
        hive_partitioning=True,
        hive_schema={key: polars.String for key in ("run", "worker", "span")},
    )
    assert frame.select("run", "name").collect().to_dicts() == [{"run": run, "name": "aten::mm"}]

    assert drop(warehouse, run) == 1


def test_calls_that_cannot_start(write: Write, warehouse: Path) -> None:
    path = write("run/w.json")
    with pytest.raises(IngestError) as error:
        ingest([path], warehouse, jobs=0)
    assert str(error.value) == "jobs is 0; it must be at least 1"
    with pytest.raises(IngestError) as error:
        ingest([path], path)
    assert str(error.value) == f"cannot write the warehouse {path}: Not a directory"
