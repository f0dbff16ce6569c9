"""The critical path of every step of the real traces is as long as the step."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import tracewh


def test_the_path_of_every_step_is_as_long_as_the_step(corpus: tracewh.Warehouse) -> None:
    rows = corpus.sql(
        """
        SELECT s.run, s.step, s.step_ns, sum(c.duration_us)
        FROM (
            SELECT s.*, s.extended_end_ns - s.extended_start_ns AS step_ns FROM steps AS s
        ) AS s
        LEFT JOIN critical_path() AS c
            ON s.run = c.run AND s.worker = c.worker AND s.span = c.span
            AND s.step IS NOT DISTINCT FROM c.step
        WHERE s.step_ns > 0
        GROUP BY s.run, s.worker, s.span, s.step, s.step_ns
        """
    ).fetchall()
    assert len(rows) > 40
    assert [row for row in rows if row[3] is None or abs(row[3] * 1000 - row[2]) > 1] == []
