"""Recordings of the Ascend profiler: a drawn one, the shared real files, and damaged ones."""

from __future__ import annotations

import gzip
import json
import shutil
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import tracewh
from tests.ingest.sources import ascend_recording as drawn
from tracewh.ingest.sources.discover import discover
from tracewh.storage.checks import check

Rows = list[tuple[Any, ...]]
BASE = drawn.START_US * 1000


def rows(warehouse: tracewh.Warehouse, sql: str) -> Rows:
    return warehouse.sql(sql).fetchall()


@pytest.fixture(scope="module")
def recording(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tracewh.Warehouse]:
    """The drawn recording of rank 3, in a warehouse."""
    top = tmp_path_factory.mktemp("ascend")
    drawn.write_recording(top / "logs" / "job")
    [result] = tracewh.ingest([top / "logs"], top / "warehouse")
    assert (result.status, result.run, result.worker) == ("ingested", "job", "node1_103")
    with tracewh.open(top / "warehouse") as warehouse:
        yield warehouse


def test_facts(recording: tracewh.Warehouse) -> None:
    sql = "SELECT source, generation, rank, backend, skipped_events, skipped_reasons FROM traces"
    assert rows(recording, sql) == [("ascend", "ascend-torch", 3, "hccl", 0, "{}")]


def test_host_rows_are_those_of_kineto(recording: tracewh.Warehouse) -> None:
    sql = (
        f"SELECT category, name, pid, tid, (start_ns - {BASE}) // 1000, correlation_id FROM host_events"
        " ORDER BY start_ns"
    )
    assert rows(recording, sql) == [
        ("user_annotation", "ProfilerStep#5", "100", "7", 0, None),
        ("cpu_op", "aten::mm", "100", "7", 2, None),
        ("task_queue_runtime", "Enqueue", "100", "7", 4, None),
        ("task_queue_runtime", "Dequeue@aclnnMm", "100", "8", 9, None),
        ("cann_runtime", "Node@launch", "100", "8", 11, 31),
        ("cpu_op", "c10d::allreduce_", "100", "7", 14, None),
    ]


def test_device_rows_and_who_launched_them(recording: tracewh.Warehouse) -> None:
    # Only kernel_details.csv has the number of the device, 3, and no row for the wait and the copy.
    sql = f"""
        SELECT d.kind, d.name, d.device_id, d.stream_id, (d.start_ns - {BASE}) / 1000, d.duration_ns,
            c.name, o.name
        FROM device_events AS d
        LEFT JOIN host_events AS c ON d.launch_id = c.event_id
        LEFT JOIN host_events AS o ON d.op_id = o.event_id
        ORDER BY d.start_ns NULLS LAST, d.event_id
    """
    assert rows(recording, sql) == [
        ("compute", "aclnnMm_MatMul", 3, 2, 22.0, 10_500, "Node@launch", "aten::mm"),
        ("sync", "EVENT_WAIT", 3, 2, 34.0, 1000, None, None),
        ("communication", "hcom_allReduce__501_0_1", 3, None, 36.0, 20_000, None, "c10d::allreduce_"),
        ("compute", "aclnnAdd_Add", 3, 2, 57.0, 2000, None, None),
        ("memcpy", "MEMCPY_ASYNC", 3, 2, 60.0, 1000, None, None),
        ("annotation", "aclnnMm_MatMul", 3, 2, None, None, "Node@launch", "aten::mm"),
        ("annotation", "aclnnAdd_Add", 3, 2, None, None, None, None),
    ]  # fmt: skip


def test_sums_and_parts_of_collectives_are_no_device_work(recording: tracewh.Warehouse) -> None:
    sql = "SELECT category, name FROM other_events WHERE phase = 'X'"
    assert rows(recording, sql) == [("ascend_task", "Notify_Wait")]
    for table in ("host_events", "device_events", "other_events"):
        found = rows(recording, f"FROM {table} SELECT count(*) WHERE name IN ('Computing', 'Free')")
        assert found == [(0,)], table


def test_collectives_have_sizes(recording: tracewh.Warehouse) -> None:
    sql = "SELECT name, dtype, bytes, group_name, duration_us, step FROM collectives()"
    assert rows(recording, sql) == [("all_reduce", "float32", 1024, "62972320501", 20.0, 5)]
    sql = """
        SELECT args ->> '$."Wait Time(ms)"', args ->> '$."Bandwidth Info".HCCS."Transit Size(MB)"'
        FROM device_events WHERE kind = 'communication'
    """
    assert rows(recording, sql) == [("0.005", "0.001024")]


def test_counters_of_kernels(recording: tracewh.Warehouse) -> None:
    sql = "SELECT kernel_name, counters, duration_us, bottom_level_op FROM kernel_counters() ORDER BY ALL"
    assert rows(recording, sql) == [
        (
            "aclnnAdd_Add",
            {"aic_mac_ratio": 0, "cube_utilization(%)": 0, "gpu__time_duration.sum": 2000},
            2.0,
            None,
        ),
        (
            "aclnnMm_MatMul",
            {"aic_mac_ratio": 0.5, "cube_utilization(%)": 81.25, "gpu__time_duration.sum": 10500},
            10.5,
            "aten::mm",
        ),
    ]


def test_shapes_of_kernels(recording: tracewh.Warehouse) -> None:
    sql = """
        SELECT args ->> '$."Input Shapes"', args ->> '$."Output Shapes"', args ->> '$.Type', grid
        FROM device_events WHERE name = 'aclnnMm_MatMul' AND kind = 'compute'
    """
    assert rows(recording, sql) == [("4,8;8,2", "4,2", "MatMulV2", [20, 1, 1])]


def test_arrows(recording: tracewh.Warehouse) -> None:
    sql = "SELECT kind, flow_id, source_pid FROM flows ORDER BY ALL"
    assert rows(recording, sql) == [
        ("HostToDevice", 31 << 32, "100"),
        ("async_npu", 1_700_000_000_000_022_000, "100"),
        ("async_npu", 1_700_000_000_000_036_000, "100"),
        ("async_task_queue", 1, "100"),
    ]


def test_an_intact_recording_passes_the_checks(tmp_path: Path) -> None:
    # Rows of the overlap analysis are left out, so arrows behind them lie beyond the number of events.
    events = drawn.events()
    [free] = [event for event in events if event["name"] == "Free"]
    place = events.index(free)
    file = tmp_path / "trace_view.json"
    file.write_text(json.dumps([*events[:place], *[free] * 40, *events[place:]]), "utf-8")
    tracewh.ingest([file], tmp_path / "warehouse")
    with tracewh.open(tmp_path / "warehouse") as warehouse:
        sql = "FROM flows SELECT min(target_event_id) >= (SELECT events FROM traces)"
        assert rows(warehouse, sql) == [(True,)]
    [checked] = check(tmp_path / "warehouse")
    assert checked.problems == ()


def test_memory_is_that_of_operator_memory(recording: tracewh.Warehouse) -> None:
    sql = f"""
        SELECT (time_ns - {BASE}) // 1000, bytes, device_type, device_id, address, total_allocated_bytes
        FROM memory_records ORDER BY time_ns
    """
    mib = 1 << 20
    assert rows(recording, sql) == [
        (3, 2560, "npu", 3, 1, 3 * mib // 2),
        (5, 1024, "npu", 3, 2, 2 * mib),
        (33, -2560, "npu", 3, 1, 5 * mib // 4),
    ]


def test_memory_record_alone_gives_totals(tmp_path: Path) -> None:
    output = drawn.write_recording(tmp_path / "logs" / "job")
    (output / "operator_memory.csv").unlink()
    tracewh.ingest([tmp_path / "logs"], tmp_path / "warehouse")
    with tracewh.open(tmp_path / "warehouse") as warehouse:
        sql = "SELECT bytes, total_allocated_bytes / 1048576 FROM memory_records ORDER BY time_ns"
        assert rows(warehouse, sql) == [(None, 2.5), (None, 2.25)]


def test_ranks_of_a_job_are_workers_of_a_run(tmp_path: Path) -> None:
    for rank in (0, 1):
        drawn.write_recording(tmp_path / "logs" / "job", rank)
    found = tracewh.ingest([tmp_path / "logs"], tmp_path / "warehouse")
    assert [(each.run, each.worker) for each in found] == [
        ("job", "node1_100"),
        ("job", "node1_101"),
    ]
    again = tracewh.ingest([tmp_path / "logs"], tmp_path / "warehouse")
    assert [each.status for each in again] == ["unchanged", "unchanged"]
    named = tracewh.ingest([tmp_path / "logs"], tmp_path / "named", run="mine")
    assert {each.run for each in named} == {"mine"}


DAMAGE: dict[str, tuple[str, Callable[[str], str], str]] = {
    "a column too few": (
        "kernel_details.csv",
        lambda text: text.replace(",ND,N/A,0,0\n", ",ND\n"),
        "kernel_details.csv, line 4: it has fewer columns than the header",
    ),
    "a column too many": (
        "kernel_details.csv",
        lambda text: text.replace(",ND,N/A,0,0\n", ",ND,N/A,0,0,7\n"),
        "kernel_details.csv, line 4: it has more columns than the header",
    ),
    "cut off": (
        "kernel_details.csv",
        lambda text: text[: text.index('"""4,2;4,2')] + '"""4',
        "kernel_details.csv, line 4: a quote is missing",
    ),
    "an empty file": ("memory_record.csv", lambda text: "", "memory_record.csv is empty"),
    "JSON cut off": (
        "communication.json",
        lambda text: text[:50],
        "communication.json: Unterminated string",
    ),
}


@pytest.mark.parametrize("name", DAMAGE)
def test_damage_is_named_and_the_rest_is_kept(tmp_path: Path, name: str) -> None:
    output = drawn.write_recording(tmp_path / "logs" / "job")
    file, harm, said = DAMAGE[name]
    (output / file).write_text(harm((output / file).read_text()))
    [result] = tracewh.ingest([tmp_path / "logs"], tmp_path / "warehouse")
    assert (result.status, result.skipped_events, result.repairs) == (
        "ingested",
        1,
        {"damaged_rows": 1},
    )
    with tracewh.open(tmp_path / "warehouse") as warehouse:
        [(named,)] = rows(warehouse, "SELECT metadata ->> '$.damagedRows[0]' FROM traces")
        assert named.startswith(said)
        assert rows(warehouse, "SELECT count(*) FROM host_events") == [(6,)]
        assert rows(warehouse, "SELECT count(*) FROM kernels WHERE name = 'aclnnMm_MatMul'") == [
            (1,)
        ]


@pytest.mark.parametrize(
    "name", ["rank0_trace_view.json.gz", "trace_view_0.json", "msprof_20240101.json"]
)
def test_a_renamed_trace_view_in_a_folder_is_none_of_kineto(tmp_path: Path, name: str) -> None:
    text = (drawn.write_recording(tmp_path / "logs") / "trace_view.json").read_bytes()
    (tmp_path / "found").mkdir()
    (tmp_path / "found" / name).write_bytes(gzip.compress(text) if name.endswith(".gz") else text)
    [source] = discover([tmp_path / "found"])
    assert source.reader == "ascend"


def test_a_file_with_nothing_in_it(tmp_path: Path) -> None:
    path = tmp_path / "kernel_details.csv"
    path.write_text(drawn.HEADER + "\n")
    [result] = tracewh.ingest([path], tmp_path / "warehouse")
    assert result.reason == (
        "it has no events; analyse the recording again with torch_npu.profiler.analyse()"
    )


# The shared real files. No tool of Huawei was run on them.


@pytest.fixture(scope="module")
def real(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tracewh.Warehouse]:
    folder = shared / "traces" / "other_tools" / "ascend"
    top = tmp_path_factory.mktemp("real")
    names = ("trace_view.json", "kernel_details_28.csv", "kernel_details_591.csv")
    tracewh.ingest([folder / name for name in names], top / "warehouse")
    with tracewh.open(top / "warehouse") as warehouse:
        yield warehouse


#: Where the rows of the real trace_view.json go, by phase, category and, without one, the name of the process.
#: The two rows of an arrow are one row of flows.
PLACES: dict[tuple[str, str], tuple[int, str]] = {
    ("X", "cpu_op"): (711, "host_events: cpu_op"),
    ("X", "enqueue"): (148, "host_events: enqueue"),
    ("X", "dequeue"): (148, "host_events: dequeue"),
    ("X", "CANN"): (382, "host_events: cann_runtime"),
    ("X", "Ascend Hardware"): (276, "device_events"),
    ("X", "Overlap Analysis"): (547, "nowhere"),
    **{(phase, "HostToDevice"): (274, "flows: HostToDevice") for phase in "sf"},
    **{(phase, "async_npu"): (274, "flows: async_npu") for phase in "sf"},
    **{(phase, "async_task_queue"): (148, "flows: async_task_queue") for phase in "sf"},
    **{(phase, "fwdbwd"): (17, "flows: forward_backward") for phase in "sf"},
    ("M", ""): (32, "other_events: M"),
}


def test_where_each_row_of_the_real_trace_view_goes(real: tracewh.Warehouse, shared: Path) -> None:
    """No row is lost but the 547 of the lanes that draw sums."""
    path = shared / "traces" / "other_tools" / "ascend" / "trace_view.json"
    events = json.loads(path.read_text())
    processes = {
        each["pid"]: each["args"]["name"] for each in events if each["name"] == "process_name"
    }
    kinds = Counter(
        (each["ph"], each.get("cat") or (processes[each["pid"]] if each["ph"] == "X" else ""))
        for each in events
    )
    assert kinds == {kind: count for kind, (count, _) in PLACES.items()}
    assert kinds.total() == 3670
    queries = {
        "host_events": "CASE WHEN h.category IN ('cpu_op', 'cann_runtime') THEN h.category ELSE h.raw_category END",
        "flows": "h.kind",
        "other_events": "h.phase",
    }
    found = {"device_events": real.sql("FROM device_events WHERE worker = 'trace_view'").shape[0]}
    for table, kind in queries.items():
        sql = (
            f"SELECT {kind}, count(*) FROM {table} AS h WHERE h.worker = 'trace_view' GROUP BY ALL"
        )
        for name, count in rows(real, sql):
            found[f"{table}: {name}"] = 2 * count if table == "flows" else count
    expected: Counter[str] = Counter()
    for count, place in PLACES.values():
        expected[place] += count
    assert expected.pop("nowhere") == 547
    assert found == expected


def test_every_kernel_has_the_operator_and_the_row_of_the_queue(real: tracewh.Warehouse) -> None:
    sql = """
        SELECT count(*), count(o.event_id), count(c.event_id)
        FROM kernels AS d
        LEFT JOIN cpu_ops AS o ON d.op_id = o.event_id AND d.worker = o.worker
        LEFT JOIN host_events AS c
            ON d.launch_id = c.event_id AND d.worker = c.worker AND c.name ^@ 'Dequeue@'
        WHERE d.worker = 'trace_view'
    """
    assert rows(real, sql) == [(274, 274, 274)]


def test_computing_and_free_are_those_that_the_file_draws(
    real: tracewh.Warehouse, shared: Path
) -> None:
    path = shared / "traces" / "other_tools" / "ascend" / "trace_view.json"
    drawn_rows = json.loads(path.read_text())
    computing, free = (
        sum(row["dur"] for row in drawn_rows if row["name"] == name)
        for name in ("Computing", "Free")
    )
    [(compute_us, memcpy_us, idle_us)] = rows(
        real, "SELECT compute_us, memcpy_us, idle_us FROM gpu_time(worker := 'trace_view')"
    )
    # A row has up to half a nanosecond more than the file, which counts copies as free time.
    assert compute_us == pytest.approx(computing, abs=274 * 0.0005)
    assert idle_us + memcpy_us == pytest.approx(free, abs=274 * 0.0005)


def test_sums_of_the_real_kernel_details(real: tracewh.Warehouse, shared: Path) -> None:
    import csv

    for name in ("kernel_details_28", "kernel_details_591"):
        path = shared / "traces" / "other_tools" / "ascend" / f"{name}.csv"
        with path.open(newline="") as file:
            lines = list(csv.DictReader(file))
        total = sum(round(float(line["Duration(us)"]) * 1000) for line in lines)
        [found] = rows(
            real,
            f"SELECT count(*), sum(duration_ns), min(start_ns) FROM kernels WHERE worker = '{name}'",
        )
        first = min(line["Start Time(us)"].strip() for line in lines)
        whole, _, decimals = first.partition(".")
        start = int(whole) * 1000 + int(decimals.ljust(3, "0"))
        assert found == (len(lines), total, start), name
        values = sum(
            1
            for line in lines
            for key in list(line)[list(line).index("Context ID") + 1 :]
            if line[key] != "N/A"
        )
        counted = f"SELECT count(*) FROM counters WHERE worker = '{name}' AND counter <> 'gpu__time_duration.sum'"
        assert rows(real, counted) == [(values,)], name


@pytest.mark.parametrize("name", ["cluster_communication.json", "cluster_step_trace_time.csv"])
def test_sums_over_ranks_are_refused_by_name(shared: Path, tmp_path: Path, name: str) -> None:
    """By content, whatever the file is called."""
    copy = tmp_path / f"renamed{Path(name).suffix}"
    shutil.copyfile(shared / "traces" / "other_tools" / "ascend" / name, copy)
    [result] = tracewh.ingest([copy], tmp_path / "wh")
    assert (result.status, result.reason) == (
        "refused",
        (
            "sums over the ranks of a job, of cluster_analysis_output of the Ascend profiler; tracewh adds up "
            "the ranks itself: ingest their folders *_ascend_pt or *_ascend_ms"
        ),
    )


def test_sums_over_ranks_beside_recordings_are_left_alone(shared: Path, tmp_path: Path) -> None:
    logs = tmp_path / "job"
    drawn.write_recording(logs)
    (logs / "cluster_analysis_output").mkdir()
    for name in ("cluster_communication.json", "cluster_step_trace_time.csv"):
        found = shared / "traces" / "other_tools" / "ascend" / name
        shutil.copyfile(found, logs / "cluster_analysis_output" / name)
    results = tracewh.ingest([logs], tmp_path / "wh")
    assert [(each.status, each.run) for each in results] == [("ingested", "job")]
