"""Whatever becomes of the files of a warehouse, `check` sees it and says what to do."""

from __future__ import annotations

import json
import shlex
import shutil
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

import tracewh
from tracewh.cli.app import main
from tracewh.ingest.api import drop, ingest, names
from tracewh.schema import tables
from tracewh.storage.checks import Problem, check, left_behind
from tracewh.storage.compaction import compact
from tracewh.storage.copied_warehouse import make_local

SAMPLE = (
    Path(__file__).parents[2]
    / "samples/resnet_workers_0/worker0.1795555519821687930.pt.trace.json.gz"
)


@pytest.fixture(scope="module")
def made_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A warehouse of one sample, and of a GPU trace with counters and memory."""
    folder = tmp_path_factory.mktemp("check")
    host = {"ph": "X", "pid": 1, "tid": 2, "dur": 9}
    gpu = {"ph": "X", "pid": 0, "tid": 7, "dur": 5}
    events = [
        host | {"cat": "user_annotation", "name": "ProfilerStep#1", "ts": 1},
        host | {"cat": "cpu_op", "name": "aten::mm", "ts": 2, "dur": 7},
        host | {"cat": "cuda_runtime", "name": "cudaLaunchKernel", "ts": 3, "dur": 1}
        | {"args": {"correlation": 5}},
        gpu | {"cat": "kernel", "name": "gemm", "ts": 4, "args": {"correlation": 5}},
        gpu | {"cat": "cuda_profiler_range", "name": "gemm", "ts": 4}
        | {"args": {"smsp__inst_executed.sum": 7.0}},
        {"ph": "i", "cat": "cpu_instant_event", "name": "[memory]", "pid": 1, "tid": 2, "ts": 4}
        | {"s": "t", "args": {"Bytes": 64, "Device Type": 0}},
        {"ph": "s", "cat": "ac2g", "name": "ac2g", "id": 5, "pid": 1, "tid": 2, "ts": 3},
        {"ph": "f", "cat": "ac2g", "name": "ac2g", "id": 5, "pid": 0, "tid": 7, "ts": 4},
    ]  # fmt: skip
    (folder / "gpu").mkdir()
    (folder / "gpu" / "w.json").write_text(json.dumps({"traceEvents": events}), "utf-8")
    shutil.copytree(SAMPLE.parent, folder / "resnet")
    outcomes = ingest([folder / "gpu" / "w.json", folder / "resnet" / SAMPLE.name], folder / "wh")
    assert {each.status for each in outcomes} == {"ingested"}
    return folder / "wh"


@pytest.fixture
def warehouse(made_once: Path, tmp_path: Path) -> Path:
    """A copy to damage."""
    return shutil.copytree(made_once, tmp_path / "wh")


@pytest.fixture
def trace(warehouse: Path) -> Path:
    """The folder of the GPU trace."""
    return warehouse / "data/run=gpu/worker=w/span=default"


def problems(warehouse: Path, run: str | None = None) -> list[tuple[str, str]]:
    """File and problem of everything that is wrong."""
    return [(p.file, p.problem) for each in check(warehouse, run) for p in each.problems]


def test_a_sound_warehouse(warehouse: Path) -> None:
    found = list(check(warehouse))
    assert [each.trace.run for each in found] == ["gpu", "resnet"]
    assert all(each.problems == () and each.stored_bytes > 1000 for each in found)
    assert [each.trace.run for each in check(warehouse, "gpu")] == ["gpu"]
    assert left_behind(warehouse) == []


def test_every_shared_trace_is_sound(corpus: tracewh.Warehouse) -> None:
    assert problems(Path(corpus.path)) == []


def test_a_flipped_byte_in_any_file_is_found(warehouse: Path, made_once: Path) -> None:
    """Every byte of the ends of each file, where footers are, and some 40 between them."""
    source = made_once.parent / "resnet" / SAMPLE.name
    files = sorted(warehouse.glob("data/run=resnet/*/*/*.parquet"))
    assert len(files) == len(tables())
    for path in files:
        data = bytearray(path.read_bytes())
        last = len(data) - 1
        for at in sorted({*range(8), *range(0, last, last // 40), *range(last - 8, last + 1)}):
            data[at] ^= 1 << at % 8
            path.write_bytes(data)
            [damaged] = check(warehouse, "resnet")
            [problem] = damaged.problems
            assert problem == Problem(
                "resnet",
                "worker0",
                "1",
                path.name,
                "its contents differ from what was written",
                f"tracewh ingest --force --run resnet -w {warehouse} {source}",
            )
            data[at] ^= 1 << at % 8
        path.write_bytes(data)
    assert problems(warehouse) == []


def test_the_remedy_repairs(warehouse: Path, trace: Path, made_once: Path) -> None:
    """Also where the file that is damaged is the one that names the source."""
    (trace / "traces.parquet").write_bytes(b"PAR1")
    [problem] = [p for each in check(warehouse) for p in each.problems]
    assert problem.problem.startswith("it has 4 bytes, ")
    words = problem.remedy.split()
    assert words[:-1] == ["tracewh", "ingest", "--force", "--run", "gpu", "-w", str(warehouse)]
    assert words[-1] == str(made_once.parent / "gpu" / "w.json")
    [outcome] = ingest([words[-1]], warehouse, run="gpu", force=True)
    assert (outcome.status, outcome.span) == ("ingested", "default")
    assert problems(warehouse) == []


@pytest.mark.parametrize("also", [[], ["traces.parquet"], ["traces.parquet", "_manifest.json"]])
def test_a_trace_whose_source_is_gone_is_dropped(
    warehouse: Path, trace: Path, made_once: Path, also: list[str]
) -> None:
    source = made_once.parent / "gpu" / "w.json"
    hidden = source.rename(source.with_name("hidden"))
    try:
        for name in ["steps.parquet", *also]:
            (trace / name).write_bytes(b"damaged")
        remedies = {p.remedy for each in check(warehouse) for p in each.problems}
        assert remedies == {f"tracewh drop gpu --worker w --span default -w {warehouse}"}
        for file in warehouse.glob("data/*/*/*/traces.parquet"):
            file.unlink()
        # It works also where no trace is whole.
        assert main([*shlex.split(remedies.pop())[1:], "-y"]) == 0
        assert [each.trace.run for each in check(warehouse)] == ["resnet"]
    finally:
        hidden.rename(source)


def test_a_file_beside_the_traces_is_no_trace(warehouse: Path, trace: Path) -> None:
    """Such as an archive of one, and a link to a folder that is gone."""
    with tracewh.open(warehouse) as opened:
        before = opened.names()
    (archive := trace.with_name("span=default.tar")).write_bytes(b"mine")
    trace.with_name("span=gone").symlink_to("gone")
    assert problems(warehouse) == []
    assert names(warehouse) == before
    with tracewh.open(warehouse) as opened:
        assert opened.names() == before
        assert len(opened.files("steps")) == len(before)
    assert compact(warehouse, "gpu").traces == 1
    assert make_local(warehouse) == []
    assert drop(warehouse, "gpu") == 1
    assert archive.read_bytes() == b"mine"


def test_files_that_are_missing_or_do_not_belong(warehouse: Path, trace: Path) -> None:
    (trace / "steps.parquet").unlink()
    (trace / "notes.txt").write_text("mine")
    assert problems(warehouse) == [
        ("steps.parquet", "it is missing"),
        ("notes.txt", "it was not written by an ingest"),
    ]


def test_a_trace_without_a_manifest_is_read(warehouse: Path, trace: Path) -> None:
    missing = ("_manifest.json", "it is missing: nothing says what the other files must hold")
    (trace / "_manifest.json").unlink()
    assert problems(warehouse) == [missing]
    data = (trace / "flows.parquet").read_bytes()
    (trace / "flows.parquet").write_bytes(data[:-20])
    [first, (file, problem)] = problems(warehouse)
    assert (first, file) == (missing, "flows.parquet")
    assert problem.startswith("it cannot be read (")


@pytest.mark.parametrize(
    ("old", "new", "file", "problem"),
    [
        ('"rows": 3', '"rows": 4', "host_events.parquet", "it has 3 rows, 4 were written"),
        (
            '"events": 8',
            '"events": 9',
            "_manifest.json",
            "it names a different source than traces.parquet",
        ),
        (
            '"files"',
            '"Files"',
            "_manifest.json",
            "it is damaged or cannot be read (not a manifest: 'files')",
        ),
        (
            '"rows": 3',
            '"rows": "3"',
            "_manifest.json",
            'it is damaged or cannot be read (not a manifest: rows is "3")',
        ),
        (
            '"source_path": "',
            '"source_path": null, "no": "',
            "_manifest.json",
            "it is damaged or cannot be read (not a manifest: source_path is null)",
        ),
        (
            "{",
            "[" * 100_000,
            "_manifest.json",
            "it is damaged or cannot be read (not a manifest: it is nested too deeply)",
        ),
        (
            "{",
            "[",
            "_manifest.json",
            "it is damaged or cannot be read (Expecting ',' delimiter: line 2 column 10 (char 11))",
        ),
    ],
)
def test_a_changed_manifest(
    warehouse: Path, trace: Path, old: str, new: str, file: str, problem: str
) -> None:
    text = (trace / "_manifest.json").read_text("utf-8")
    assert old in text
    (trace / "_manifest.json").write_text(text.replace(old, new, 1), "utf-8")
    assert problems(warehouse) == [(file, problem)]


LINK_TASKS = [
    ("host_events", "parent_id", 7),
    ("host_events", "op_id", 3),
    ("host_events", "parent_op_id", -1),
    ("host_events", "stack_id", 99),
    ("stacks", "outer_stack_id", 0),
    ("device_events", "launch_id", 99),
    ("device_events", "op_id", 99),
    ("memory_records", "op_id", 5),
    ("steps", "event_id", 4),
    ("counters", "event_id", 1),
    ("flows", "source_event_id", 8),
    ("flows", "target_event_id", -1),
]


@pytest.mark.parametrize(("table", "column", "value"), LINK_TASKS)
def test_a_link_to_a_row_that_is_not_there(
    warehouse: Path, trace: Path, table: str, column: str, value: int
) -> None:
    """Hashes are right: only an ingest with a mistake in it writes such a file."""
    from tracewh.storage.manifest import write as seal

    path = trace / f"{table}.parquet"
    [(rows,)] = duckdb.execute(
        f"SELECT count(*) FILTER (WHERE {column} IS NOT NULL) FROM read_parquet('{path}')"
    ).fetchall()
    assert rows > 0, "the trace has no such link"
    duckdb.execute(
        f"COPY (SELECT * REPLACE (CASE WHEN {column} IS NOT NULL THEN {value} END AS {column})"
        f" FROM read_parquet('{path}', hive_partitioning = false)) TO '{path}.new' (FORMAT parquet)"
    )
    Path(f"{path}.new").rename(path)
    seal(trace)
    assert problems(warehouse) == [
        (
            path.name,
            f"{column} of {rows} rows refers to a row that does not exist, e.g. {value}",
        )
    ]


def test_a_table_of_another_version(warehouse: Path, trace: Path) -> None:
    from tracewh.storage.manifest import write as seal

    duckdb.execute(f"COPY (SELECT 1 AS old) TO '{trace / 'steps.parquet'}' (FORMAT parquet)")
    seal(trace)
    [(file, problem)] = problems(warehouse)
    assert file == ""
    assert problem.startswith("its tables cannot be queried (Binder Error: ")


def test_a_column_that_an_older_version_did_not_write(warehouse: Path, trace: Path) -> None:
    from tracewh.storage.manifest import write as seal

    path = trace / "host_events.parquet"
    duckdb.execute(
        f"COPY (SELECT * EXCLUDE (inner_self_ns) FROM read_parquet('{path}', hive_partitioning = false))"
        f" TO '{path}.new' (FORMAT parquet)"
    )
    Path(f"{path}.new").rename(path)
    seal(trace)
    said = 'Binder Error: Referenced column "inner_self_ns" not found in FROM clause!'
    assert problems(warehouse) == [("", f"its tables cannot be queried ({said})")]


def test_what_was_left_behind(warehouse: Path) -> None:
    (warehouse / ".staging" / "dead").mkdir(parents=True)
    assert left_behind(warehouse) == [
        Problem(
            None,
            None,
            None,
            ".staging/dead",
            "left behind by a crashed ingest",
            f"tracewh ingest LOGDIR -w {warehouse}",
        )
    ]


def test_traces_that_come_and_go_are_no_problem(
    warehouse: Path, trace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each trace is taken out or replaced after it was listed, and half of it was looked at."""
    from tracewh.storage import checks as module

    real, turns = module._check_files, [0]

    def files(folder: Path) -> Iterator[tuple[str, str]]:
        turns[0] += 1
        if turns[0] == 1:  # gpu: another takes its place
            shutil.move(folder, folder.with_name("old"))
            shutil.copytree(folder.with_name("old"), folder)
            shutil.rmtree(folder.with_name("old"))
            yield "steps.parquet", "as a reader sees it that has both"
        elif turns[0] == 3:  # resnet
            shutil.rmtree(folder)
        yield from real(folder)

    monkeypatch.setattr(module, "_check_files", files)
    assert [(each.trace.run, each.problems) for each in check(warehouse)] == [("gpu", ())]
    assert turns == [3]
