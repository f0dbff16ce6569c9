"""Small exports of Nsight Systems, drawn row by row, as SQLite file or as folder of Parquet files."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

Rows = Sequence[Mapping[str, Any]]
Tables = Mapping[str, Rows]

#: The session of these exports starts here, nanoseconds since the epoch.
EPOCH = 1_700_000_000_000_000_000
#: Upper bits of all process numbers, as in real exports.
_HOST = 1 << 48


def process(pid: int) -> int:
    """The globalPid of a process."""
    return _HOST | pid << 24


def thread(pid: int, tid: int) -> int:
    """The globalTid of a thread."""
    return process(pid) | tid


def write_sqlite(path: Path, tables: Tables) -> Path:
    """Write tables, each with the columns that its rows have."""
    con = sqlite3.connect(path)
    for name, rows in tables.items():
        columns = list(dict.fromkeys(column for row in rows for column in row))
        if not columns:
            continue
        con.execute(f"CREATE TABLE {name} ({', '.join(map(repr, columns))})".replace("'", '"'))
        for row in rows:
            con.execute(
                f"INSERT INTO {name} VALUES ({', '.join('?' * len(columns))})",
                [row.get(column) for column in columns],
            )
    con.commit()
    con.close()
    return path


def write_parquet(folder: Path, tables: Tables) -> Path:
    """Write tables as `nsys export -t parquetdir` does: process numbers and bytes are unsigned."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    unsigned = {
        *("globalTid", "globalPid", "contextId", "streamId", "nameId", "bytes", "utcEpochNs"),
        "uint64Value",
    }
    folder.mkdir()
    for name, rows in tables.items():
        columns = list(dict.fromkeys(column for row in rows for column in row))
        arrays = {
            column: pa.array(  # noqa: TID251
                [row.get(column) for row in rows], pa.uint64() if column in unsigned else None
            )
            for column in columns
        }
        pq.write_table(pa.table(arrays), folder / f"{name}.parquet")
    return folder


TEXTS = [
    "cudaLaunchKernel_v7000",
    "void gemm<float>(float*)",
    "cudaMemcpyAsync_v3020",
    "cuLaunchKernelEx_v11060",
    "ncclAllReduce",
    "python3",
    "pthread_cond_wait",
    "main thread",
    "cudaMalloc_v3020",
    "nobody refers to this",
    '{"bytes": 64}',
]


def text(value: str) -> int:
    """The number of a text in StringIds."""
    return TEXTS.index(value) + 1


def tiny(pid: int = 7) -> Tables:
    """One process with one or two rows of every table that is read.

    Main thread (tid = pid), in microseconds:
        0 .. 100   range `step 5`
        10 .. 60   operator aten::mm of emit_nvtx
        20 .. 30   cudaLaunchKernel, correlation 1; its kernel runs 40 .. 90 on device 0, stream 7
        32 .. 38   cudaMemcpyAsync, correlation 2; its copy runs 95 .. 97
        70         mark `evaluate`
        80 .. 90   pthread_cond_wait
    """
    main = thread(pid, pid)
    us = 1000
    return {
        "StringIds": [{"id": number, "value": value} for number, value in enumerate(TEXTS, 1)],
        "META_DATA_EXPORT": [
            {"name": "EXPORT_PRODUCT_VERSION", "value": "2024.5.1.113"},
            {"name": "EXPORT_SCHEMA_VERSION", "value": "3.13.2"},
        ],
        "TARGET_INFO_SESSION_START_TIME": [{"utcEpochNs": EPOCH}],
        "PROCESSES": [{"globalPid": process(pid), "pid": pid, "name": "/opt/conda/bin/python3"}],
        "ThreadNames": [{"nameId": text("main thread"), "globalTid": main}],
        "TARGET_INFO_GPU": [
            {
                "id": 0,
                "name": "NVIDIA H100 80GB HBM3",
                "totalMemory": 80 << 30,
                "computeMajor": 9,
                "computeMinor": 0,
                "smCount": 4,
                "threadsPerWarp": 32,
                "maxWarpsPerSm": 64,
                "maxThreadsPerBlock": 1024,
            }
        ],
        "CUPTI_ACTIVITY_KIND_RUNTIME": [
            _call(main, 20 * us, 30 * us, 1, "cudaLaunchKernel_v7000"),
            _call(main, 32 * us, 38 * us, 2, "cudaMemcpyAsync_v3020"),
            # What nsys adds for the back trace of a call.
            _call(main, 20 * us, 30 * us, 1, "cudaLaunchKernel_v7000", 67),
            _call(main, 62 * us, 64 * us, 3, "cudaMalloc_v3020"),
            _call(main, 65 * us, 66 * us, 4, "cuLaunchKernelEx_v11060", 1, 700),
        ],
        "NVTX_EVENTS": [
            {"start": 0, "end": 100 * us, "eventType": 59, "text": "step 5", "globalTid": main},
            {
                "start": 10 * us,
                "end": 60 * us,
                "eventType": 59,
                "text": "aten::mm, seq = 12, op_id = 34, sizes = [[2, 3], [3, 4]]",
                "globalTid": main,
            },
            {"start": 70 * us, "eventType": 34, "text": "evaluate", "globalTid": main},
            {
                "start": 5 * us,
                "end": 8 * us,
                "eventType": 60,
                "text": "load",
                "globalTid": main,
                "endGlobalTid": thread(pid, pid + 1),
            },
            {
                "start": 50 * us,
                "end": 55 * us,
                "eventType": 59,
                "textId": text("ncclAllReduce"),
                "globalTid": main,
                "domainId": 1,
                "jsonTextId": text('{"bytes": 64}'),
            },
            {"start": 0, "eventType": 75, "text": "NCCL", "domainId": 1, "globalTid": main},
            {"start": 98 * us, "eventType": 59, "text": "open", "globalTid": main},
        ],
        "OSRT_API": [
            {
                "start": 80 * us,
                "end": 90 * us,
                "eventClass": 27,
                "globalTid": main,
                "nameId": text("pthread_cond_wait"),
            }
        ],
        "CUPTI_ACTIVITY_KIND_KERNEL": [
            {
                **_work(pid, 40 * us, 90 * us, 1),
                "demangledName": text("void gemm<float>(float*)"),
                "gridX": 8,
                "gridY": 2,
                "gridZ": 1,
                "blockX": 128,
                "blockY": 1,
                "blockZ": 1,
                "registersPerThread": 32,
                "staticSharedMemory": 100,
                "dynamicSharedMemory": 28,
                "launchType": 2,
                "clusterX": 2,
                "clusterY": 1,
                "clusterZ": 1,
                "graphId": 3,
                "graphNodeId": 5,
            }
        ],
        "CUPTI_ACTIVITY_KIND_MEMCPY": [
            {
                **_work(pid, 95 * us, 97 * us, 2),
                "bytes": 4000,
                "copyKind": 1,
                "srcKind": 0,
                "dstKind": 2,
            }
        ],
        "CUPTI_ACTIVITY_KIND_MEMSET": [
            {**_work(pid, 98 * us, 99 * us, 9), "bytes": 10, "memKind": 2}
        ],
        "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION": [
            {**_work(pid, 91 * us, 92 * us, 8), "syncType": 3},
            {**_work(pid, 93 * us, 94 * us, 8), "streamId": 4294967295, "syncType": 4},
        ],
        "CUDA_GPU_MEMORY_USAGE_EVENTS": [
            {
                "start": 63 * us,
                "globalPid": process(pid),
                "deviceId": 0,
                "contextId": 1,
                "address": 4096,
                "bytes": 512,
                "memKind": 2,
                "memoryOperationType": operation,
                "correlationId": 3,
            }
            for operation in (0, 1)
        ],
        "PROFILER_OVERHEAD": [
            {"start": 1 * us, "end": 2 * us, "globalTid": main, "overheadType": 3}
        ],
        "ENUM_CUPTI_OVERHEAD_TYPE": [
            {"id": 3, "name": "OVERHEAD_CUPTI_BUFFER_FLUSH", "label": "Buffer flush (Profiler)"}
        ],
        "GPU_METRICS": [{"timestamp": 50 * us, "typeId": 256, "metricId": 2, "value": 61}],
        "TARGET_INFO_GPU_METRICS": [
            {"typeId": 256, "metricId": 2, "metricName": "SM Active [Throughput %]"}
        ],
        "COMPOSITE_EVENTS": [
            {"id": number, "start": number * us, "cpu": 1, "globalTid": main} for number in range(3)
        ],
        "SCHED_EVENTS": [
            {"start": 9_000_000, "cpu": 1, "isSchedIn": 1, "globalTid": main},
            {"start": 12_000_000, "cpu": 1, "isSchedIn": 0, "globalTid": main},
        ],
    }


def _call(
    main: int, start: int, end: int, correlation: int, name: str, kind: int = 0, returned: int = 0
) -> dict[str, Any]:
    return {
        "start": start,
        "end": end,
        "eventClass": kind,
        "globalTid": main,
        "correlationId": correlation,
        "nameId": text(name),
        "returnValue": returned,
    }


def _work(pid: int, start: int, end: int, correlation: int) -> dict[str, Any]:
    return {
        "start": start,
        "end": end,
        "deviceId": 0,
        "contextId": 1,
        "streamId": 7,
        "correlationId": correlation,
        "globalPid": process(pid),
    }
