"""comm_overlap against the raw files."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import tracewh


def test_every_nanosecond_is_that_of_the_raw_file(
    raw: dict[tuple[str, str, str], list[dict[str, Any]]], corpus: tracewh.Warehouse
) -> None:
    rows = corpus.sql(
        """
        SELECT o.run, o.worker, o.span, o.computation_us, o.overlap_us, o.communication_us, o.other_us
        FROM comm_overlap() AS o
        WHERE o.step IS NULL
        """
    ).fetchall()
    found = {tuple(row[:3]): [round(figure * 1000) for figure in row[3:]] for row in rows}
    assert {key: found[key] for key in raw} == {key: _figures(raw[key]) for key in raw}


def _figures(events: list[dict[str, Any]]) -> list[int]:
    """Computation alone, both, communication alone and neither, in ns, independent of SQL."""
    device = [event for event in events if _is_kernel(event["cat"].lower(), event["name"])]
    host = [
        event
        for event in events
        if event["cat"] in ("cpu_op", "user_annotation")
        and not event["name"].startswith(("ProfilerStep#", "enumerate(Data"))
    ]
    gloo = [event for event in host if event["name"].startswith("gloo:")]
    work = [*device, *gloo] if device else host
    changes = []
    for event in work:
        start = int(event["ts"] * 1000)
        communicates = "nccl" in event["name"] or event["name"].startswith(("gloo:", "c10d::"))
        changes += [(start, communicates, 1), (start + int(event["dur"] * 1000), communicates, -1)]
    changes.sort()
    running, sums = [0, 0], {(True, False): 0, (True, True): 0, (False, True): 0}
    for (time, communicates, change), (then, *_) in pairwise(changes):
        running[communicates] += change
        if max(running) > 0:
            sums[running[0] > 0, running[1] > 0] += then - time
    starts = [int(event["ts"] * 1000) for event in events]
    ends = [int(event["ts"] * 1000) + int(event["dur"] * 1000) for event in events]
    return [*sums.values(), max(ends) - min(starts) - sum(sums.values())]


def _is_kernel(category: str, name: str) -> bool:
    if category == "mtia_ccp_events":
        return not name.startswith(("dma", "event_"))
    return category == "kernel" and not name.startswith("__amd_rocclr_copyBuffer")
