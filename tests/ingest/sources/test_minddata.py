"""The files of MindData: figures of MindInsight, and what becomes of damaged files."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import tracewh
from tracewh.ingest.api import FileResult

Row = dict[str, Any]


def mindspore(shared: Path, name: str = "minddata_2.0.0") -> Path:
    return shared / "traces" / "other_tools" / "mindspore" / name


def ingest(source: Path, warehouse: Path) -> FileResult:
    [result] = tracewh.ingest([source], warehouse)
    return result


def rows(warehouse: tracewh.Warehouse, view: str, **arguments: Any) -> list[Row]:
    relation = warehouse.view(view, **arguments)
    return [dict(zip(relation.columns, row, strict=True)) for row in relation.fetchall()]


@pytest.fixture(scope="module")
def real(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tracewh.Warehouse]:
    """Files of MindSpore 2.0 on a CPU: a pipeline of four operators, and operators of the training."""
    folder = tmp_path_factory.mktemp("minddata")
    for name in ("minddata_2.0.0", "cpu_2.0.0"):
        shutil.copytree(mindspore(shared, name), folder / "profiler", dirs_exist_ok=True)
    assert ingest(folder, folder / "wh").status == "ingested"
    with tracewh.open(folder / "wh") as opened:
        yield opened


def test_a_folder_is_one_trace_per_device(real: tracewh.Warehouse) -> None:
    [trace] = real.traces.project("worker, source, events").fetchall()
    assert trace == ("device0", "mindspore", 301)


def test_the_figures_are_those_of_mindinsight(real: tracewh.Warehouse, shared: Path) -> None:
    said = json.loads((mindspore(shared) / "minddata_pipeline_summary_0.json").read_text())
    found = rows(real, "data_pipeline")

    def column(name: str) -> list[Any]:
        return [round(row[name], 2) for row in found]

    assert [row["operator"] for row in found] == said["op_names"]
    assert [row["workers"] for row in found] == said["num_workers"]
    assert [-1 if row["parent_id"] is None else row["parent_id"] for row in found] == said[
        "parent_id"
    ]
    assert column("mean_queue_size") == said["queue_average_size"]
    assert column("queue_used_pct") == pytest.approx(said["queue_utilization_pct"], abs=0.03)
    assert column("queue_empty_pct") == said["queue_empty_freq_pct"]
    assert column("cpu_pct") == said["avg_cpu_pct"]
    assert column("cpu_per_worker_pct") == pytest.approx(said["avg_cpu_pct_per_worker"], abs=0.01)
    # MindInsight leaves out the first batch.
    assert found[0]["time_per_batch_us"] / 1000 == pytest.approx(
        said["per_pipeline_time"][0], rel=2e-3
    )


def test_the_findings_are_those_of_its_rules(real: tracewh.Warehouse) -> None:
    found = {
        (row["finding"], row["operator"]): row["value"]
        for row in rows(real, "data_preparation_summary")
    }
    assert found.keys() == {
        ("slow_pipeline", None),
        ("slow_operator", "Shuffle"),
        ("slow_operator", "Map"),
        ("slow_operator", "Generator"),
        ("slow_reading", "Generator"),
        ("fewer_workers", "Batch"),
        ("fewer_workers", "Map"),
    }
    assert found["slow_pipeline", None] == pytest.approx(92.13, abs=0.01)


def test_lists_of_other_lengths_are_not_put_together(real: tracewh.Warehouse) -> None:
    """Each sample of the host is in the file twice; the list of the process lacks the first one."""
    host = rows(real, "cpu_utilization", scope="host")
    assert len(host) == 15
    shares = ("user_pct", "system_pct", "io_wait_pct", "idle_pct")
    full = [sum(row[name] for name in shares) for row in host if row["user_pct"] is not None]
    assert full == [0.0, 89.0, *[100.0] * 6]
    assert [row["context_switches"] for row in host[:3]] == [0, 766, 3969]
    assert [row["runnable_processes"] for row in host[:3]] == [4, 3, 4]
    process = rows(real, "cpu_utilization", scope="process")
    assert [row["start_ns"] for row in process] == [row["start_ns"] for row in host[1:]]
    assert (process[0]["user_pct"], process[0]["system_pct"]) == (50.0, 50.0)


def test_queues_over_time(real: tracewh.Warehouse) -> None:
    found = rows(real, "data_queue", stage="operator")
    sizes = [row["queue_size"] for row in found if row["operator"] == "Map"]
    assert sizes == [0, 3, 0, 16, 2, 0, 0, 0, 0, 14, 0, 0, 7, 0, 0]
    assert len(rows(real, "data_queue", stage="iterator")) == 400


@pytest.fixture
def profile(tmp_path: Path) -> Path:
    """A pipeline of two operators and a queue of the device, by hand."""
    folder = tmp_path / "profiler"
    folder.mkdir()
    operators = [
        {"op_id": 0, "op_type": "BatchOp", "num_workers": 1, "children": [1], "metrics": None},
        {
            "op_id": 1,
            "op_type": "MapOp",
            "num_workers": 2,
            "metrics": {"output_queue": {"length": 4, "size": [4, 0]}},
        },
    ]
    (folder / "pipeline_profiling_3.json").write_text(
        json.dumps({"sampling_interval": 10, "op_info": operators})
    )
    lines = [
        f"0 0 {n} 2 {n * 10}\n0 1 {n} 1 {n * 10}\n0 2 {n} 3 {n * 10}\n1 8 {n} {n % 2} {n * 10}\n"
        for n in (1, 2)
    ]
    (folder / "device_queue_profiling_3.txt").write_text("".join(lines))
    (folder / "minddata_getnext_profiling_3.txt").write_text(
        "GetNext_dequeue 5000000 9000000 0\nGetNext_dequeue 15000000 16000000 1\n"
    )
    return folder


def read(profile: Path, tmp_path: Path, sql: str) -> list[tuple[Any, ...]]:
    assert ingest(profile.parent, tmp_path / "wh").status == "ingested"
    with tracewh.open(tmp_path / "wh") as warehouse:
        return warehouse.sql(sql).fetchall()


def test_a_queue_of_the_device(profile: Path, tmp_path: Path) -> None:
    found = read(
        profile,
        tmp_path,
        "SELECT worker, stage, batch, time_ns, get_ns, push_ns, total_ns, queue_size, queue_capacity"
        " FROM data_pipeline_batches ORDER BY ALL",
    )
    assert found == [
        ("device3", "device_queue", 1, 10000000, 2000000, 1000000, 3000000, 1, 8),
        ("device3", "device_queue", 2, 20000000, 2000000, 1000000, 3000000, 0, 8),
        ("device3", "get_next", 1, 9000000, 4000000, None, 4000000, 0, None),
        ("device3", "get_next", 2, 16000000, 1000000, None, 1000000, 1, None),
    ]


def test_a_queue_without_times_is_placed_by_its_interval(profile: Path, tmp_path: Path) -> None:
    found = read(
        profile, tmp_path, "SELECT time_ns, pid, value FROM counter_samples ORDER BY time_ns"
    )
    assert found == [(0, "1", 4.0), (10000000, "1", 0.0)]


def test_samples_that_fit_no_time_are_left_out_and_named(profile: Path, tmp_path: Path) -> None:
    (profile / "minddata_cpu_utilization_3.json").write_text(
        json.dumps(
            {
                "time_stamp": [5, 15, 25],
                "process_info": {"user_utilization": [1, 2, 3, 4, 5]},
                "device_info": {"idle_utilization": [7, 8, 9]},
            }
        )
    )
    result = ingest(profile.parent, tmp_path / "wh")
    assert result.repairs["damaged_rows"] == 2
    with tracewh.open(tmp_path / "wh") as warehouse:
        found = warehouse.sql(
            "SELECT name, time_ns, value FROM counter_samples ORDER BY 2"
        ).fetchall()
    assert found == [("host", n * 10**6, value) for n, value in ((5, 7.0), (15, 8.0), (25, 9.0))]


@pytest.mark.parametrize("key", ["runnable_process", "runable_processes"])
def test_runnable_processes_as_each_version_spells_them(
    profile: Path, tmp_path: Path, key: str
) -> None:
    (profile / "minddata_cpu_utilization_3.json").write_text(
        json.dumps({"time_stamp": [5, 15], "device_info": {key: [4, 3]}})
    )
    found = read(
        profile,
        tmp_path,
        "SELECT series, time_ns, value FROM counter_samples WHERE name = 'host' ORDER BY 2",
    )
    assert found == [
        ("runnable_processes", 5 * 10**6, 4.0),
        ("runnable_processes", 15 * 10**6, 3.0),
    ]


def test_a_cut_file_loses_its_last_line_only(profile: Path, tmp_path: Path) -> None:
    file = profile / "device_queue_profiling_3.txt"
    file.write_text(file.read_text()[:-6])
    result = ingest(profile.parent, tmp_path / "wh")
    assert (result.status, result.repairs["damaged_rows"]) == ("ingested", 1)
    with tracewh.open(tmp_path / "wh") as warehouse:
        found = warehouse.sql(
            "SELECT batch, queue_size FROM data_pipeline_batches WHERE stage = 'device_queue' ORDER BY 1"
        ).fetchall()
    assert found == [(1, 1), (2, None)]


def test_damaged_json_does_not_lose_the_other_files(profile: Path, tmp_path: Path) -> None:
    file = profile / "pipeline_profiling_3.json"
    file.write_text(file.read_text()[:-20])
    result = ingest(profile.parent, tmp_path / "wh")
    assert (result.status, result.repairs["damaged_rows"]) == ("ingested", 1)


def test_a_folder_with_nothing_whole_is_refused(tmp_path: Path) -> None:
    (tmp_path / "profiler").mkdir()
    (tmp_path / "profiler" / "pipeline_profiling_0.json").write_text('{"op_info": [')
    result = ingest(tmp_path, tmp_path / "wh")
    assert result.status == "refused"
    assert "pipeline_profiling" in result.reason and "not JSON" in result.reason
    assert not list((tmp_path / "wh").rglob("traces.parquet"))
