"""optimizer_time against the raw files."""

from __future__ import annotations

import re
from collections import Counter
from itertools import pairwise
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import tracewh

#: Kinds of intervals.
CALL, LAUNCHED, OTHER, STEP = range(4)


def test_every_nanosecond_is_that_of_the_raw_file(
    raw: dict[tuple[str, str, str], list[dict[str, Any]]], corpus: tracewh.Warehouse
) -> None:
    rows = corpus.sql(
        "SELECT run, worker, span, optimizer_us, idle_us FROM optimizer_time()"
    ).fetchall()
    found = {tuple(row[:3]): tuple(round(us * 1000) for us in row[3:]) for row in rows}
    steps = corpus.sql(
        "SELECT s.run, s.worker, s.span, s.extended_start_ns - coalesce(t.base_time_ns, 0),"
        " s.extended_end_ns - coalesce(t.base_time_ns, 0)"
        " FROM steps AS s JOIN traces AS t USING (run, worker, span) WHERE NOT s.is_tail"
    ).fetchall()
    expected = {
        key: _times_ns(events, [(step[3], step[4]) for step in steps if step[:3] == key])
        for key, events in raw.items()
    }
    assert found == {key: times for key, times in expected.items() if times[0] > 0}
    assert sum(0 < idle < all_of_it for all_of_it, idle in found.values()) >= 3


def _times_ns(events: list[dict[str, Any]], steps: list[tuple[int, int]]) -> tuple[int, int]:
    """Time of the optimizer, and the part of it in which no device works, independent of SQL."""
    calls = [
        (event["pid"], event["tid"], *_interval(event))
        for event in events
        if event["name"].startswith("Optimizer.step#") and event["cat"] != "gpu_user_annotation"
    ]
    if not calls:
        return 0, 0
    launches = {
        event["args"]["correlation"]
        for event in events
        if "correlation" in event.get("args", {})
        and any(
            call[:2] == (event["pid"], event["tid"]) and call[2] <= _interval(event)[0] < call[3]
            for call in calls
        )
    }
    spans = [(CALL, *call[2:]) for call in calls if any(a <= call[2] < b for a, b in steps)]
    spans += [(STEP, *step) for step in steps]
    for event in events:
        if event["cat"].lower() in ("kernel", "gpu_memcpy", "gpu_memset", "memcpy", "memset"):
            is_launched = event["args"]["correlation"] in launches and not re.search(
                "nccl", event["name"], re.IGNORECASE
            )
            spans.append((LAUNCHED if is_launched else OTHER, *_interval(event)))
        elif re.match("gloo:|mpi:", event["name"]) or (
            event["cat"] == "overhead"
            and re.search(
                "buffer (flush|request)|instrumentation|resource", event["name"], re.IGNORECASE
            )
        ):
            spans.append((OTHER, *_interval(event)))
    changes = sorted(
        change
        for kind, start, end in spans
        for change in ((start, kind, 1), (end, kind, -1))
        if start < end
    )
    running, total, idle = Counter[int](), 0, 0
    for (time, kind, change), (then, *_) in pairwise(changes):
        running[kind] += change
        is_idle = running[CALL] > 0 and not running[LAUNCHED] and not running[OTHER]
        if running[STEP] > 0 and (is_idle or running[LAUNCHED] > 0):
            total += then - time
            idle += (then - time) * is_idle
    return total, idle


def _interval(event: dict[str, Any]) -> tuple[int, int]:
    start = int(event["ts"] * 1000)
    return start, start + int(event["dur"] * 1000)
