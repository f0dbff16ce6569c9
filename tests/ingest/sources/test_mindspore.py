"""MindSpore profiles: real CPU files with the sums of MindSpore, and drawn GPU files."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import tracewh
from tracewh.cli.output.cell_format import column
from tracewh.cli.report.report_trace import first_trace
from tracewh.views.queries import run_query

Rows = list[tuple[Any, ...]]


def rows(warehouse: tracewh.Warehouse, sql: str) -> Rows:
    return warehouse.sql(sql).fetchall()


# Drawn, in ns on the clock of the GPU, which is 5,000 ahead of the host's:
#
#            1000      2000      3000      4000      5000      6000
# steps      |---------------- step 1 ----------------|------- 2 ------|
# conv         |- 1200 + 1500 -|                        |- 5100 + 1.5 us
# add (CPU)              |2500|                                          host clock -2500, 0.0005 ms
# gemm               |-- 1900 + 800.5 --|                |- 5300
DRAWN = {
    "activity_execute_timestamp_1.txt": "void gemm<float, 2>(int; int);7;1900;0.8005\n"
    "void gemm<float, 2>(int; int);7;5300;0.25\nMemcpyH2D;14;900;0.1\n",
    "gpu_activity_data_1.csv": "name,type,op_full_name,stream_id,block_dim,grid_dim,occurrences,"
    "total_duration(us),avg_duration(us),max_duration(us),min_duration(us)\n"
    '"void gemm<float, 2>(int; int)",cuLaunchKernel,Default/net/conv-Conv2d/Conv2D-op3,7,"256,1,1","8,4,1",'
    "2,1.0505,0.52525,0.8005,0.25\n",
    "gpu_op_execute_timestamp_1.txt": "Default/net/conv-Conv2d/Conv2D-op3;GpuOps;1200,1.5 5100,1.5 \n",
    "cpu_op_execute_timestamp_1.txt": "Default/net/Add-op7;HostCpuOps;-2500,0.0005,3 \n",
    "gpu_framework_1.txt": "Conv2D;Default/net/conv-Conv2d/Conv2D-op3;12;input_1:[2, 3];input_2:[3, 1];\n"
    "Conv2D;Default/net/conv-Conv2d/Conv2D-op3;12;input_1:[4, 3];input_2:[3, 1];\n",
    "start_time_1.txt": "host_monotonic_raw_time(ns): 10000\ngpu_start_time(ns): 15000\n",
    "step_trace_profiling_1.txt": "Default/a,1000 Default/net/Conv2D-op3,1200 Gradients/b,3000 Default/c,5000\n"
    "Default/a,5000 Default/net/Conv2D-op3,5100 Gradients/b,5700 Default/c,6000\n",
    "profiler_info_1.json": '{"rank_id": "1", "rank_size": 2, "ms_version": "2.0.0", "path": "/home/hunter2-ms"}',
    "gpu_op_type_info_1.csv": "op_type,hunter2-ms\n",
}  # fmt: skip


def write(folder: Path, **changed: str | None) -> Path:
    """Write the drawn files, with some of them changed or left out."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in (DRAWN | {f"{key}_1.txt": text for key, text in changed.items()}).items():
        if text is not None:
            (folder / name).write_text(text)
    return folder


@pytest.fixture(scope="module")
def gpu(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tracewh.Warehouse]:
    top = tmp_path_factory.mktemp("mindspore")
    [result] = tracewh.ingest([write(top / "profiler")], top / "warehouse")
    assert (result.status, result.run, result.worker) == ("ingested", "profiler", "device1")
    with tracewh.open(top / "warehouse") as warehouse:
        yield warehouse


def test_facts(gpu: tracewh.Warehouse) -> None:
    sql = "SELECT source, generation, framework, rank, world_size, base_time_ns, skipped_reasons FROM traces"
    assert rows(gpu, sql) == [
        ("mindspore", "mindspore-gpu", "mindspore", 1, 2, None, '{"no_epoch": 1}')
    ]


def test_operators_on_the_clock_of_the_gpu(gpu: tracewh.Warehouse) -> None:
    sql = """
        SELECT name, module_hierarchy, start_ns, duration_ns, input_dims::VARCHAR, args ->> '$.op_full_name'
        FROM cpu_ops ORDER BY start_ns
    """
    conv = "Default/net/conv-Conv2d/Conv2D-op3"
    assert rows(gpu, sql) == [
        ("Conv2D", "Default/net/conv-Conv2d", 1200, 1500, "[[2,3],[3,1]]", conv),
        ("Add", "Default/net", 2500, 500, None, "Default/net/Add-op7"),
        ("Conv2D", "Default/net/conv-Conv2d", 5100, 1500, "[[4,3],[3,1]]", conv),
    ]


def test_kernels(gpu: tracewh.Warehouse) -> None:
    sql = "SELECT kind, name, stream_id, start_ns, duration_ns, grid, block, op_id FROM device_events ORDER BY start_ns"
    gemm = "void gemm<float, 2>(int; int)"
    assert rows(gpu, sql) == [
        ("memcpy", "MemcpyH2D", 14, 900, 100, None, None, None),
        ("compute", gemm, 7, 1900, 801, [8, 4, 1], [256, 1, 1], None),
        ("compute", gemm, 7, 5300, 250, [8, 4, 1], [256, 1, 1], None),
    ]


def test_steps(gpu: tracewh.Warehouse) -> None:
    assert rows(gpu, "SELECT step, start_ns, end_ns FROM steps ORDER BY step") == [
        (1, 1000, 5000),
        (2, 5000, 6000),
    ]


def test_phases_of_asynchronous_launches(tmp_path: Path) -> None:
    """Interval = fp - start, forward and backward = bp - fp, tail = end - bp; collectives may follow in a line."""
    lines = DRAWN["step_trace_profiling_1.txt"].splitlines()
    lines[0] += " Gradients/AllReduce-op3,3100,3900 Gradients/AllReduce-op4,4000,4500"
    write(tmp_path / "profiler", step_trace_profiling="\n".join(lines) + "\n")
    [result] = tracewh.ingest([tmp_path / "profiler"], tmp_path / "warehouse")
    assert (result.status, result.skipped_events) == ("ingested", 0)
    sql = """
        SELECT step, iteration_interval_us, fp_and_bp_us, tail_us, total_us, known_by
        FROM step_phases() ORDER BY step
    """
    with tracewh.open(tmp_path / "warehouse") as warehouse:
        assert rows(warehouse, sql) == [
            (1, 0.2, 1.8, 2.0, 4.0, "recorded"),
            (2, 0.1, 0.6, 0.3, 1.0, "recorded"),
        ]


def test_steps_of_synchronous_launches(tmp_path: Path) -> None:
    # MindSpore 2.0.0's GpuStepTraceParser reports for these lines: steps (100, 420), (400, 620); intervals 0 and
    # 30, forward and backward 250 and 140, tails 70 and 50, in units of 10 ns.
    text = (
        "Default/conv 100,120 430,450\nGradients/bp 300,350 560,570\nDefault/end 400,420 600,620\n"
    )
    write(tmp_path / "profiler", step_trace_profiling=text)
    tracewh.ingest([tmp_path / "profiler"], tmp_path / "warehouse")
    with tracewh.open(tmp_path / "warehouse") as warehouse:
        sql = """
            SELECT s.step, s.start_ns, s.end_ns, (h.args ->> '$.fp_start_ns')::BIGINT - s.start_ns,
                (h.args ->> '$.bp_end_ns')::BIGINT - (h.args ->> '$.fp_start_ns')::BIGINT,
                s.end_ns - (h.args ->> '$.bp_end_ns')::BIGINT
            FROM steps AS s INNER JOIN host_events AS h ON s.event_id = h.event_id ORDER BY s.step
        """
        assert rows(warehouse, sql) == [
            (1, 1000, 4200, 0, 2500, 700),
            (2, 4000, 6200, 300, 1400, 500),
        ]


def test_one_worker_per_device(tmp_path: Path) -> None:
    write(tmp_path / "profiler")
    (tmp_path / "profiler" / "cpu_op_execute_timestamp_0.txt").write_text(
        "Default/Add-op7;HostCpuOps;1000,0.5,0\n"
    )
    found = tracewh.ingest([tmp_path / "profiler"], tmp_path / "warehouse")
    assert [(each.worker, each.events) for each in found] == [("device0", 2), ("device1", 9)]
    again = tracewh.ingest([tmp_path / "profiler"], tmp_path / "warehouse")
    assert [each.status for each in again] == ["unchanged", "unchanged"]


@pytest.mark.parametrize(
    ("file", "text", "said", "kernels"),
    [
        ("activity_execute_timestamp", "k;7;1900;0.8\nk;7;19", "line 2: it has no start or no duration", 1),
        ("activity_execute_timestamp", "k;7;1900;N/A\nk;7;1;2\n", "line 1: it has no start or no duration", 1),
        ("gpu_op_execute_timestamp", "Default/Conv2D-op3;GpuOps\n", "line 1: it has no start or no duration", 2),
        ("gpu_op_execute_timestamp", "Default/Conv2D-op3;GpuOps;12,1 13,\n", "line 1: it has no start or no duration", 2),
        ("step_trace_profiling", "a,1 b,2 c,3\n", "line 1: it has no start or no duration", 2),
    ],
)  # fmt: skip
def test_damaged_lines(tmp_path: Path, file: str, text: str, said: str, kernels: int) -> None:
    write(tmp_path / "profiler", **{file: text})
    [result] = tracewh.ingest([tmp_path / "profiler"], tmp_path / "warehouse")
    assert (result.status, result.skipped_events) == ("ingested", 1)
    with tracewh.open(tmp_path / "warehouse") as warehouse:
        [(named,)] = rows(warehouse, "SELECT metadata ->> '$.damagedRows[0]' FROM traces")
        assert named == f"{file}_1.txt, {said}"
        assert rows(warehouse, "SELECT count(*) FROM kernels") == [(kernels,)]


def test_a_folder_without_one_good_line(tmp_path: Path) -> None:
    (tmp_path / "cpu_op_execute_timestamp_0.txt").write_text("Default/Add-op7;HostCpuOps;oops\n")
    [result] = tracewh.ingest([tmp_path / "cpu_op_execute_timestamp_0.txt"], tmp_path / "warehouse")
    assert result.reason == (
        "cpu_op_execute_timestamp_0.txt, line 1: it has no start or no duration; "
        "call profiler.analyse() again, or record again"
    )


# The real files of a CPU, with the sums that MindSpore 2.0.0 made of them as 32-bit numbers of six digits.


@pytest.fixture(scope="module")
def real(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tracewh.Warehouse]:
    top = tmp_path_factory.mktemp("real")
    tracewh.ingest([shared / "traces/other_tools/mindspore/cpu_2.0.0"], top / "warehouse")
    with tracewh.open(top / "warehouse") as warehouse:
        yield warehouse


def _table(shared: Path, name: str) -> list[dict[str, str]]:
    with (shared / "traces/other_tools/mindspore/cpu_2.0.0" / name).open(newline="") as file:
        return list(csv.DictReader(file))


def test_times_by_type_are_those_of_mindspore(real: tracewh.Warehouse, shared: Path) -> None:
    sql = "SELECT name, calls, host_total_us, host_total_us / sum(host_total_us) OVER () FROM operator_stats()"
    found = {name: (calls, us, share) for name, calls, us, share in rows(real, sql)}
    said = _table(shared, "cpu_op_type_info_0.csv")
    assert len(said) == 11
    assert found.keys() == {line["op_type"] for line in said}
    for line in said:
        calls, us, share = found[line["op_type"]]
        assert calls == int(line["type_occurrences"])
        assert us == pytest.approx(1000 * float(line["total_compute_time"]), rel=1e-5)
        assert us / calls == pytest.approx(1000 * float(line["avg_time(ms)"]), rel=1e-5)
        assert share == pytest.approx(float(line["percent"]), rel=1e-5)


def test_times_by_operator_are_those_of_mindspore(real: tracewh.Warehouse, shared: Path) -> None:
    sql = """
        SELECT args ->> '$.op_full_name', any_value(name), count(*), sum(duration_ns) / 1e6
        FROM cpu_ops GROUP BY ALL
    """
    found = {full: (kind, calls, ms) for full, kind, calls, ms in rows(real, sql)}
    said = _table(shared, "cpu_op_detail_info_0.csv")
    assert found.keys() == {line["full_op_name"] for line in said}
    for line in said:
        kind, calls, ms = found[line["full_op_name"]]
        assert (kind, calls) == (line["op_type"], int(line["op_occurrences"]))
        assert ms == pytest.approx(float(line["op_total_time(ms)"]), rel=1e-5)


def test_the_whole_is_that_of_the_timeline(real: tracewh.Warehouse, shared: Path) -> None:
    path = shared / "traces/other_tools/mindspore/cpu_2.0.0/cpu_timeline_summary_0.json"
    said = json.loads(path.read_text())
    sql = "SELECT count(*), count(DISTINCT args ->> '$.op_full_name'), sum(duration_ns) / 1e6 FROM cpu_ops"
    [(calls, operators, ms)] = rows(real, sql)
    assert (calls, operators) == (said["op_exe_times"], said["num_of_ops"])
    assert ms == pytest.approx(said["total_time"], rel=1e-9)


def test_every_run_of_an_operator_has_its_shapes(real: tracewh.Warehouse) -> None:
    sql = "SELECT count(*), count(input_dims) FROM cpu_ops"
    assert rows(real, sql) == [(300, 300)]


def test_the_clock_of_a_machine_is_no_date(tmp_path: Path) -> None:
    # The machine runs for 23 days: 2 * 10^15 ns would be a day in January 1970.
    text = DRAWN["step_trace_profiling_1.txt"].replace(",", ",200000000000")
    write(tmp_path / "profiler", step_trace_profiling=text)
    tracewh.ingest([tmp_path / "profiler"], tmp_path / "warehouse")
    with tracewh.open(tmp_path / "warehouse") as warehouse:
        assert warehouse.runs().project("first_ns, last_ns").fetchall() == [(None, None)]
        [(newest,)] = run_query(warehouse, "newest_run").fetchall()
        assert newest == "profiler"
        [listed] = run_query(warehouse, "report/home").project("run, first_ms").fetchall()
        assert listed == ("profiler", None)
        trace = first_trace(warehouse, "profiler", None, None)
        assert trace is not None
        assert (trace.date, trace.end_ns > 0) == ("", True)
        steps = rows(warehouse, "SELECT start_ns FROM steps ORDER BY step LIMIT 1")
    values = [value for (value,) in steps]
    assert values == [2_000_000_000_001_000]
    assert list(column("start_ns", values, dates=True).cells) == ["2,000,000,000,001,000"]


def test_of_runs_without_dates_the_one_ingested_last_is_the_newest(tmp_path: Path) -> None:
    for run, first_copy in (("b", "900"), ("a", "800")):
        text = DRAWN["activity_execute_timestamp_1.txt"].replace("900;0.1", f"{first_copy};0.1")
        steps = DRAWN["step_trace_profiling_1.txt"].replace("6000", f"6{first_copy}")
        write(tmp_path / run, activity_execute_timestamp=text, step_trace_profiling=steps)
        tracewh.ingest([tmp_path / run], tmp_path / "warehouse")
    with tracewh.open(tmp_path / "warehouse") as warehouse:
        assert run_query(warehouse, "newest_run").fetchall() == [("a",)]
        listed = run_query(warehouse, "report/home").project("run").fetchall()
        assert listed == [("a",), ("b",)]


def test_the_timeline_alone_is_refused(tmp_path: Path) -> None:
    """It is drawn from the other files, and has lanes for scopes and steps that are no threads."""
    first = {"name": "thread_sort_index", "pid": 0, "tid": 100001, "ts": 0, "ph": "M"}
    events = [first | {"cat": "__metadata", "args": {"sort_index": -3}}]
    path = tmp_path / "cpu_timeline_display_0.json"
    path.write_text(json.dumps(events), "utf-8")
    [result] = tracewh.ingest([path], tmp_path / "warehouse")
    assert result.status == "refused"
    assert result.reason == (
        "the timeline that MindSpore draws from its other files; ingest the folder with all of them instead"
    )
    # A list of events of another tool is a trace.
    path.write_text(
        json.dumps([{"name": "a", "ph": "X", "ts": 1, "dur": 1, "tid": 100001}]), "utf-8"
    )
    [result] = tracewh.ingest([path], tmp_path / "warehouse")
    assert result.status == "ingested"
