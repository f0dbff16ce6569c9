"""What torch's own writers in Python put into a trace, otherwise than Kineto: the export with
use_python_export=True (torch/profiler/_chrome_trace_export.py) and that of the CUPTI monitor
(torch/profiler/_cupti/monitor_trace.py of torch 2.14)."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from tests.ingest.conftest import IngestEvents, canonical, op, written

#: By their number in CUPTI.
KINDS = [
    "Unknown",
    "Pageable",
    "Pinned",
    "Device",
    "Array",
    "Managed",
    "Device Static",
    "Managed Static",
]
ALLOCATION = {"Device Type": 0, "Device Id": -1, "Addr": 64, "Bytes": 512, "Total Allocated": 512}


def instant(name: str, args: dict[str, Any]) -> dict[str, Any]:
    """As use_python_export writes it: it lasts until the recording ends."""
    return {
        "ph": "X",
        "cat": "cpu_instant_event",
        "name": name,
        "pid": 10,
        "tid": 10,
        "ts": 6,
        "dur": 94,
        "args": args,
    }


def work(category: str, name: str, **args: Any) -> dict[str, Any]:
    """Work on stream 7, as the CUPTI monitor writes it."""
    fixed = {"device": 0, "context": 1, "stream": 7, "correlation": 0}
    return {
        "ph": "X",
        "cat": category,
        "name": name,
        "pid": 0,
        "tid": 7,
        "ts": 10,
        "dur": 2,
        "args": fixed | args,
    }


def test_an_instant_that_lasts_is_one(ingest_events: IngestEvents) -> None:
    given = [
        op(name="aten::add", ts=5, dur=3, pid=10, tid=10),
        instant("[memory]", ALLOCATION),
        instant("[OutOfMemory]", {"Bytes": 1 << 40}),
        op(name="aten::mul", ts=9, dur=90, pid=10, tid=10),
        op(name="[memory]", ts=100, pid=10, tid=10),
    ]
    found = ingest_events(given)
    assert found.rows("SELECT name, self_duration_ns FROM host_events ORDER BY start_ns") == [
        ("aten::add", 3_000),
        ("aten::mul", 90_000),
        ("[memory]", 1_000),
    ]
    [(time_ns, size, total, op_id)] = found.rows(
        "SELECT time_ns, bytes, total_allocated_bytes, op_id FROM memory_records"
    )
    assert (time_ns, size, total, op_id) == (6_000, 512, 512, 0)
    assert found.rows("SELECT name FROM other_events") == [("[OutOfMemory]",)]
    assert found.rows("SELECT skipped_reasons FROM traces") == [("{}",)]
    assert found.rebuilt() == [canonical(written(event)) for event in given]


@pytest.mark.parametrize(
    ("event", "name"),
    [
        (
            work(
                "gpu_memcpy",
                "Memcpy",
                **{"copy kind": "HtoD", "src kind": "pageable", "dst kind": "device_static"},
            ),
            "Memcpy HtoD (Pageable -> Device Static)",
        ),
        # The monitor has no word for copies on the host.
        (
            work(
                "gpu_memcpy", "Memcpy", **{"copy kind": 9, "src kind": "pinned", "dst kind": 12}
            ),
            "Memcpy HtoH (Pinned -> Unknown)",
        ),
        *(
            (work("gpu_memset", "Memset", **{"memory kind": number}), f"Memset ({kind})")
            for number, kind in enumerate(KINDS)
        ),
        *(
            (
                work(
                    "gpu_memcpy",
                    "Memcpy",
                    **{
                        "copy kind": "PtoP",
                        "src kind": kind.lower().replace(" ", "_"),
                        "dst kind": number,
                    },
                ),
                f"Memcpy PtoP ({kind} -> {kind})",
            )
            for number, kind in enumerate(KINDS)
        ),
        (
            work("gpu_memset", "Memset", **{"memory kind": 3})
            | {"ts": Decimal("10.12345678901234567890"), "tid": "7"},
            "Memset (Device)",
        ),
        (work("gpu_memcpy", "Memcpy"), "Memcpy"),
        (work("gpu_memset", "Memset"), "Memset"),
        (work("kernel", "Memcpy", **{"copy kind": "HtoD"}), "Memcpy"),
    ],
)  # fmt: skip
def test_a_copy_is_named_as_kineto_names_it(
    event: dict[str, Any], name: str, ingest_events: IngestEvents
) -> None:
    found = ingest_events([event])
    assert found.rows("SELECT name FROM device_events") == [(name,)]
    assert found.rows("SELECT skipped_reasons FROM traces") == [("{}",)]
    assert found.rebuilt() == [canonical(written(event))]


@pytest.mark.parametrize("category", ["graph_event_node", "graph_host_node"])
def test_events_and_callbacks_of_a_graph_are_no_work(
    category: str, ingest_events: IngestEvents
) -> None:
    event = work(category, "HostNode: notify", **{"graph id": 5, "graph node id": 3})
    found = ingest_events([work("kernel", "k"), event])
    assert found.rows("SELECT kind, graph_node_id FROM device_events ORDER BY event_id") == [
        ("compute", None),
        ("sync", 3),
    ]
    assert found.rebuilt()[1] == canonical(written(event))


@pytest.mark.parametrize(
    ("entry", "multiprocessors", "threads"),
    [
        ({"maxThreadsPerMultiprocessor": 132}, 132, None),
        ({"maxThreadsPerMultiprocessor": 1024}, None, 1024),
        ({"numSms": 132, "maxThreadsPerMultiprocessor": 512}, 132, 512),
        ({"numSms": 132}, 132, None),
        ({}, None, None),
    ],
)
def test_multiprocessors_are_not_threads(
    entry: dict[str, int],
    multiprocessors: int | None,
    threads: int | None,
    ingest_events: IngestEvents,
) -> None:
    found = ingest_events([op()], {"deviceProperties": [{"id": 0} | entry]})
    assert found.rows("SELECT num_sms, max_threads_per_sm FROM devices") == [
        (multiprocessors, threads)
    ]
