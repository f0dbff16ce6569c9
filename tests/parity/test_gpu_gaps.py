"""gpu_gaps on real traces: all of what gpu_time has as idle, and what the host did, told without SQL.

No peer has such a table for these traces; its rule is that of nsys, whose reports are of other files.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from itertools import pairwise
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    import tracewh

#: Start, minus the length, position in the file, end, name.
Event = tuple[int, int, int, int, str]


def test_gaps_of_any_length_are_the_idle_time(corpus: tracewh.Warehouse) -> None:
    rows = corpus.sql(
        """
        SELECT t.run, t.idle_us, coalesce(sum(g.duration_us), 0)
        FROM gpu_time() AS t
        LEFT JOIN gpu_gaps(min_us := 0) AS g USING (run, worker, span, device_id)
        GROUP BY t.run, t.worker, t.span, t.device_id, t.idle_us
        """
    ).fetchall()
    assert len(rows) == 22
    for run, idle, gaps in rows:
        assert gaps == pytest.approx(idle, abs=0.001), run


def test_the_host_was_in_what_is_innermost_for_longest(corpus: tracewh.Warehouse) -> None:
    gaps = corpus.sql(
        """
        SELECT g.run, g.worker, g.span, h.pid, h.tid, g.start_ns, d.start_ns, g.host_op
        FROM gpu_gaps(min_us := 300) AS g
        INNER JOIN device_events AS d
            ON g.run = d.run AND g.worker = d.worker AND g.span = d.span
            AND d.start_ns = g.start_ns + round(1000 * g.duration_us)::BIGINT
            AND g.after_kernel = d.name
        LEFT JOIN host_events AS h
            ON d.run = h.run AND d.worker = h.worker AND d.span = h.span
            AND d.launch_id = h.event_id
        """
    ).fetchall()
    of_thread = defaultdict(list)
    for *place, start, end, host_op in gaps:
        of_thread[tuple(place)].append((start, end, host_op))
    compared: Counter[str] = Counter()
    for thread, its_gaps in of_thread.items():
        events = corpus.sql(
            """
            SELECT h.start_ns, -h.duration_ns, h.event_id, h.start_ns + h.duration_ns, h.name
            FROM host_events AS h
            WHERE h.run = ? AND h.worker = ? AND h.span = ? AND h.pid = ? AND h.tid = ?
            """,
            list(thread),
        ).fetchall()
        for start, end, host_op in its_gaps:
            inside = [event for event in events if event[0] < end and event[3] > start]
            spent = _spent(inside, start, end)
            assert spent[host_op] == max(spent.values()), (thread, start)
            compared["nothing" if host_op is None else "something"] += 1
    assert compared["something"] > 500
    assert compared["nothing"] > 50


def _spent(events: list[Event], start: int, end: int) -> Counter[str | None]:
    """How long each name was innermost: of what is open, that which started last."""
    cuts = {start, end}
    for event in events:
        cuts |= {max(event[0], start), min(event[3], end)}
    spent: Counter[str | None] = Counter({None: 0})
    waiting, events = sorted(events, reverse=True), []
    for time, then in pairwise(sorted(cuts)):
        while waiting and waiting[-1][0] <= time:
            events.append(waiting.pop())
        events = [event for event in events if event[3] > time]
        spent[max(events)[4] if events else None] += then - time
    return spent
