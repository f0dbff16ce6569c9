"""A warehouse that lies in a store answers as the folder it was copied from does."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import tracewh
from tracewh.cli.app import main
from tracewh.views.registry import installed
from tracewh.views.warehouse import WarehouseError

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def local(all_samples: tracewh.Warehouse, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A warehouse of the bundled samples; one run's name has what a path cannot hold."""
    path = tmp_path_factory.mktemp("local") / "wh"
    shutil.copytree(all_samples.path, path)
    [sample, *_] = sorted((ROOT / "samples").rglob("*.json.gz"))
    tracewh.ingest([sample], path, run="a/b c%20ü")
    return path


@pytest.fixture(scope="module")
def copied(local: Path) -> Callable[[Any], str]:
    """Where the same warehouse is in a store; each is filled once."""
    filled = set()

    def copied(store: Any) -> str:
        if store.url not in filled:
            store.put_folder(local / "data", "warehouse/data")
            filled.add(store.url)
        return f"{store.url}/warehouse"

    return copied


@pytest.fixture
def url(store: Any, copied: Callable[[Any], str]) -> str:
    """The same warehouse in each store."""
    return copied(store)


@pytest.fixture(scope="module")
def rows(local: Path) -> dict[str, pa.Table]:
    """What the folder answers."""
    with tracewh.open(local) as opened:
        return {
            spec.name: opened.sql(f"FROM {spec.name} ORDER BY ALL").to_arrow_table()
            for spec in installed().tables()
        }


def test_every_table_is_the_same(url: str, rows: dict[str, pa.Table]) -> None:
    with tracewh.open(url) as other:
        assert other.path == url
        for table, expected in rows.items():
            same = other.sql(f"FROM {table} ORDER BY ALL").to_arrow_table() == expected
            assert same, table  # to print how they differ takes minutes
        assert other.sql("FROM traces SELECT count(*) > 2").fetchall() == [(True,)]


def test_runs_are_filtered_by_their_names(url: str, local: Path) -> None:
    """In each store; what views make of the rows is the same for all of them."""
    with tracewh.open(local) as one, tracewh.open(url) as other:
        want = one.view("step_breakdown", run="a/b c%20ü").fetchall()
        assert other.view("step_breakdown", run="a/b c%20ü").fetchall() == want
        assert other.view("step_breakdown", run="b c*", worker="*").fetchall() == want


def test_views_are_the_same(s3: Any, local: Path, copied: Callable[[Any], str]) -> None:
    with tracewh.open(local) as one, tracewh.open(copied(s3)) as other:
        for run in ("resnet_workers_0", "a/b c%20ü"):
            for view in ("step_breakdown", "operator_stats", "kernel_stats", "memory_curve"):
                want = one.view(view, run=run).fetchall()
                assert other.view(view, run=run).fetchall() == want, view
        assert other.sql("SHOW TABLES").fetchall() == one.sql("SHOW TABLES").fetchall()


def test_the_command_line_reads_it(
    s3: Any, local: Path, copied: Callable[[Any], str], capsys: pytest.CaptureFixture[str]
) -> None:
    url = copied(s3)
    for words in (
        ["runs"],
        ["show", "operator_stats", "--run", "resnet_workers_0"],
        ["query", "FROM traces SELECT run, worker, span, events ORDER BY ALL"],
    ):
        assert main([*words, "--format", "csv", "-w", str(local)]) == 0
        want = capsys.readouterr().out
        assert main([*words, "--format", "csv", "-w", url]) == 0
        assert capsys.readouterr().out == want
    assert main(["query", f"FROM read_csv('{local}/tracewh.duckdb')", "-w", url]) == 1
    assert "disabled by configuration" in capsys.readouterr().err


def test_errors(s3: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    url = f"{s3.url}/none"
    no_database = (
        "a warehouse in a store has no tracewh.duckdb; query it with `tracewh query` or from Python"
    )
    for words, said in (
        (["runs"], f"holds no traces; ingest some with `tracewh ingest LOGDIR -w {url}`"),
        (["check"], "holds no traces"),
        (["drop", "x", "-y"], "holds no traces"),
        (["relink"], no_database),
        (["shell"], no_database),
    ):
        assert main([*words, "-w", url]) == 1
        assert capsys.readouterr().err == f"tracewh: {url}: {said}\n"
    s3.put("torn/data/run=a/worker=b/span=c/traces.parquet", b"PAR1")
    s3.put("torn/data/run=a/worker=b/span=c/_manifest.json", b"{}")
    torn = tracewh.open(f"{s3.url}/torn")
    with torn, pytest.raises(WarehouseError) as error:
        torn.sql("FROM traces")
    assert str(error.value).startswith(f"{s3.url}/torn: ")
    assert "\n" not in str(error.value)
