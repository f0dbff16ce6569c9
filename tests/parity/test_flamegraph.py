"""flamegraph against sums of the tables, and against stacks that are put together one by one."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    import tracewh

#: Here all events nest.
NCCL = "a100_nccl_2024"
WORK = "WHERE kind IN ('compute', 'communication', 'memcpy', 'memset')"


def test_host_time_adds_up_to_the_time_in_which_anything_ran(corpus: tracewh.Warehouse) -> None:
    sums = corpus.sql("""
        WITH
        started AS (
            SELECT h.run, h.worker, h.span, h.start_ns, h.start_ns + h.duration_ns AS end_ns,
                max(h.start_ns + h.duration_ns) OVER (
                    PARTITION BY h.run, h.worker, h.span, h.pid, h.tid
                    ORDER BY h.start_ns, h.event_id ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
                ) AS ended_ns
            FROM host_events AS h
        ),
        busy AS (
            SELECT s.run, s.worker, s.span,
                sum(greatest(s.end_ns - greatest(s.start_ns, coalesce(s.ended_ns, 0)), 0)) / 1000
                    AS us
            FROM started AS s
            GROUP BY ALL
        )
        SELECT b.run, b.us, sum(f.value_us)
        FROM busy AS b
        INNER JOIN flamegraph() AS f USING (run, worker, span)
        GROUP BY ALL
    """).fetchall()
    assert len(sums) > 20
    # One trace has operators that last longer than several others in which they start.
    assert "mtia_inference_2026" in {run for run, _, _ in sums}
    assert [run for run, busy, ours in sums if abs(ours - busy) > 0.001] == []


@pytest.mark.parametrize(
    ("metric", "column", "amounts"),
    [
        ("device", "value_us", f"SELECT run, duration_ns / 1000 AS x FROM device_events {WORK}"),
        ("bytes", "value_bytes", "SELECT run, bytes AS x FROM memory_records WHERE bytes > 0"),
    ],
)
def test_nothing_of_the_device_and_of_memory_is_lost(
    metric: str, column: str, amounts: str, corpus: tracewh.Warehouse
) -> None:
    ours = corpus.sql(
        f"SELECT f.run, sum(f.{column}) FROM flamegraph(metric := '{metric}') AS f"
        " GROUP BY ALL ORDER BY ALL"
    ).fetchall()
    rows = corpus.sql(
        f"SELECT t.run, sum(t.x) FROM ({amounts}) AS t GROUP BY ALL HAVING sum(t.x) > 0 ORDER BY ALL"
    ).fetchall()
    assert len(ours) >= 5
    assert ours == [(run, pytest.approx(float(x))) for run, x in rows]


def test_stacks_are_the_chains_of_parents(corpus: tracewh.Warehouse) -> None:
    events = {
        row[0]: row[1:]
        for row in corpus.sql(
            "SELECT event_id, parent_id, name, start_ns, start_ns + duration_ns FROM host_events"
            " WHERE run = ?",
            [NCCL],
        ).fetchall()
    }
    paths: dict[int | None, str] = {}

    def path(event: int) -> str:
        if event not in paths:
            parent, name, _, _ = events[event]
            name = "ProfilerStep*" if name.startswith("ProfilerStep#") else name.replace(";", ",")
            paths[event] = name if parent is None else f"{path(parent)};{name}"
        return paths[event]

    times: Counter[str] = Counter()
    for event, (parent, _, start, end) in events.items():
        times[path(event)] += end - start
        if parent is not None:
            times[path(parent)] -= min(end, events[parent][3]) - start
    launched: Counter[str] = Counter()
    for event, name, duration in corpus.sql(
        "SELECT launch_id, name, duration_ns FROM device_events WHERE run = ?"
        " AND kind <> 'annotation' AND kind <> 'sync'",
        [NCCL],
    ).fetchall():
        launched[f"{path(event)};{name.replace(';', ',')}"] += duration

    for metric, expected in (("host", times), ("device", launched)):
        rows = corpus.flamegraph(run=NCCL, metric=metric).fetchall()
        assert len(rows) > 50
        assert {row[3]: round(row[4] * 1000) for row in rows} == +expected
