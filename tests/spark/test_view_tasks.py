"""Views and tables on a cluster say what they say on one machine."""

from __future__ import annotations

import os
import re
import shutil
import socket
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb
import pyarrow as pa
import pytest

import tracewh
import tracewh.spark
from tests.conftest import ROOT
from tests.copied import CopiedWarehouse
from tests.docs.test_readme import fenced
from tests.spark.sums import by_arrow, by_duckdb, by_polars, by_spark
from tests.storage.remote.conftest import BUCKET, Store
from tests.views.test_distributes import variants
from tests.views.test_every_view import crowd_of
from tracewh.cli.app import main
from tracewh.spark.distributed import sort_rows
from tracewh.views import Spec, ViewError
from tracewh.views.needed_traces import reads_captures
from tracewh.views.registry import installed
from tracewh.views.warehouse import WarehouseError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

REGISTRY = installed()


def unlike_others(views: Iterable[Spec]) -> list[Spec]:
    """The views that a cluster runs in ways of their own.

    Where rows depend on one trace only, each task runs what one machine runs, and rows are put in order: one
    view stands for all that have columns of the same types, and read captured graphs or do not. That the rows
    depend on no other trace is shown by tests/views/test_distributes.py.
    """
    chosen: dict[object, Spec] = {}
    for view in views:
        kind: object = view.object_name
        if view.distributes == "trace" and not view.combines:
            types = frozenset(re.sub(r"\(.*", "", column.type) for column in view.columns)
            kind = (types, reads_captures(view.object_name))
        chosen.setdefault(kind, view)
    return list(chosen.values())


VIEWS = unlike_others(REGISTRY)

#: Jobs of two ranks, a worker with two recordings, a trace of PyTorch Lightning, and one with counters.
TRACES = (
    "run=two_ranks_nccl_2023/*/span=default",
    "run=ddp_gloo/*/span=1",
    "run=h100_bert_2025/worker=gaunernst*/*",
    "run=lightning/worker=run/span=default",
    "run=counted/*/span=default",
)


@pytest.fixture(scope="module")
def warehouse(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    crowd = crowd_of(shared, tmp_path_factory) / "data"
    folder = tmp_path_factory.mktemp("views")
    for pattern in TRACES:
        for trace in crowd.glob(pattern):
            place = folder / "data" / trace.relative_to(crowd)
            shutil.copytree(trace, place, copy_function=os.link)
    return folder


@pytest.fixture(scope="module")
def copied(warehouse: Path) -> Iterator[CopiedWarehouse]:
    with CopiedWarehouse(warehouse) as opened:
        yield opened


@pytest.fixture
def on_cluster(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    """Commands work with the session of the tests: a process can have one only."""

    @contextmanager
    def session(master: str | None = None) -> Iterator[SparkSession]:
        assert master == "spark://there"
        yield spark

    monkeypatch.setattr("tracewh.spark.session.session", session)


@pytest.fixture(scope="module")
def answers(spark: SparkSession, warehouse: Path) -> Iterator[dict[str, pa.Table]]:
    """What views say on the cluster, asked for four at a time, each in no more tasks than cores."""

    def ask(view: Spec) -> pa.Table:
        arguments = variants(view)[0]
        return tracewh.spark.view(spark, view.object_name, warehouse, **arguments).toArrow()

    with pytest.MonkeyPatch.context() as patch, ThreadPoolExecutor(4) as pool:
        patch.setattr("tracewh.spark.view_tasks.TASKS_PER_CORE", 1)
        found = pool.map(ask, VIEWS)
        yield {view.object_name: rows for view, rows in zip(VIEWS, found, strict=True)}


@pytest.mark.parametrize("view", VIEWS, ids=lambda view: view.object_name)
def test_a_view_says_what_it_says_on_one_machine(
    answers: dict[str, pa.Table], copied: CopiedWarehouse, view: Spec
) -> None:
    there = answers[view.object_name]
    here = copied.view(view.name, view.version, **variants(view)[0]).to_arrow_table()
    with duckdb.connect() as con:
        found = sort_rows(con, view, there)
        # Of the answer here tests/views/test_contracts.py says so.
        assert dict(zip(found.columns, map(str, found.types), strict=True)) == {
            column.name: column.type for column in view.columns
        }
        expected = con.from_arrow(here)
        assert list(map(rounded, found.fetchall())) == list(map(rounded, expected.fetchall()))
    assert there.schema.types == here.schema.types


def rounded(row: tuple[Any, ...]) -> tuple[Any, ...]:
    """Sums of the same numbers in another order differ in the last digit."""
    return tuple(f"{value:.12g}" if isinstance(value, float) else value for value in row)


@pytest.mark.usefixtures("on_cluster")
@pytest.mark.parametrize(
    "words",
    [
        ["show", "kernel_stats", "--run", "two_ranks_nccl_2023", "--format", "json"],
        ["show", "collectives", "--sort", "bytes", "--limit", "7"],
        ["show", "diff_steps", "--baseline", "ddp_gloo", "--experiment", "h100_bert_2025"],
        ["show", "memory_curve", "--run", "ddp_gloo"],  # has no rows, and says why
    ],
    ids=lambda words: words[1],
)
def test_a_command_prints_what_it_prints_on_one_machine(
    warehouse: Path, capfd: pytest.CaptureFixture[str], words: list[str]
) -> None:
    words = [*words, "-w", str(warehouse)]
    assert main(words) == 0
    here = capfd.readouterr()
    assert main([*words, "--engine", "spark", "--master", "spark://there"]) == 0
    assert capfd.readouterr() == here
    assert here.out or "has no rows" in here.err


@pytest.mark.usefixtures("on_cluster")
def test_errors_of_commands(
    warehouse: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """Those of one machine where no trace is asked, and one line where a task fails."""
    shutil.copytree(warehouse, tmp_path / "wh")
    (torn,) = (tmp_path / "wh/data/run=lightning").rglob("device_events.parquet")
    torn.write_bytes(b"PAR1 and no more")
    there = ["--engine", "spark", "--master", "spark://there"]
    diff = ["diff_modules", "--baseline", "ddp_gloo", "--experiment", "h100_bert_2025"]
    on = f"on {socket.gethostname()}"
    for words, code, said in (
        (
            ["kernel_stats", "--run", "lightening"],
            2,
            "no run named 'lightening'; did you mean 'lightning'?",
        ),
        (
            ["kernel_stats", "--group-by", "grid"],
            2,
            "group_by must be one of 'name', 'launch', not 'grid'",
        ),
        (
            ["kernel_stats", "--step", "x"],
            2,
            "kernel_stats_v1: step takes a whole number (BIGINT), got 'x'",
        ),
        (
            ["utilization_series", "--buckets", "0", "--run", "ddp_gloo"],
            1,
            f"{on}: utilization_series_v1: buckets must be 1 to 1000000, not 0",
        ),
        (
            [*diff, "--block", "x"],
            1,
            f"{on}: diff_modules_v1: there is no block 'x'; diff_modules shows which there are",
        ),
        (
            ["kernel_stats"],
            1,
            f"{on}: kernel_stats_v1: No magic bytes found at end of file '{torn}'",
        ),
    ):
        assert main(["show", *words, "-w", str(tmp_path / "wh"), *there]) == code
        assert capfd.readouterr() == ("", f"tracewh: {said}\n")
    # Nobody opens what is of another run.
    words = ["kernel_stats", "--run", "counted", "-w", str(tmp_path / "wh")]
    assert main(["show", *words, *there]) == 0


def test_errors_come_before_any_job(
    spark: SparkSession, warehouse: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuses(said: str, name: str, **arguments: Any) -> None:
        with pytest.raises((tracewh.spark.SparkError, ViewError, WarehouseError)) as caught:
            tracewh.spark.view(spark, name, **arguments)
        assert str(caught.value) == said

    monkeypatch.setattr("tracewh.spark.view_tasks.one_per_task", None)
    there = {"warehouse": warehouse}
    refuses(
        "no warehouse is named: pass warehouse=..., or set spark.tracewh.warehouse", "kernel_stats"
    )
    refuses("no view named 'kernel_stat'; did you mean 'kernel_stats'?", "kernel_stat", **there)
    refuses("kernel_stats has no v9; there is v1", "kernel_stats", version=9, **there)
    refuses(
        "kernel_stats_v1 has no parameter 'grup_by'; did you mean 'group_by'?",
        "kernel_stats",
        grup_by="name",
        **there,
    )
    refuses(
        "trend_v1 needs figure: Name of a figure, e.g. step_us; the page of the view lists them.",
        "trend",
        **there,
    )
    refuses(
        "group_by must be one of 'name', 'launch', not 'grid'",
        "kernel_stats",
        group_by="grid",
        **there,
    )
    empty = tmp_path / "empty"
    (empty / "data").mkdir(parents=True)
    refuses(
        f"{empty} holds no traces; ingest some with `tracewh ingest LOGDIR -w {empty}`",
        "kernel_stats",
        warehouse=empty,
    )
    with pytest.raises(ViewError) as caught:
        tracewh.spark.table(spark, "kernels", warehouse)
    names = ", ".join(table.name for table in REGISTRY.tables())
    assert str(caught.value) == f"no table named 'kernels'; there is {names}"
    matched = "'*' matches 5 runs; name one:\n  counted\n  ddp_gloo\n  h100_bert_2025"
    matched += "\n  lightning\n  two_ranks_nccl_2023"
    refuses(matched, "kernel_stats", run="*", **there)
    with pytest.raises(ViewError) as caught:
        tracewh.spark.table(spark, "steps", warehouse, run="*")
    assert str(caught.value) == matched
    # Where there is nothing to ask, nobody is asked.
    nothing = tracewh.spark.view(spark, "trend", warehouse, figure="step_us", runs="none*")
    assert (nothing.count(), nothing.columns[:2]) == (0, ["run", "first_ns"])


def test_a_name_may_be_shortened(spark: SparkSession, warehouse: Path) -> None:
    with tracewh.open(warehouse) as opened:
        steps = opened.steps.filter("run = 'ddp_gloo' AND worker = 'rank1'").count("*").fetchall()
        rows = opened.step_breakdown(run="ddp_gloo", worker="rank1").count("*").fetchall()
    frame = tracewh.spark.view(spark, "step_breakdown", warehouse, run="_gloo", worker="*1")
    assert [(frame.count(),)] == rows
    table = tracewh.spark.table(spark, "steps", warehouse, run="ddp*", worker="k1")
    assert [(table.count(),)] == steps


def test_of_a_store_nobody_reads_more_than_a_run(
    spark: SparkSession, bucket: Store, warehouse: Path
) -> None:
    for path in warehouse.rglob("*.*"):
        if "run=ddp_gloo" in path.parts or "run=counted" in path.parts:
            bucket.put(f"views/{path.relative_to(warehouse)}", path.read_bytes())
    spark.conf.set("spark.tracewh.warehouse", f"s3://{BUCKET}/views")
    try:
        before = len(bucket.requests())
        frame = tracewh.spark.view(spark, "collectives", run="ddp_gloo")
        assert not [line for line in bucket.requests()[before:] if ".parquet" in line]
        found = frame.toArrow().to_pylist()
        read = [line for line in bucket.requests()[before:] if ".parquet" in line]
        table = tracewh.spark.table(spark, "steps", worker="rank1").toArrow().to_pylist()
    finally:
        spark.conf.unset("spark.tracewh.warehouse")
    assert all("run%3Dddp_gloo" in line or "run=ddp_gloo" in line for line in read)
    assert not [line for line in read if "memory_records" in line]
    with tracewh.open(warehouse) as opened:
        here = opened.collectives(run="ddp_gloo").to_arrow_table().to_pylist()
        assert sorted(map(repr, found)) == sorted(map(repr, here))
        steps = opened.steps.filter("worker = 'rank1'").to_arrow_table().to_pylist()
        assert len(table) > 1 and sorted(map(repr, table)) == sorted(map(repr, steps))


def test_tables_read_well_as_they_are(spark: SparkSession, warehouse: Path) -> None:
    """By Spark, Polars and Arrow, every column adds up to what it does in DuckDB."""
    tables = REGISTRY.tables()
    frames = [tracewh.spark.table(spark, table.name, warehouse) for table in tables]
    with tracewh.open(warehouse) as opened:
        for table, found in zip(tables, by_spark(frames, tables), strict=True):
            expected = by_duckdb(opened.sql(f"FROM {table.name}"), table)
            files = opened.files(table.name)
            assert found == expected, table.name
            assert by_polars(files, table) == expected, table.name
            assert by_arrow(files, table) == expected, table.name


def test_a_folder_that_looks_like_a_pattern(
    spark: SparkSession, warehouse: Path, tmp_path: Path
) -> None:
    """Spark would take it for one. It also reads the letters of a name as they are escaped in the path."""
    place = tmp_path / "a{b,c}[d] e*" / "data" / "run=1%2F%C3%BC"
    shutil.copytree(warehouse / "data" / "run=counted", place)
    found = tracewh.spark.table(spark, "traces", tmp_path / "a{b,c}[d] e*", run="1/ü")
    assert [row.run for row in found.collect()] == ["1/ü"]


def test_the_page_says_what_works(spark: SparkSession, warehouse: Path) -> None:
    run = "two_ranks_nccl_2023"
    page = ROOT / "docs" / "howto" / "spark.md"
    (text,) = (text for language, text in fenced(page) if language == "py")
    text = text.replace("s3://bucket/warehouse", str(warehouse)).replace("my_run", run)
    names: dict[str, Any] = {"spark": spark}
    try:
        exec(compile(text, "page", "exec"), names)  # noqa: S102
    finally:
        spark.conf.unset("spark.tracewh.warehouse")
    with tracewh.open(warehouse) as opened:
        kernels = opened.kernel_stats(run=run, group_by="launch").fetchall()
        events = opened.device_events.filter(f"run = '{run}'").fetchall()
    assert (names["kernels"].count(), names["events"].count()) == (len(kernels), len(events))
    assert len(kernels) > 100
