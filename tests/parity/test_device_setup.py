"""device_setup against the raw files."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import tracewh

RUNTIME = ("cuda_runtime", "cuda_driver")
DEVICE = ("kernel", "gpu_memcpy", "gpu_memset")


def test_every_nanosecond_is_that_of_the_raw_file(
    raw: dict[tuple[str, str, str], list[dict[str, Any]]], corpus: tracewh.Warehouse
) -> None:
    """Of recordings without steps: their time is that of one step."""
    rows = corpus.sql("SELECT run, worker, span, setup_us FROM device_setup()").fetchall()
    found = {tuple(row[:3]): round(row[3] * 1000) for row in rows}
    whole = {
        key: _setup_ns(events)
        for key, events in raw.items()
        if not any(event["name"].startswith("ProfilerStep") for event in events)
    }
    expected = {key: length for key, length in whole.items() if length > 0}
    assert {key: length for key, length in found.items() if key in whole} == expected
    assert len(expected) >= 2


def _setup_ns(events: list[dict[str, Any]]) -> int:
    """Time in long calls in which neither a device nor the profiler works, independent of SQL."""
    changes = []
    for event in events:
        works = event["cat"] in DEVICE or (
            event["cat"] == "overhead"
            and re.search(
                "buffer (flush|request)|instrumentation|resource", event["name"], re.IGNORECASE
            )
        )
        if works or _prepares(event["cat"], event["name"], event["dur"]):
            start = int(event["ts"] * 1000)
            changes += [
                (start, bool(works), 1),
                (start + int(event["dur"] * 1000), bool(works), -1),
            ]
    changes.sort()
    running, total = [0, 0], 0
    for (time, works, change), (then, *_) in pairwise(changes):
        running[works] += change
        if running[0] > 0 and running[1] == 0:
            total += then - time
    return total


def _prepares(category: str, name: str, duration_us: float) -> bool:
    other = any(word in name for word in ("Synchronize", "emcpy", "Profiler", "GraphLaunch"))
    longest_us = 1000 if "Launch" in name else 100
    known = name.startswith(("cuda", "hip")) or re.match("cu[A-Z]", name) is not None
    return category in RUNTIME and known and not other and duration_us > longest_us
