"""The plugin's diff of two traces: the operators of either side, in the steps of one thread."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from tests.parity.differences import Table

if TYPE_CHECKING:
    from tests.parity.plugin.trace import Trace

#: The plugin's word for each of our figures.
FIGURES = {
    "name": "name",
    "calls": "calls",
    "host_total_us": "host_duration",
    "host_self_us": "self_host_duration",
    "device_total_us": "device_duration",
    "device_self_us": "self_device_duration",
}

CALLS = """
    SELECT
        c.name, count(*) AS calls, sum(c.duration_us) AS host_total_us,
        sum(c.host_self_us) AS host_self_us,
        coalesce(sum(c.device_total_us), 0) AS device_total_us,
        coalesce(sum(c.device_self_us), 0) AS device_self_us
    FROM operator_calls(run := $run, worker := $worker, span := $span) AS c
    INNER JOIN host_events AS h USING (run, worker, span, event_id)
    WHERE h.thread_id = {thread} AND c.step IS NOT NULL
    GROUP BY ALL
"""


def diff(sides: tuple[Trace, Trace], said: Any) -> Iterator[Table]:
    """Both sides of its table. test_diff_modules.py compares its blocks."""
    for side, trace, thread in zip(("left", "right"), sides, said["compared_tid"], strict=True):
        ours = trace.sql(CALLS.format(thread=int(thread)))
        theirs = [
            {figure: row[word] for figure, word in FIGURES.items()}
            for row in said["root"][side]["aggs"]
        ]
        yield Table(
            "operator_calls",
            {f"{side} {row['name']}": row for row in ours},
            {f"{side} {row['name']}": row for row in theirs},
        )
