"""What a file says as a whole: its processes, its devices, and its row of traces."""

from __future__ import annotations

import hashlib
from typing import Any

import pytest

from tests.ingest.conftest import IngestEvents, Row, canonical, device, flow, host, op, written


def test_processes(ingest_events: IngestEvents) -> None:
    def named(what: str, pid: Any, tid: Any, **args: Any) -> Row:
        return {"ph": "M", "name": what, "pid": pid, "tid": tid, "ts": 1, "args": args}

    trace = ingest_events(
        [
            named("process_name", 10, 0, name="python"),
            named("process_labels", 10, 0, labels="CPU"),
            named("process_sort_index", 10, 0, sort_index=10),
            named("thread_name", 10, 1, name="thread 1"),
            named("thread_sort_index", 10, 1, sort_index=3),
            named("thread_name", 10, 2, name="thread"),
            named("thread_name", 10, 2, name="thread 2"),
            named("process_name", 0, 0, name="python"),
            named("process_labels", 5, 0, labels=""),
            named("thread_name", 5, 1, name=""),
            named("process_labels", 0, 0, labels="GPU 0"),
            named("thread_sort_index", "Spans", "PyTorch Profiler", sort_index=2**31),
        ]
    )
    assert trace.rows(
        "SELECT t.pid, t.tid, t.process_name, t.process_labels, t.process_sort_index, t.thread_name,"
        " t.thread_sort_index FROM processes AS t ORDER BY t.pid, t.tid"
    ) == [
        ("0", None, "python", "GPU 0", None, None, None),
        ("10", "1", "python", "CPU", 10, "thread 1", 3),
        ("10", "2", "python", "CPU", 10, "thread 2", None),
        ("5", "1", None, None, None, None, None),
        ("Spans", "PyTorch Profiler", None, None, None, None, 2**31),
    ]


def test_devices(ingest_events: IngestEvents) -> None:
    entry = {"id": 1, "name": "NVIDIA H100", "totalGlobalMem": 85_000_000_000, "computeMajor": 9}
    trace = ingest_events(
        [], {"deviceProperties": [{"id": 0, "name": "", "numSms": "132", "extra": [1]}, entry]}
    )
    assert trace.rows(
        "SELECT t.device_id, t.name, t.total_memory_bytes, t.compute_major, t.num_sms,"
        " t.properties->'extra' FROM devices AS t ORDER BY t.device_id"
    ) == [(0, None, None, None, 132, "[1]"), (1, "NVIDIA H100", 85_000_000_000, 9, None, None)]


def test_a_device_that_a_file_lists_twice_is_one(ingest_events: IngestEvents) -> None:
    """As in a file that somebody merged from those of two processes; the list is kept as it was."""
    listed = [{"id": n, "name": name} for n, name in ((0, "A"), (1, "B"), (0, "A"), ("1", "C"))]
    trace = ingest_events([], {"deviceProperties": [*listed, {"name": "D"}, {"name": "D"}]})
    rows = trace.rows("SELECT t.device_id, t.name FROM devices AS t ORDER BY ALL")
    assert rows == [(0, "A"), (1, "B"), (None, "D"), (None, "D")]
    [(kept,)] = trace.rows(
        "SELECT json_array_length(t.metadata->'deviceProperties') FROM traces AS t"
    )
    assert kept == 6


def test_facts_of_a_trace(ingest_events: IngestEvents) -> None:
    base = 1_719_792_000_000_000_000
    trace = ingest_events(
        [
            host("cpu_op", "aten::mm", 5, 9),
            host("overhead", "Buffer Flush", 5, 6) | {"pid": -1},
            host("overhead", "Buffer Flush", 6, 7) | {"pid": -1},
            device(20, 30),
            {"ph": "i", "name": "Record Window End", "ts": 500, "s": "g"},
        ],
        {
            "schemaVersion": 1,
            "baseTimeNanoseconds": base,
            "Framework": "pytorch-lightning",
            "distributedInfo": {"rank": 3, "world_size": 8, "backend": "nccl"},
            "host_name": "node7",
            "with_stack": 1,
        },
        "node1_77.1719792000123.pt.trace.json",
    )
    source = trace.folder.parents[4] / "run" / "node1_77.1719792000123.pt.trace.json"
    [row] = trace.rows(
        "SELECT t.schema_version, t.base_time_ns, t.framework, t.rank, t.world_size, t.backend,"
        " t.hostname, t.process_id, t.start_ns - t.base_time_ns, t.end_ns - t.base_time_ns, t.events,"
        " t.skipped_events, t.trace_name, t.layout_version, t.generation, t.worker FROM traces AS t"
    )
    assert row == (
        *(1, base, "pytorch-lightning", 3, 8, "nccl"),
        *("node7", 10, 5_000, 30_000, 5),
        *(0, "node1_77.1719792000123", 1, "2024", "node1_77"),
    )
    stat = source.stat()
    assert trace.rows(
        "SELECT t.source_path, t.source_bytes, t.source_mtime_ns, t.content_hash,"
        " now() - t.ingested_at BETWEEN INTERVAL 0 HOURS AND INTERVAL 1 HOUR FROM traces AS t"
    ) == [
        (
            str(source),
            stat.st_size,
            stat.st_mtime_ns,
            hashlib.blake2b(source.read_bytes(), digest_size=32).hexdigest(),
            True,
        )
    ]


@pytest.mark.parametrize(
    ("name", "metadata", "rank"),
    [
        ("rank-34.Jul_15.1074.pt.trace.json", {}, 34),
        ("rank0.pt.trace.json", {}, 0),
        ("model_rank_12.json", {}, 12),
        ("RANK3.json", {}, 3),
        ("rank5.json", {"distributedInfo": {"rank": 0}}, 0),
        ("rank5.json", {"distributedInfo": {"rank": "6"}}, 6),
        ("rank5.json", {"distributedInfo": {"backend": "nccl"}}, 5),
        ("worker0.json", {}, None),
        ("crank.json", {}, None),
        ("rank123456789012.json", {}, None),  # as a date and a time
    ],
)
def test_rank(ingest_events: IngestEvents, name: str, metadata: Row, rank: int | None) -> None:
    trace = ingest_events([], metadata, name)
    assert trace.rows("SELECT t.rank FROM traces AS t") == [(rank,)]


@pytest.mark.parametrize(
    ("name", "metadata", "hostname"),
    [
        ("node1_10.123.pt.trace.json", {}, "node1"),  # process 10 recorded it
        ("a_b_10.pt.trace.json", {}, "a_b"),
        ("rank_3/a_b_10.123.pt.trace.json", {"distributedInfo": {"rank": 3}}, "a_b"),
        ("rank_3/a_b_10.pt.trace.json", {"distributedInfo": {"rank": 3}}, "a_b"),
        ("rank_3/a_b_11.123.pt.trace.json", {"distributedInfo": {"rank": 3}}, None),
        ("node1_11.pt.trace.json", {}, None),
        ("node1.pt.trace.json", {}, None),
        ("node1_10.pt.trace.json", {"host_name": "node2"}, "node2"),
        ("node1_10.pt.trace.json", {"hostname": "node3"}, "node3"),
    ],
)
def test_hostname(
    ingest_events: IngestEvents, name: str, metadata: Row, hostname: str | None
) -> None:
    trace = ingest_events([host("cpu_op", "aten::mm", 0, 1)], metadata, name)
    assert trace.rows("SELECT t.hostname FROM traces AS t") == [(hostname,)]


@pytest.mark.parametrize(
    ("events", "metadata", "generation"),
    [
        ([host("Operator", "aten::mm", 0, 1)], {}, "2021"),
        ([host("cpu_op", "a", 0, 1), flow("s", "async_cpu_to_gpu", 1, 0)], {}, "2022"),
        ([host("cpu_op", "a", 0, 1, **{"Trace iteration": 0})], {}, "2022"),
        ([host("cpu_op", "a", 0, 1), flow("s", "ac2g", 1, 0)], {}, "2023"),
        ([host("cpu_op", "a", 0, 1) | {"ts": 1712199514123456.5}], {}, "2024-04"),
        ([host("cpu_op", "a", 0, 1)], {"baseTimeNanoseconds": 1_719_853_884_000_000_000}, "2024"),
        ([host("cpu_op", "a", 0, 1)], {"baseTimeNanoseconds": 1_775_078_550_000_000_000}, "2026"),
    ],
)
def test_generation(
    ingest_events: IngestEvents, events: list[Row], metadata: Row, generation: str
) -> None:
    trace = ingest_events(events, metadata)
    assert trace.rows("SELECT t.generation FROM traces AS t") == [(generation,)]


@pytest.mark.parametrize(
    "metadata",
    [
        {"tw_job": "x", "nested": {"a": [None, 2**53 + 1, 0.1]}, "empty": {}, "none": None},
        {"schemaVersion": "one", "Framework": ["a"], "baseTimeNanoseconds": None},
        {"deviceProperties": {"id": 0}},
        {"deviceProperties": [5, None]},
        {"distributedInfo": "none", "host_name": 5},
    ],
    ids=lambda metadata: ", ".join(metadata),
)
def test_keys_of_the_file_that_no_column_holds(ingest_events: IngestEvents, metadata: Row) -> None:
    [(kept,)] = ingest_events([op()], metadata).rows("SELECT t.metadata FROM traces AS t")
    assert canonical(kept) == canonical(written(metadata))
