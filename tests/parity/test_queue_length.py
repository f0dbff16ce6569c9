"""queue_length against the raw files, and what HTA's list of launches leaves of it."""

from __future__ import annotations

import gzip
import json
from collections import defaultdict
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    import tracewh

#: Of a stream: instants, lengths from then on, and the event that was launched or started.
Series = dict[tuple[int | None, int], list[tuple[int, int, int]]]

#: What HTA knows of the launches in the corpus; what it does not is in differences.txt.
KNOWN_CALLS = (
    *("cudaLaunchKernel", "cudaLaunchKernelExC", "cuLaunchKernel", "cudaMemcpyAsync"),
    *("cudaMemsetAsync", "hipLaunchKernel", "hipExtModuleLaunchKernel", "hipMemcpyAsync"),
    *("hipMemcpyWithStream", "runFunction - job_prep_and_submit_for_execution"),
)


def test_every_change_is_that_of_the_raw_file(corpus: tracewh.Warehouse) -> None:
    traces = corpus.sql("SELECT run, worker, span, source_path FROM traces").fetchall()
    changes = 0
    for run, worker, span, path in traces:
        if not path.endswith(".gz"):
            continue  # another tool's list of events
        found: Series = defaultdict(list)
        for _, _, _, device, stream, time, length, _, event in corpus.queue_length(
            run=run, worker=worker, span=span
        ).fetchall():
            found[device, stream].append((time, length, event))
        expected = _series(Path(path))
        assert found == expected, path
        changes += sum(map(len, expected.values()))
    assert changes > 90000


@pytest.mark.parametrize(
    "trace",
    [
        "mi300x_qwen_2025/Qwen_Qwen1.5-0.5B-Chat__1016005",
        "mi300x_sglang_decode_2026/sglang_Qwen3-8B_decode",
        "mi300x_triton_2026/trace",
        "mtia_inference_2026/mtia_inference_rank_0",
    ],
)
def test_of_the_launches_that_hta_knows_it_says_the_same(trace: str, shared: Path) -> None:
    said = json.loads((shared / "expected" / f"{trace}.hta.json").read_text("utf-8"))
    theirs: dict[int, Any] = {
        row["stream"]: (
            row["queue_length|count"],
            row["queue_length|max"],
            pytest.approx(row["queue_length|mean"]),
        )
        for row in said["data"]["queue_length_summary"]["data"]
    }
    ours = {}
    for (_, stream), points in _series(shared / "traces" / f"{trace}.json.gz", KNOWN_CALLS).items():
        lengths = [length for _, length, _ in points]
        ours[stream] = (len(lengths), max(lengths), sum(lengths) / len(lengths))
    assert ours == theirs


def _series(path: Path, names: tuple[str, ...] | None = None) -> Series:
    """The queue of each stream, with no SQL; of calls with some names only, where these are given."""
    with gzip.open(path) as file:
        trace = json.load(file, parse_float=Decimal)
    base = int(trace.get("baseTimeNanoseconds", 0))
    calls: dict[Decimal, list[tuple[int, str]]] = defaultdict(list)
    for event in trace["traceEvents"]:
        category = event.get("cat", "").lower()
        correlation = event.get("args", {}).get("correlation")
        if category.endswith(("runtime", "_driver")) and correlation is not None:
            calls[correlation].append((base + int(event["ts"] * 1000), event["name"]))
    changes: dict[tuple[int, int], list[tuple[int, int, int]]] = defaultdict(list)
    for number, event in enumerate(trace["traceEvents"]):
        if not _is_work(event) or event["args"].get("correlation") not in calls:
            continue
        start = base + int(event["ts"] * 1000)
        candidates = calls[event["args"]["correlation"]]
        before = [call for call in candidates if call[0] <= start]
        launch, name = max(before) if before else min(candidates)
        if names is None or name in names:
            device = event["args"].get("device", event["pid"])
            stream = (int(device), int(event["args"]["stream"]))
            # A launch sorts before a start, and no launch comes after its start.
            changes[stream] += [(min(launch, start), -1, number), (start, 1, number)]
    series: Series = {}
    for stream, moves in changes.items():
        length = 0
        series[stream] = []
        for time, move, number in sorted(moves):
            length -= move
            series[stream].append((time, length, number))
    return series


def _is_work(event: dict[str, Any]) -> bool:
    category, name = event.get("cat", "").lower(), event.get("name", "")
    if category == "mtia_ccp_events":
        return not name.startswith("event_") and "sync" not in name.lower()
    return category in ("kernel", "gpu_memcpy", "gpu_memset", "memcpy", "memset")
