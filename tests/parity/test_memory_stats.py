"""memory_stats against the records."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import tracewh


def test_nothing_that_was_recorded_is_left_out(corpus: tracewh.Warehouse) -> None:
    """On HIP neither, which the plugin drops. What lies in no operator makes up the difference."""
    recorded = corpus.sql(
        "SELECT m.run, m.worker, m.span, concat_ws(':', m.device_type, m.device_id), sum(m.bytes),"
        " count(*) FILTER (WHERE m.bytes > 0), sum(m.bytes) FILTER (WHERE m.bytes > 0)"
        " FROM memory_records AS m GROUP BY ALL ORDER BY ALL"
    ).fetchall()
    summed = corpus.sql(
        "SELECT s.run, s.worker, s.span, s.device, sum(s.self_size_increase_bytes),"
        " sum(s.self_allocations), sum(s.self_allocated_bytes)"
        " FROM memory_stats() AS s GROUP BY ALL ORDER BY ALL"
    ).fetchall()
    assert summed == recorded
    assert len(recorded) >= 16
    assert {device for _, _, _, device, *_ in recorded} == {"cpu", "cuda:0", "hip:0"}
