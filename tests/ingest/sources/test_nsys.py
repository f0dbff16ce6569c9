"""What becomes of each table of an Nsight Systems export, by hand and against what NVIDIA's tools report."""

from __future__ import annotations

import csv
import re
import stat
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import tracewh
from tests.nsys_exports import (
    EPOCH,
    Tables,
    thread,
    tiny,
    write_parquet,
    write_sqlite,
)
from tracewh.ingest.sources.discover import discover

US = 1000
Ask = Callable[[str], list[tuple[Any, ...]]]


@pytest.fixture(scope="module", params=["sqlite", "parquet"])
def ask(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Ask:
    """Queries a warehouse with the tiny export in it, once as each kind of export."""
    top = tmp_path_factory.mktemp("tiny")
    logs = top / "job"
    logs.mkdir()
    if request.param == "sqlite":
        write_sqlite(logs / "report.sqlite", tiny())
    else:
        write_parquet(logs / "report_pqtdir", tiny())
    [result] = tracewh.ingest([top], top / "warehouse")
    assert (result.status, result.reason, result.run, result.worker) == (
        *("ingested", ""),
        *("job", "report"),
    )
    return _asking(top / "warehouse")


def _asking(warehouse: Path) -> Ask:
    opened = tracewh.open(warehouse)
    return lambda sql: opened.sql(sql).fetchall()


def _ingest(tmp_path: Path, tables: Tables, **options: Any) -> Ask:
    path = write_sqlite(tmp_path / "r.sqlite", tables)
    results = tracewh.ingest([path], tmp_path / "warehouse", **options)
    assert [result.reason for result in results] == [""] * len(results)
    return _asking(tmp_path / "warehouse")


def test_the_trace(ask: Ask) -> None:
    assert ask(
        "SELECT t.source, t.generation, t.base_time_ns, t.process_id, t.start_ns, t.end_ns, t.rank,"
        " t.skipped_events, t.skipped_reasons, t.metadata::VARCHAR FROM traces AS t"
    ) == [
        (
            *("nsys", "nsys-3.13", EPOCH, 7, EPOCH, EPOCH + 100 * US, None, 0, "{}"),
            '{"nsys": {"product_version": "2024.5.1.113", "schema_version": "3.13.2"}}',
        )
    ]


def test_calls_ranges_and_system_calls(ask: Ask) -> None:
    assert ask(
        f"SELECT h.category, h.raw_category, h.name, h.pid, h.tid, h.start_ns - {EPOCH}, h.duration_ns,"
        " h.correlation_id, h.sequence_number, h.record_function_id, h.input_dims::VARCHAR,"
        " h.finished, h.args::VARCHAR FROM host_events AS h ORDER BY h.event_id"
    ) == [
        (*row[:3], "7", "7", row[3] * US, (row[4] - row[3]) * US, *row[5:])
        for row in [
            _host("user_annotation", "NVTX", "ProfilerStep#5", 0, 100, args='{"range":"step 5"}'),
            _host(
                "overhead", "overhead", "Buffer flush (Profiler)", 1, 2, args='{"overhead type":3}'
            ),
            _host("cpu_op", "NVTX", "aten::mm", 10, 60, None, 12, 34, "[[2,3],[3,4]]"),
            _host("cuda_runtime", "cuda_runtime", "cudaLaunchKernel", 20, 30, 1),
            _host("cuda_runtime", "cuda_runtime", "cudaMemcpyAsync", 32, 38, 2),
            _host(
                "user_annotation",
                "NVTX:NCCL",
                "ncclAllReduce",
                50,
                55,
                args='{"payload":{"bytes": 64}}',
            ),
            _host("cuda_runtime", "cuda_runtime", "cudaMalloc", 62, 64, 3),
            _host(
                "cuda_driver",
                "cuda_driver",
                "cuLaunchKernelEx",
                65,
                66,
                4,
                args='{"return value":700}',
            ),
            _host("osrt", "osrt", "pthread_cond_wait", 80, 90),
            _host("user_annotation", "NVTX", "open", 98, 100, finished=False),
        ]
    ]


def _host(
    category: str,
    raw_category: str,
    name: str,
    start: int,
    end: int,
    correlation: int | None = None,
    sequence: int | None = None,
    op: int | None = None,
    dims: str | None = None,
    finished: bool | None = None,
    args: str | None = None,
) -> tuple[Any, ...]:
    first = (category, raw_category, name, start, end, correlation, sequence, op, dims)
    return (*first, finished, args)


def test_a_synchronization_is_of_the_device_of_its_context(tmp_path: Path) -> None:
    """Its own row has device 0, whatever the device is. Each type has the name that Kineto gives it.

    Kernels, copies and memsets tell the device of contexts 2 to 4. Many exports have no table of contexts, or
    none of processes. The second row of the former is that of another process.
    """
    tables = {name: rows for name, rows in tiny().items() if name != "PROCESSES"}
    kernel = tables["CUPTI_ACTIVITY_KIND_KERNEL"][0]
    second = {"contextId": 2, "correlationId": 11}
    tables["CUPTI_ACTIVITY_KIND_KERNEL"] = [kernel, {**kernel, **second, "deviceId": 1}]
    for context, table in ((3, "CUPTI_ACTIVITY_KIND_MEMCPY"), (4, "CUPTI_ACTIVITY_KIND_MEMSET")):
        work = {**tables[table][0], "contextId": context, "deviceId": context - 1}
        tables[table] = [*tables[table], work]
    tables["TARGET_INFO_CUDA_CONTEXT_INFO"] = [
        {"processId": 7, "contextId": 5, "deviceId": 4},
        {"processId": 8, "contextId": 5, "deviceId": 9},
    ]
    sync = tables["CUPTI_ACTIVITY_KIND_SYNCHRONIZATION"][0]
    tables["CUPTI_ACTIVITY_KIND_SYNCHRONIZATION"] = [
        {**sync, "syncType": 1},
        {**sync, **second, "syncType": 2},
        {**sync, "contextId": 3, "syncType": 3},
        {**sync, "contextId": 4, "syncType": 4},
        {**sync, "contextId": 5, "syncType": 5},
    ]
    ask = _ingest(tmp_path, tables)
    assert ask(
        "SELECT d.name, d.device_id FROM device_events AS d WHERE d.category = 'cuda_sync' ORDER BY 2"
    ) == [
        ("Event Sync", 0),
        ("Stream Wait Event", 1),
        ("Stream Sync", 2),
        ("Context Sync", 3),
        ("Unknown Sync", 4),
    ]


@pytest.mark.parametrize("write", [write_sqlite, write_parquet])
def test_a_process_gives_the_gpus_numbers_of_its_own(
    tmp_path: Path, write: Callable[[Path, Tables], Path]
) -> None:
    """With CUDA_VISIBLE_DEVICES=1, its device 0 is GPU 1 of the machine: that one has its metrics and properties."""
    tables = dict(tiny())
    [gpu] = tables["TARGET_INFO_GPU"]
    [metric] = tables["GPU_METRICS"]
    [name] = tables["TARGET_INFO_GPU_METRICS"]
    tables["TARGET_INFO_GPU"] = [
        {**gpu, "id": 0, "name": "NVIDIA A100"},
        {**gpu, "id": 1, "smCount": 8},
        {**gpu, "id": 1, "smCount": 8},
    ]
    # The second row is that of another process.
    tables["TARGET_INFO_CUDA_DEVICE"] = [
        {"gpuId": 1, "cudaId": 0, "pid": 7, "uuid": "a"},
        {"gpuId": 0, "cudaId": 0, "pid": 8, "uuid": "b"},
    ]
    tables["GPU_METRICS"] = [metric, {**metric, "typeId": 257, "value": 99}]
    tables["TARGET_INFO_GPU_METRICS"] = [name, {**name, "typeId": 257}]
    tracewh.ingest([write(tmp_path / "r.sqlite", tables)], tmp_path / "warehouse")
    ask = _asking(tmp_path / "warehouse")
    assert ask("SELECT d.device_id, d.name, d.num_sms FROM devices AS d") == [
        (0, "NVIDIA H100 80GB HBM3", 8)
    ]
    assert ask(
        "SELECT c.pid, c.series, c.value FROM counter_samples AS c WHERE c.category = 'gpu_metrics'"
    ) == [("0", "GPU 0", 99.0)]
    assert ask("SELECT d.blocks_per_sm FROM device_events AS d WHERE d.category = 'kernel'") == [
        (2.0,)
    ]


def test_copies_between_all_kinds_of_memory(tmp_path: Path) -> None:
    tables = dict(tiny())
    copy = tables["CUPTI_ACTIVITY_KIND_MEMCPY"][0]
    kinds = [(9, 1, 0), (10, 2, 2), (11, 4, 4), (12, 4, 4), (13, 4, 4), (8, 3, 2)]
    tables["CUPTI_ACTIVITY_KIND_MEMCPY"] = [
        {**copy, "correlationId": 20 + n, "copyKind": kind, "srcKind": source, "dstKind": target}
        for n, (kind, source, target) in enumerate(kinds)
    ]
    ask = _ingest(tmp_path, tables)
    assert ask(
        "SELECT d.name FROM device_events AS d WHERE d.category = 'gpu_memcpy' ORDER BY d.correlation_id"
    ) == [
        ("Memcpy HtoH (Pinned -> Pageable)",),
        ("Memcpy PtoP (Device -> Device)",),
        ("Memcpy Unified HtoD (Managed -> Managed)",),
        ("Memcpy Unified DtoH (Managed -> Managed)",),
        ("Memcpy Unified DtoD (Managed -> Managed)",),
        ("Memcpy DtoD (Array -> Device)",),
    ]


def test_kernels_copies_memsets_and_synchronizations(ask: Ask) -> None:
    assert ask(
        f"SELECT d.category, d.kind, d.name, d.pid, d.tid, d.stream_id, d.start_ns - {EPOCH},"
        " d.duration_ns, d.correlation_id, d.bytes, d.bandwidth_gbps FROM device_events AS d"
        " ORDER BY d.event_id"
    ) == [
        (
            "kernel",
            "compute",
            "void gemm<float>(float*)",
            "0",
            "7",
            7,
            40 * US,
            50 * US,
            1,
            None,
            None,
        ),
        ("cuda_sync", "sync", "Stream Sync", "0", "7", 7, 91 * US, US, 8, None, None),
        ("cuda_sync", "sync", "Context Sync", "0", "-1", None, 93 * US, US, 8, None, None),
        (
            *("gpu_memcpy", "memcpy", "Memcpy HtoD (Pageable -> Device)", "0", "7", 7, 95 * US),
            *(2 * US, 2, 4000, 2.0),
        ),
        ("gpu_memset", "memset", "Memset (Device)", "0", "7", 7, 98 * US, US, 9, 10, 0.01),
    ]
    assert ask(
        "SELECT d.device_id, d.context_id, d.grid, d.block, d.registers_per_thread,"
        " d.shared_memory_bytes, d.blocks_per_sm, d.warps_per_sm, d.graph_id, d.graph_node_id,"
        " d.args::VARCHAR FROM device_events AS d WHERE d.category = 'kernel'"
    ) == [
        (
            0,
            1,
            [8, 2, 1],
            [128, 1, 1],
            32,
            128,
            4.0,
            16.0,
            3,
            5,
            '{"cluster":[2,1,1],"launch type":2}',
        )
    ]


def test_a_kernel_belongs_to_its_call_and_to_the_innermost_range_around_it(ask: Ask) -> None:
    assert ask(
        "SELECT d.name, c.name, o.name FROM device_events AS d"
        " LEFT JOIN host_events AS c ON d.launch_id = c.event_id"
        " LEFT JOIN host_events AS o ON d.op_id = o.event_id"
        " WHERE d.category <> 'cuda_sync' ORDER BY d.event_id"
    ) == [
        ("void gemm<float>(float*)", "cudaLaunchKernel", "aten::mm"),
        ("Memcpy HtoD (Pageable -> Device)", "cudaMemcpyAsync", "aten::mm"),
        ("Memset (Device)", None, None),
    ]
    assert ask(
        f"SELECT f.kind, f.flow_id, f.source_ns - {EPOCH}, f.target_ns - {EPOCH}, f.target_pid,"
        " f.target_tid FROM flows AS f ORDER BY f.flow_id"
    ) == [("launch", 1, 20 * US, 40 * US, "0", "7"), ("launch", 2, 32 * US, 95 * US, "0", "7")]


def test_steps_memory_counters_marks_and_names(ask: Ask) -> None:
    assert ask(
        f"SELECT s.step, s.name, s.start_ns - {EPOCH}, s.end_ns - {EPOCH}, s.device_events"
        " FROM steps AS s"
    ) == [(5, "ProfilerStep#5", 0, 100 * US, 2)]
    assert ask(
        f"SELECT m.time_ns - {EPOCH}, m.tid, m.device_type, m.device_id, m.address, m.bytes, o.name"
        " FROM memory_records AS m LEFT JOIN host_events AS o ON m.op_id = o.event_id"
        " ORDER BY m.event_id"
    ) == [
        (63 * US, "7", "cuda", 0, 4096, 512, "ProfilerStep#5"),
        (63 * US, "7", "cuda", 0, 4096, -512, "ProfilerStep#5"),
    ]
    assert ask(
        f"SELECT c.category, c.name, c.pid, c.series, c.time_ns - {EPOCH}, c.value"
        " FROM counter_samples AS c ORDER BY c.event_id"
    ) == [
        ("cpu_samples", "CPU samples", "7", "7", 0, 3.0),
        ("cpu_time", "CPU time in 10 ms (ns)", "7", "7", 0, 1e6),
        ("gpu_metrics", "SM Active [Throughput %]", "0", "GPU 0", 50 * US, 61.0),
        ("cpu_time", "CPU time in 10 ms (ns)", "7", "7", 10_000_000, 2e6),
        # The thread ran from the first switch, at 9 ms, to the last one.
        ("cpu_utilization", "process", "7", "busy_pct", 10_000_000, 100.0),
        ("cpu_utilization", "process", "7", "busy_pct", 12_000_000, 100.0),
    ]
    assert ask(
        f"SELECT o.phase, o.category, o.name, o.tid, o.time_ns - {EPOCH}, o.duration_ns, o.args::VARCHAR"
        " FROM other_events AS o WHERE o.phase <> 'M' ORDER BY o.event_id"
    ) == [
        ("i", "NVTX", "evaluate", "7", 70 * US, None, None),
        ("X", "NVTX", "load", "7", 5 * US, 3 * US, '{"end thread":8}'),
    ]
    assert ask(
        "SELECT p.pid, p.process_name, p.process_labels, p.tid, p.thread_name FROM processes AS p"
        " ORDER BY p.pid"
    ) == [("0", "GPU 0", "GPU 0", None, None), ("7", "python3", None, "7", "main thread")]
    assert ask(
        "SELECT d.device_id, d.name, d.num_sms, d.max_threads_per_sm, d.compute_major,"
        " d.total_memory_bytes FROM devices AS d"
    ) == [(0, "NVIDIA H100 80GB HBM3", 4, 2048, 9, 80 << 30)]


def test_event_ids_are_numbered_from_0_and_links_are_whole(ask: Ask) -> None:
    [(events,)] = ask("SELECT t.events FROM traces AS t")
    tables = ["host_events", "device_events", "memory_records", "other_events"]
    ids = " UNION ALL ".join(f"SELECT e.event_id FROM {name} AS e" for name in tables)
    found = ask(
        f"{ids} UNION SELECT c.event_id FROM counter_samples AS c UNION ALL"
        " SELECT unnest([f.source_event_id, f.target_event_id]) FROM flows AS f"
    )
    assert sorted(each for (each,) in found) == list(range(events))


def test_the_order_of_rows_in_an_export_changes_nothing(tmp_path: Path) -> None:
    """nsys does not promise it."""
    found = []
    for name, tables in (
        ("a", tiny()),
        ("b", {table: [*reversed(rows)] for table, rows in tiny().items()}),
    ):
        (tmp_path / name).mkdir()
        ask = _ingest(tmp_path / name, tables, run="r")
        found.append(
            [
                ask(f"FROM {table} ORDER BY ALL")
                for table in ("host_events", "device_events", "flows")
            ]
        )
    assert found[0] == found[1]


def test_correlations_repeat_between_processes(tmp_path: Path) -> None:
    two = {
        name: [
            *rows,
            *(tiny(8)[name] if rows and {"globalTid", "globalPid"} & rows[0].keys() else []),
        ]
        for name, rows in tiny(7).items()
    }
    ask = _ingest(tmp_path, two)
    assert ask(
        "SELECT t.worker, t.process_id, count(*) FROM traces AS t JOIN device_events AS d"
        " USING (worker) JOIN host_events AS h ON d.worker = h.worker AND d.launch_id = h.event_id"
        " AND h.pid = t.process_id::VARCHAR GROUP BY ALL ORDER BY ALL"
    ) == [("r_pid7", 7, 2), ("r_pid8", 8, 2)]
    again = tracewh.ingest([tmp_path / "r.sqlite"], tmp_path / "warehouse")
    assert [(each.status, each.worker) for each in again] == [
        ("unchanged", "r_pid7"),
        ("unchanged", "r_pid8"),
    ]


@pytest.mark.parametrize(("others", "rank"), [(("NVTX_EVENTS",), 0), (None, None)])
def test_a_file_of_several_ranks_is_named_after_none_of_them(
    tmp_path: Path, others: tuple[str, ...] | None, rank: int | None
) -> None:
    """One nsys around torchrun records all of its ranks: then 0 is the number of the node, or of nothing.

    A process without work on a GPU, such as a loader, helps the rank that the file is named after.
    """
    second = {k: rows for k, rows in tiny(8).items() if others is None or k in others}
    tables = {
        name: [
            *rows,
            *(second.get(name, []) if {"globalTid", "globalPid"} & rows[0].keys() else []),
        ]
        for name, rows in tiny(7).items()
    }
    path = write_sqlite(tmp_path / "report_rank0.sqlite", tables)
    results = tracewh.ingest([path], tmp_path / "warehouse")
    ranks = _asking(tmp_path / "warehouse")("SELECT t.rank FROM traces AS t")
    assert (len(results), ranks) == (2, [(rank,)] * 2)


@pytest.mark.parametrize(
    ("names", "option", "steps"),
    [
        (["iteration 3", "iteration 4"], None, [(3, "ProfilerStep#3"), (4, "ProfilerStep#4")]),
        (["Step #3", "Step #4"], None, [(3, "ProfilerStep#3"), (4, "ProfilerStep#4")]),
        (["train_step"] * 2, "train_step", [(0, "ProfilerStep#0"), (1, "ProfilerStep#1")]),
        (["batch 7", "batch 9"], "batch [0-9]+", [(7, "ProfilerStep#7"), (9, "ProfilerStep#9")]),
        (["batch 7", "batch 9"], None, [(None, None)]),
        (["step 1 forward", "steps"], None, [(None, None)]),
    ],
)
def test_which_ranges_are_steps(
    tmp_path: Path, names: list[str], option: str | None, steps: list[tuple[int | None, str | None]]
) -> None:
    ranges = [
        {
            "start": 10 * at,
            "end": 10 * at + 9,
            "eventType": 59,
            "text": name,
            "globalTid": thread(7, 7),
        }
        for at, name in enumerate(names)
    ]
    ask = _ingest(tmp_path, {**tiny(), "NVTX_EVENTS": ranges}, step_range=option)
    assert ask("SELECT s.step, s.name FROM steps AS s ORDER BY s.start_ns") == steps


def test_ranges_of_one_kind_and_thread_are_steps(tmp_path: Path) -> None:
    """An iteration holds several `step` ranges, and another thread has such ranges too."""
    main, other = thread(7, 7), thread(7, 9)
    ranges = [
        {"start": start, "end": end, "eventType": 59, "text": name, "globalTid": tid}
        for start, end, name, tid in [
            *((0, 100, "iteration 1", main), (100, 200, "iteration 2", main)),
            *((10, 20, "step 1", main), (30, 40, "step 2", main), (0, 50, "iteration 1", other)),
        ]
    ]
    ask = _ingest(tmp_path, {**tiny(), "NVTX_EVENTS": ranges})
    assert ask("SELECT s.name, s.start_ns - s.end_ns FROM steps AS s ORDER BY s.step") == [
        ("ProfilerStep#1", -100),
        ("ProfilerStep#2", -100),
    ]
    assert ask(
        "SELECT h.name FROM host_events AS h WHERE h.name NOT LIKE 'Prof%' AND h.raw_category = 'NVTX'"
        " ORDER BY h.name"
    ) == [("iteration 1",), ("step 1",), ("step 2",)]


#: Tables that say nothing of each other, so that an export may lack all of a line.
LEFT_OUT = """
META_DATA_EXPORT ThreadNames ENUM_CUPTI_OVERHEAD_TYPE TARGET_INFO_GPU_METRICS SCHED_EVENTS
TARGET_INFO_SESSION_START_TIME PROCESSES CUPTI_ACTIVITY_KIND_MEMCPY COMPOSITE_EVENTS
TARGET_INFO_GPU CUPTI_ACTIVITY_KIND_RUNTIME OSRT_API PROFILER_OVERHEAD
CUPTI_ACTIVITY_KIND_KERNEL NVTX_EVENTS GPU_METRICS
CUPTI_ACTIVITY_KIND_MEMSET CUPTI_ACTIVITY_KIND_SYNCHRONIZATION CUDA_GPU_MEMORY_USAGE_EVENTS
"""


def test_each_table_may_be_missing() -> None:
    assert sorted([*LEFT_OUT.split(), "StringIds"]) == sorted(tiny())


@pytest.mark.parametrize("missing", [line.split() for line in LEFT_OUT.split("\n") if line])
def test_a_table_may_be_missing(tmp_path: Path, missing: list[str]) -> None:
    """nsys writes no table without rows."""
    tables = {name: rows for name, rows in tiny().items() if name not in missing}
    if "META_DATA_EXPORT" in missing:
        tables["EXPORT_META_DATA"] = tiny()["META_DATA_EXPORT"]  # its name in 2022
    ask = _ingest(tmp_path, tables)
    kernels = 0 if "CUPTI_ACTIVITY_KIND_KERNEL" in missing else 1
    assert ask("SELECT count(*) FROM device_events AS d WHERE d.category = 'kernel'") == [
        (kernels,)
    ]
    expected = '{"no_epoch": 1}' if "TARGET_INFO_SESSION_START_TIME" in missing else "{}"
    assert ask("SELECT t.skipped_reasons::VARCHAR FROM traces AS t") == [(expected,)]


def test_columns_may_be_missing(tmp_path: Path) -> None:
    """Those of one version of the schema only."""
    needed = {"start", "end", "globalPid", "globalTid", "id", "value", "name", "timestamp"}
    tables = {
        name: [{key: row[key] for key in row if key in needed} for row in rows]
        for name, rows in tiny().items()
    }
    ask = _ingest(tmp_path, tables)
    assert ask("SELECT d.category, d.name FROM device_events AS d ORDER BY d.event_id LIMIT 1") == [
        ("kernel", "")
    ]


def test_a_report_is_exported_by_the_users_own_nsys(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its protocol: nsys export --type sqlite --force-overwrite true --output OUT REPORT."""
    made, report = write_sqlite(tmp_path / "made.db", tiny()), tmp_path / "job" / "my r.nsys-rep"
    report.parent.mkdir()
    report.write_bytes(b"a report")
    monkeypatch.setenv("PATH", str(tmp_path))
    [result] = tracewh.ingest([report], tmp_path / "warehouse")
    assert result.reason == (
        "a report of Nsight Systems: export it with nsys, which is not in PATH here, and ingest the "
        "result: nsys export --type sqlite 'my r.nsys-rep'"
    )
    program = tmp_path / "nsys"
    program.write_text(
        '#!/bin/sh\n[ "$1 $2 $3 $4 $5 $6" = "export --type sqlite --force-overwrite true --output" ] ||'
        f' exit 2\n[ -f "$8" ] && /bin/cp {made} "$7" && echo done >> {tmp_path}/calls\n'
    )
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    [result] = tracewh.ingest([tmp_path / "job"], tmp_path / "warehouse")
    assert (result.status, result.worker, result.source_bytes) == ("ingested", "my r", 8)
    [result] = tracewh.ingest([tmp_path / "job"], tmp_path / "warehouse")
    assert (result.status, result.worker) == ("unchanged", "my r")
    assert (tmp_path / "calls").read_text() == "done\n"
    program.write_text("#!/bin/sh\necho 'Importer error: file is damaged' >&2\nexit 1\n")
    [result] = tracewh.ingest([report], tmp_path / "warehouse", force=True)
    assert result.reason == (
        "nsys export failed with exit code 1: Importer error: file is damaged; try: "
        "nsys export --type sqlite 'my r.nsys-rep'"
    )


def test_a_recording_in_several_forms_is_ingested_once(tmp_path: Path) -> None:
    """nsys stats leaves an export beside the report."""
    (tmp_path / "job" / "deep").mkdir(parents=True)
    (tmp_path / "job" / "r.nsys-rep").write_bytes(b"a report")
    write_sqlite(tmp_path / "job" / "r.sqlite", tiny())
    results = tracewh.ingest([tmp_path / "job"], tmp_path / "warehouse")
    assert [(each.status, Path(str(each.source)).name) for each in results] == [
        ("ingested", "r.sqlite")
    ]
    write_parquet(tmp_path / "job" / "r_pqtdir", tiny())
    results = tracewh.ingest([tmp_path / "job"], tmp_path / "warehouse")
    assert [(each.run, Path(str(each.source)).name) for each in results] == [("job", "r_pqtdir")]
    assert _asking(tmp_path / "warehouse")("SELECT t.worker, t.span FROM traces AS t") == [
        ("r", "default")
    ]
    results = tracewh.ingest([tmp_path / "job" / "r_pqtdir"], tmp_path / "named")
    assert [(each.run, each.worker) for each in results] == [("job", "r")]


def test_other_files_are_no_forms_of_a_recording(tmp_path: Path) -> None:
    """Names often have a dot, such as qwen2.5_rank0 or the name of a host; two folders may have the same name."""
    for node in ("a", "b"):
        (tmp_path / node / "job").mkdir(parents=True)
        for rank in (0, 1):
            write_sqlite(tmp_path / node / "job" / f"qwen2.5_rank{rank}.sqlite", tiny())
    write_parquet(tmp_path / "a" / "job" / "qwen2.5_rank0_pqtdir", tiny())
    found = discover([tmp_path / "a" / "job", tmp_path / "b" / "job"])
    assert [(each.worker, str(each.path).removeprefix(f"{tmp_path}/")) for each in found] == [
        ("qwen2.5_rank0", "a/job/qwen2.5_rank0_pqtdir"),
        ("qwen2.5_rank0", "b/job/qwen2.5_rank0.sqlite"),
        ("qwen2.5_rank1", "a/job/qwen2.5_rank1.sqlite"),
        ("qwen2.5_rank1", "b/job/qwen2.5_rank1.sqlite"),
    ]


def test_a_folder_that_changes_is_ingested_again(tmp_path: Path) -> None:
    folder = write_parquet(tmp_path / "r_pqtdir", tiny())
    for expected in ("ingested", "unchanged"):
        [result] = tracewh.ingest([folder], tmp_path / "warehouse")
        assert result.status == expected
    write_parquet(tmp_path / "new", {"OSRT_API": [*tiny()["OSRT_API"]] * 2})
    (tmp_path / "new" / "OSRT_API.parquet").replace(folder / "OSRT_API.parquet")
    [result] = tracewh.ingest([folder], tmp_path / "warehouse")
    assert result.status == "ingested"
    ask = _asking(tmp_path / "warehouse")
    assert ask("SELECT count(*) FROM host_events AS h WHERE h.category = 'osrt'") == [(2,)]


def test_a_folder_whose_name_is_a_pattern_for_another(tmp_path: Path) -> None:
    """The folder r1_pqtdir beside r[1]_pqtdir has two rows in OSRT_API in place of one."""
    folder = write_parquet(tmp_path / "r[1]_pqtdir", tiny())
    write_parquet(tmp_path / "r1_pqtdir", {**tiny(), "OSRT_API": [*tiny()["OSRT_API"]] * 2})
    [result] = tracewh.ingest([folder], tmp_path / "warehouse")
    assert result.status == "ingested"
    ask = _asking(tmp_path / "warehouse")
    assert ask("SELECT count(*) FROM host_events AS h WHERE h.category = 'osrt'") == [(1,)]


def _by_name(path: Path, name: str, count: str) -> dict[str, tuple[int, int]]:
    rows: dict[str, tuple[int, int]] = defaultdict(lambda: (0, 0))
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            key = re.sub(r"_v\d{5}$", "", row[name])
            rows[key] = (rows[key][0] + int(row[count]), rows[key][1] + int(row["Total Time (ns)"]))
    return dict(rows)


@pytest.mark.parametrize(
    "export", ["h100_2gpu_1s.sqlite", "mfu_2gpu_before.sqlite", "mfu_2gpu_before_pqtdir"]
)
def test_calls_kernels_and_copies_are_those_of_nsys_stats(
    shared: Path, tmp_path: Path, export: str
) -> None:
    folder = shared / "data" / "sources" / "nsys"
    results = tracewh.ingest([folder / export], tmp_path / "warehouse")
    assert [result.status for result in results] == ["ingested"] * 2
    reference = folder / f"{export.removesuffix('.sqlite').removesuffix('_pqtdir')}_reference"
    ask = _asking(tmp_path / "warehouse")
    for report, name, count, sql in (
        ("cuda_api_sum", "Name", "Num Calls", "host_events AS e WHERE e.category LIKE 'cuda%'"),
        (
            "cuda_gpu_kern_sum",
            "Name",
            "Instances",
            "device_events AS e WHERE e.category = 'kernel'",
        ),
    ):
        ours = ask(
            f"SELECT e.name, count(*), sum(e.duration_ns)::BIGINT FROM {sql} GROUP BY e.name"
        )
        theirs = _by_name(reference / f"{report}.csv", name, count)
        assert {row[0]: row[1:] for row in ours} == theirs, report
    [(count, ns, size)] = ask(
        "SELECT count(*), sum(e.duration_ns)::BIGINT, sum(e.bytes)::BIGINT FROM device_events AS e"
        " WHERE e.category IN ('gpu_memcpy', 'gpu_memset')"
    )
    theirs = _by_name(reference / "cuda_gpu_mem_time_sum.csv", "Operation", "Count")
    assert (count, ns) == tuple(map(sum, zip(*theirs.values(), strict=True)))
    with (reference / "cuda_gpu_mem_size_sum.csv").open(encoding="utf-8", newline="") as file:
        megabytes = [float(row["Total (MB)"]) for row in csv.DictReader(file)]
    assert size / 1e6 == pytest.approx(sum(megabytes), abs=0.0005 * len(megabytes))


def test_the_plain_fp32_kernels_use_no_tensor_cores(shared: Path, tmp_path: Path) -> None:
    """Of two H100: their names have both xmma_gemm and _ffma_."""
    path = shared / "data" / "sources" / "nsys" / "h100_2gpu_1s.sqlite"
    tracewh.ingest([path], tmp_path / "warehouse")
    assert _asking(tmp_path / "warehouse")(
        "SELECT count(DISTINCT d.name), count(*), sum(d.duration_ns)::BIGINT, bool_or(d.uses_tensor_cores)"
        " FROM device_events AS d WHERE d.name LIKE '%_ffma_%'"
    ) == [(7, 640, 38_781_120, False)]


@pytest.mark.parametrize(
    ("file", "generation", "kernels", "calls", "gpu"),
    [
        (
            "saxpy_mpi_a100/real_saxpy-mpi-cuda_nsys_perlmutter0",
            "nsys-2.9",
            5,
            57,
            "NVIDIA A100-SXM4-40GB",
        ),
        (
            "cloverleaf_a100/real_perlmutter-cloverleaf-cuda",
            "nsys-3.13",
            1312,
            3048,
            "NVIDIA A100-SXM4-80GB",
        ),
    ],
)
def test_older_exports(
    shared: Path, tmp_path: Path, file: str, generation: str, kernels: int, calls: int, gpu: str
) -> None:
    path = shared / "traces" / "other_tools" / "nsys" / f"{file}.sqlite"
    [result] = tracewh.ingest([path], tmp_path / "warehouse")
    ask = _asking(tmp_path / "warehouse")
    assert (result.status, result.worker) == ("ingested", path.stem)
    assert ask("SELECT t.generation FROM traces AS t") == [(generation,)]
    assert ask("SELECT count(*) FROM device_events AS d WHERE d.category = 'kernel'") == [
        (kernels,)
    ]
    assert ask("SELECT count(*) FROM host_events AS h WHERE h.category LIKE 'cuda%'") == [(calls,)]
    assert ask("SELECT DISTINCT d.name FROM devices AS d") == [(gpu,)]
    # 1,770 processes were running on that node.
    assert len(ask("SELECT DISTINCT p.pid FROM processes AS p WHERE p.process_labels IS NULL")) == 1
