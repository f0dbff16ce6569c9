"""Training loops recorded with the profiler and with tracewh.record: which loader is to blame, and for what."""

from __future__ import annotations

import re
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import tracewh
from tests.conftest import ROOT
from tests.torch_forks import run_with_torch

Row = dict[str, Any]
LOADERS = ("decoding", "reading", "healthy")


@pytest.fixture(scope="module")
def recorder() -> Any:
    """The script that records, which imports torch: every process of a test run collects this file."""
    from tests.live import record_loaders

    return record_loaders


@pytest.fixture(scope="module")
def warehouse(
    recorder: Any, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tracewh.Warehouse]:
    assert tuple(recorder.LOADERS) == LOADERS
    folder = tmp_path_factory.mktemp("loaders")
    run_with_torch(Path(recorder.__file__), folder / "traces")
    results = tracewh.ingest([folder / "traces"], folder / "warehouse")
    assert {result.status for result in results} == {"ingested"} and len(results) == len(LOADERS)
    with tracewh.open(folder / "warehouse") as opened:
        yield opened


def rows(warehouse: tracewh.Warehouse, view: str, **arguments: Any) -> list[Row]:
    relation = warehouse.view(view, **arguments)
    return [dict(zip(relation.columns, row, strict=True)) for row in relation.fetchall()]


def findings(warehouse: tracewh.Warehouse, run: str) -> dict[str, Row]:
    return {row["finding"]: row for row in rows(warehouse, "data_preparation_summary", run=run)}


def test_the_worker_that_decodes_is_named(warehouse: tracewh.Warehouse) -> None:
    found = findings(warehouse, "decoding")
    assert found["slow_pipeline"]["wait_per_step_us"] > 5000
    slow = found["slow_worker"]
    assert slow["loader_worker"] == 1 and slow["value"] > 5
    assert slow["wait_per_step_us"] > 0.8 * found["slow_pipeline"]["wait_per_step_us"]
    assert found["slow_operator"]["operator"] == "Dataset"
    assert "slow_reading" not in found
    [advice] = [
        row["message"]
        for row in rows(warehouse, "recommendations", run="decoding")
        if row["rule"] == "data_loading"
    ]
    assert "per step for worker 1, which " in advice


def test_the_recommendation_names_the_worker(warehouse: tracewh.Warehouse) -> None:
    [advice] = [
        row
        for row in rows(warehouse, "recommendations", run="decoding")
        if row["rule"] == "data_loading"
    ]
    assert "of the mean step waits for the data loader, of which" in advice["message"]
    assert re.search(
        r" per step for worker 1, which (decodes for|takes) .* per batch where", advice["message"]
    )


@pytest.mark.parametrize("run", ["decoding", "reading"])
def test_a_breakdown_has_the_recorded_waits(warehouse: tracewh.Warehouse, run: str) -> None:
    """The annotations of the profiler are the waits that the recorder measures, so it adds none."""
    steps = rows(warehouse, "step_breakdown", run=run)
    loading = sum(step["dataloader_us"] for step in steps) / len(steps)
    assert loading == pytest.approx(
        findings(warehouse, run)["slow_pipeline"]["wait_per_step_us"], rel=0.1
    )


def test_slow_storage_is_named_and_no_worker(warehouse: tracewh.Warehouse) -> None:
    found = findings(warehouse, "reading")
    assert {"slow_pipeline", "slow_operator", "slow_reading"} <= found.keys()
    assert "slow_worker" not in found
    assert found["slow_reading"]["value"] < 20


def test_a_healthy_loader_is_not_blamed(warehouse: tracewh.Warehouse) -> None:
    # On a busy machine, a batch that is ready may be handed over late.
    [only] = findings(warehouse, "healthy")
    assert only in ("no_bottleneck", "slow_transfer")


@pytest.mark.parametrize("run", LOADERS)
def test_every_recorded_batch_has_its_times(
    warehouse: tracewh.Warehouse, recorder: Any, run: str
) -> None:
    # All steps but the first ones of the schedule are recorded.
    recorded, workers = recorder.STEPS - 4, recorder.WORKERS
    batches = warehouse.data_pipeline_batches.filter(f"run = '{run}'").fetchall()
    names = warehouse.data_pipeline_batches.columns
    found = [dict(zip(names, row, strict=True)) for row in batches]
    assert len(found) >= recorded - 1
    assert {row["samples"] for row in found} == {recorder.BATCH}
    assert {row["loader_worker"] for row in found} == set(range(workers))
    assert len({row["loader_pid"] for row in found}) == workers
    for row in found:
        assert 0 < row["collate_ns"] < row["fetch_ns"] and row["cpu_ns"] > 0
        assert row["fetch_start_ns"] + row["fetch_ns"] <= row["time_ns"] + 1_000_000
        assert row["queue_capacity"] == 2 * workers >= row["queue_size"] >= 0
    slow = [row for row in found if row["get_ns"] > 20_000_000]
    assert not slow or run != "healthy" or len(slow) < 4


@pytest.mark.parametrize("run", LOADERS)
def test_the_clocks_of_recording_and_trace_agree(
    warehouse: tracewh.Warehouse, recorder: Any, run: str
) -> None:
    """Each wait that was recorded lies in the annotation that the profiler has for the same call."""
    apart = warehouse.sql(
        """
        SELECT min(abs(b.time_ns - (a.start_ns + a.duration_ns)))
        FROM data_pipeline_batches AS b
        INNER JOIN annotations AS a ON b.run = a.run
        WHERE b.run = $run AND a.name LIKE 'enumerate(DataLoader)#%'
        GROUP BY b.batch
        """,
        {"run": run},
    ).fetchall()
    assert len(apart) >= recorder.STEPS - 4 - 1
    assert sorted(ns for (ns,) in apart)[len(apart) // 2] < 1_000_000


def test_the_cpus_are_sampled(warehouse: tracewh.Warehouse, recorder: Any) -> None:
    found = rows(warehouse, "cpu_utilization", run="decoding", group_by="trace")
    scopes = [row["scope"] for row in found]
    assert scopes == ["host", "process", *["child_process"] * recorder.WORKERS]
    host, process, *children = found
    shares = ("user_pct", "system_pct", "io_wait_pct", "idle_pct")
    assert 95 < sum(host[name] for name in shares) < 101  # the rest is steal
    assert host["runnable_processes"] >= 1 and host["context_switches"] > 0
    assert host["cores"] >= 1 and process["busy_pct"] > 1
    by_worker = {row["loader_worker"]: row["busy_pct"] for row in children}
    assert by_worker[1] > 3 * by_worker[0]


def test_the_pipeline_has_three_operators(warehouse: tracewh.Warehouse, recorder: Any) -> None:
    workers = recorder.WORKERS
    found = rows(warehouse, "data_pipeline", run="reading")
    assert [row["operator"] for row in found] == ["DataLoader", "Collate", "Dataset"]
    assert [row["workers"] for row in found] == [0, workers, workers]
    loader, collate, dataset = found
    assert dataset["time_per_batch_us"] > 50_000 > collate["time_per_batch_us"]
    assert loader["queue_used_pct"] < 60
    queue = rows(warehouse, "data_queue", run="reading")
    assert len(queue) == loader["batches"] and queue[1]["step"] is not None


def test_secrets_stay_out(warehouse: tracewh.Warehouse) -> None:
    names = {row[0] for row in warehouse.counter_samples.project("name").fetchall()}
    assert names == {"host", "process", "child_process"}
    data = Path(warehouse.path) / "data"
    files = [*data.rglob("data_pipeline*.parquet"), *data.rglob("counter_samples.parquet")]
    host = socket.gethostname()
    assert files and not any(str(ROOT).encode() in file.read_bytes() for file in files)
    assert not any(f"{host}_".encode() in file.read_bytes() for file in files)
