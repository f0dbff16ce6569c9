"""Rows of an Nsight Systems export that are rare: imported ranges, payloads, overheads, whole CUDA graphs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import tracewh
from tests.nsys_exports import (
    EPOCH,
    Tables,
    process,
    text,
    thread,
    tiny,
    write_parquet,
    write_sqlite,
)

US = 1000
MAIN = thread(7, 7)
FORMS: dict[str, Callable[[Path, Tables], Path]] = {
    "r.sqlite": write_sqlite,
    "r_pqtdir": write_parquet,
}
Rows = list[tuple[Any, ...]]


def _rows(path: Path, tables: Tables, sql: str, form: str = "r.sqlite") -> Rows:
    [result] = tracewh.ingest([FORMS[form](path / form, tables)], path / "warehouse")
    assert (result.status, result.reason) == ("ingested", "")
    with tracewh.open(path / "warehouse") as opened:
        return opened.sql(sql).fetchall()


def _range(at: int, **values: Any) -> dict[str, Any]:
    """A range of 5 us at a time in us."""
    return {"start": at * US, "end": (at + 5) * US, "eventType": 59, "globalTid": MAIN, **values}


def test_imported_ranges_are_ranges(tmp_path: Path) -> None:
    """Types 70 and 71 are those that nsys imported from a text file: push and pop, start and end."""
    ranges = [
        _range(10, eventType=70, text="pushed"),
        _range(20, eventType=71, text="started", endGlobalTid=MAIN),
        _range(30, eventType=71, text="elsewhere", endGlobalTid=thread(7, 8)),
        _range(40, eventType=75, text="a domain", domainId=3),
        _range(50, eventType=76, text="no domain any more", domainId=3),
    ]
    sql = f"""
        SELECT h.category, h.raw_category, h.name, h.start_ns - {EPOCH}, h.duration_ns
        FROM host_events AS h WHERE h.raw_category LIKE 'NVTX%'
        UNION ALL
        SELECT o.phase, o.category, o.name, o.time_ns - {EPOCH}, o.duration_ns
        FROM other_events AS o WHERE o.phase <> 'M'
        ORDER BY ALL
    """
    assert _rows(tmp_path, {**tiny(), "NVTX_EVENTS": ranges}, sql) == [
        ("X", "NVTX", "elsewhere", 30 * US, 5 * US),
        ("user_annotation", "NVTX", "pushed", 10 * US, 5 * US),
        ("user_annotation", "NVTX", "started", 20 * US, 5 * US),
    ]


#: What emit_nvtx writes, and the name, seq, op_id and sizes in it. The operators whose outputs are the inputs come last.
OPERATORS: dict[str, tuple[str, int | None, int | None, str | None]] = {
    "aten::mm, op_id = 15, sizes = [[4, 1024], [1024, 8]], input_op_ids = [(9,0), (12,1)]": (
        *("aten::mm", None, 15, "[[4,1024],[1024,8]]"),
    ),
    "aten::sum, seq = 7, op_id = 16, sizes = [[4, 8], [], []], input_op_ids = [(15,0)]": (
        *("aten::sum", 7, 16, "[[4,8],[],[]]"),
    ),
    "aten::relu, op_id = 17, input_op_ids = [(16,0)]": ("aten::relu", None, 17, None),
    "aten::add, seq = 8, op_id = 18": ("aten::add", 8, 18, None),
    "aten::mul, sizes = [[2], [3]]": ("aten::mul", None, None, "[[2],[3]]"),
}


def test_operators_of_emit_nvtx(tmp_path: Path) -> None:
    ranges = [_range(10 * n, text=text) for n, text in enumerate(OPERATORS)]
    sql = """
        SELECT h.name, h.sequence_number, h.record_function_id, h.input_dims::VARCHAR
        FROM host_events AS h WHERE h.category = 'cpu_op' ORDER BY h.start_ns
    """
    assert _rows(tmp_path, {**tiny(), "NVTX_EVENTS": ranges}, sql) == list(OPERATORS.values())


PAYLOADS: list[tuple[dict[str, Any], str | None]] = [
    ({"int64Value": -5}, '{"payload":-5}'),
    ({"uint64Value": 2**40}, '{"payload":1099511627776}'),
    ({"int32Value": -7}, '{"payload":-7}'),
    ({"uint32Value": 2**32 - 1}, '{"payload":4294967295}'),
    ({"int64Value": 0}, '{"payload":0}'),
    ({"doubleValue": 0.125}, '{"payload":0.125}'),
    ({"floatValue": -2.5}, '{"payload":-2.5}'),
    ({"category": 4, "int32Value": 9}, '{"category":4,"payload":9}'),
    ({"category": 0}, None),
    (
        {"jsonText": '{"a": "NaN, ]", "b": [1, null]}'},
        '{"payload":{"a": "NaN, ]", "b": [1, null]}}',
    ),
    ({"jsonText": "plain"}, '{"payload":"plain"}'),
    # DuckDB takes these for JSON. Perfetto and browsers do not read a file with them.
    ({"jsonText": '{"a": NaN}'}, r'{"payload":"{\"a\": NaN}"}'),
    ({"jsonText": "[-Infinity]"}, '{"payload":"[-Infinity]"}'),
    ({"jsonText": "[1, ]"}, '{"payload":"[1, ]"}'),
    # No numbers of JSON.
    ({"doubleValue": float("inf")}, '{"payload":"inf"}'),
    ({"floatValue": float("-inf")}, '{"payload":"-inf"}'),
]


@pytest.mark.parametrize("form", FORMS)
def test_payloads(tmp_path: Path, form: str) -> None:
    ranges = [
        _range(10 * n, text=f"range {n:02}", **values) for n, (values, _) in enumerate(PAYLOADS)
    ]
    marks = [
        {**each, "end": None, "eventType": 34, "text": f"mark {n:02}"}
        for n, each in enumerate(ranges)
    ]
    sql = """
        SELECT o.name, o.args::VARCHAR FROM other_events AS o WHERE o.phase = 'i'
        UNION ALL
        SELECT h.name, h.args::VARCHAR FROM host_events AS h WHERE h.raw_category = 'NVTX'
        ORDER BY ALL
    """
    tables = {**tiny(), "NVTX_EVENTS": [*ranges, *marks]}
    assert _rows(tmp_path, tables, sql, form) == [
        (f"{kind} {n:02}", said)
        for kind in ("mark", "range")
        for n, (_, said) in enumerate(PAYLOADS)
    ]


@pytest.mark.parametrize("form", FORMS)
def test_a_payload_of_64_bits_without_sign(tmp_path: Path, form: str) -> None:
    """SQLite has no such numbers: nsys writes the same bits, which SQLite shows as a negative number."""
    size = 2**64 - 2
    if form == "r.sqlite":
        rows = [_range(10, text="big", uint64Value=size - 2**64)]
    else:
        rows = [_range(10, text="big", uint64Value=size)]
    sql = "SELECT h.args::VARCHAR FROM host_events AS h WHERE h.raw_category = 'NVTX'"
    tables = {**tiny(), "NVTX_EVENTS": rows}
    assert _rows(tmp_path, tables, sql, form) == [(f'{{"payload":{size}}}',)]


@pytest.mark.parametrize("table", ["PROFILER_OVERHEAD", "CUPTI_ACTIVITY_KIND_OVERHEAD"])
def test_overheads(tmp_path: Path, table: str) -> None:
    """Older exports have the name in a table of types, newer ones in the row; a new type has no name."""
    rows = [
        {"start": 1 * US, "end": 2 * US, "globalTid": MAIN, "overheadType": 3},
        {"start": 3 * US, "end": 7 * US, "globalTid": MAIN, "overheadType": 8}
        | {"nameId": text("main thread"), "correlationId": 1},
        {"start": 8 * US, "end": 9 * US, "globalTid": MAIN, "overheadType": 99},
    ]
    tables = {**tiny(), "PROFILER_OVERHEAD": [], table: rows}
    sql = f"""
        SELECT h.name, h.start_ns - {EPOCH}, h.duration_ns, h.pid, h.tid, h.correlation_id, h.args::VARCHAR
        FROM host_events AS h WHERE h.category = 'overhead' ORDER BY h.start_ns
    """
    assert _rows(tmp_path, tables, sql) == [
        ("Buffer flush (Profiler)", 1 * US, US, "7", "7", None, '{"overhead type":3}'),
        ("main thread", 3 * US, 4 * US, "7", "7", None, '{"overhead type":8}'),
        ("", 8 * US, US, "7", "7", None, '{"overhead type":99}'),
    ]


def test_numbers_that_are_none(tmp_path: Path) -> None:
    """4294967295 is no device, and what was never set may be anything. A name may have no value."""
    tables, none = dict(tiny()), 2**32 - 1
    [kernel] = tables["CUPTI_ACTIVITY_KIND_KERNEL"]
    size = {name: none for name in ("gridX", "gridY", "gridZ", "clusterX", "clusterY", "clusterZ")}
    tables["CUPTI_ACTIVITY_KIND_KERNEL"] = [
        kernel,
        {**kernel, **size, "correlationId": 20, "deviceId": none},
    ]
    record = tables["CUDA_GPU_MEMORY_USAGE_EVENTS"][0]
    tables["CUDA_GPU_MEMORY_USAGE_EVENTS"] = [{**record, "deviceId": none, "memKind": 4}]
    tables["META_DATA_EXPORT"] = [{"name": "EXPORT_SCHEMA_VERSION", "value": None}]
    sql = """
        SELECT d.pid, d.device_id, d.grid[2], t.generation FROM device_events AS d
        JOIN traces AS t USING (worker) WHERE d.category = 'kernel'
        UNION ALL
        SELECT m.device_type, m.device_id, m.bytes, NULL FROM memory_records AS m
        ORDER BY ALL
    """
    assert _rows(tmp_path, tables, sql) == [
        ("-1", None, None, "nsys"),
        ("0", 0, 2, "nsys"),
        ("cuda", None, 512, None),
    ]


@pytest.fixture(scope="module")
def real(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[str], Rows]]:
    """Queries two exports of nsys 2026.2, of two processes each."""
    folder, top = shared / "data" / "sources" / "nsys", tmp_path_factory.mktemp("real")
    names = ("mfu_2gpu_before.sqlite", "h100_2gpu_1s.sqlite")
    tracewh.ingest([folder / name for name in names], top / "warehouse", run="job")
    with tracewh.open(top / "warehouse") as opened:
        yield lambda sql: opened.sql(sql).fetchall()


def test_overheads_of_real_exports(real: Callable[[str], Rows]) -> None:
    """Each has the rows of one of the two tables."""
    assert real(
        "SELECT h.name, h.args ->> '$.\"overhead type\"', count(*) FROM host_events AS h"
        " WHERE h.category = 'overhead' GROUP BY ALL ORDER BY ALL"
    ) == [
        ("CUPTI Buffer flush", "3", 4),
        ("Command Buffer Full", "8", 198),
        ("Unknown", "1", 2),
    ]


def test_correlation_ids_of_two_processes_repeat(real: Callable[[str], Rows]) -> None:
    """264 ids of calls and 78 of kernels of one recording, none of the other. A kernel belongs to a call with
    its id in its own process, or to none: 905 of 1,721 kernels of h100 ran before their calls were recorded.
    """
    assert real("SELECT DISTINCT t.generation FROM traces AS t") == [("nsys-3.25",)]
    repeated = """
        SELECT r.file, count(*) FROM (
            SELECT regexp_replace(e.worker, '_pid.*', '') AS file, e.correlation_id
            FROM {} GROUP BY ALL HAVING count(DISTINCT e.worker) > 1
        ) AS r GROUP BY ALL ORDER BY ALL
    """
    calls = "host_events AS e WHERE e.category IN ('cuda_runtime', 'cuda_driver')"
    assert real(repeated.format(calls)) == [("mfu_2gpu_before", 264)]
    kernels = "device_events AS e WHERE e.category = 'kernel'"
    assert real(repeated.format(kernels)) == [("mfu_2gpu_before", 78)]
    linked = """
        SELECT d.worker, count(*), count(d.launch_id),
            count(*) FILTER (WHERE c.correlation_id = d.correlation_id AND c.pid = t.process_id::VARCHAR)
        FROM device_events AS d INNER JOIN traces AS t USING (worker)
        LEFT JOIN host_events AS c ON d.worker = c.worker AND d.launch_id = c.event_id
        WHERE d.category = 'kernel' GROUP BY ALL ORDER BY ALL
    """
    assert real(linked) == [
        ("h100_2gpu_1s_pid111", 1721, 816, 816),
        ("h100_2gpu_1s_pid112", 1721, 816, 816),
        ("mfu_2gpu_before_pid144", 1993, 1981, 1981),
        ("mfu_2gpu_before_pid145", 2017, 2005, 2005),
    ]


def test_the_profilers_own_flush_is_told_apart_from_idle_time(real: Callable[[str], Rows]) -> None:
    """Of the second longest gap, 1,507,495 ns are CUPTI's flush; NVIDIA's rule of 2023 does not know its name."""
    assert real("SELECT duration_us, profiler_us FROM gpu_gaps() LIMIT 2") == [
        (4492.845, 0.0),
        (2433.526, 1507.495),
    ]


def test_a_whole_cuda_graph_is_one_device_event_of_its_launch(tmp_path: Path) -> None:
    """With --cuda-graph-trace=graph, which is the default, its kernels have no rows."""
    call = {**tiny()["CUPTI_ACTIVITY_KIND_RUNTIME"][0], "correlationId": 21}
    replay = {"deviceId": 0, "contextId": 1, "streamId": 7, "globalPid": process(7), "graphId": 4}
    tables = {
        **tiny(),
        "CUPTI_ACTIVITY_KIND_RUNTIME": [call],
        "CUPTI_ACTIVITY_KIND_KERNEL": [],
        "CUPTI_ACTIVITY_KIND_GRAPH_TRACE": [
            {**replay, "start": 40 * US, "end": 90 * US, "correlationId": 21},
            # Its launch was before the recording.
            {**replay, "start": 5 * US, "end": 9 * US, "correlationId": 3},
        ],
    }
    sql = f"""
        SELECT d.category, d.kind, d.name, d.device_id, d.stream_id, d.start_ns - {EPOCH}, d.duration_ns,
            d.graph_id, d.graph_node_id, c.name, o.name
        FROM device_events AS d
        LEFT JOIN host_events AS c ON d.launch_id = c.event_id
        LEFT JOIN host_events AS o ON d.op_id = o.event_id
        WHERE d.category = 'cuda_graph' ORDER BY d.start_ns
    """
    graph = ("cuda_graph", "compute", "CUDA graph", 0, 7)
    assert _rows(tmp_path, tables, sql) == [
        (*graph, 5 * US, 4 * US, 4, None, None, None),
        (*graph, 40 * US, 50 * US, 4, None, "cudaLaunchKernel", "aten::mm"),
    ]
    with tracewh.open(tmp_path / "warehouse") as opened:
        [(busy,)] = opened.sql("SELECT g.compute_us FROM gpu_time() AS g").fetchall()
    assert busy == 54.0
