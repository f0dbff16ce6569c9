"""operator_calls against operator_stats, whose figures the peers have, and against the raw links."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    import tracewh

FIGURES = "host_self_us, device_self_us, device_total_us"


def test_the_calls_of_an_operator_add_up_to_its_row(corpus: tracewh.Warehouse) -> None:
    calls = corpus.sql("""
        SELECT c.run, c.worker, c.span, c.name, count(*), sum(c.host_self_us), sum(c.duration_us),
            sum(c.device_self_us), sum(c.device_total_us)
        FROM operator_calls() AS c GROUP BY ALL ORDER BY ALL
    """).fetchall()
    stats = corpus.sql("""
        SELECT s.run, s.worker, s.span, s.name, s.calls, s.host_self_us, s.host_total_us,
            s.device_self_us, s.device_total_us
        FROM operator_stats(per_span := TRUE) AS s ORDER BY ALL
    """).fetchall()
    assert len(calls) > 1000
    assert calls == [(*row[:5], *(pytest.approx(x) for x in row[5:])) for row in stats]


def test_the_steps_are_those_that_operator_stats_takes(corpus: tracewh.Warehouse) -> None:
    calls = corpus.sql("""
        SELECT c.run, c.worker, c.span, c.step, c.name, count(*) AS calls
        FROM operator_calls() AS c WHERE c.step IS NOT NULL GROUP BY ALL ORDER BY ALL
    """).fetchall()
    steps = corpus.sql("SELECT DISTINCT s.step FROM steps AS s WHERE s.step IS NOT NULL").fetchall()
    by_step = [
        (*row[:3], step, *row[3:])
        for (step,) in steps
        for row in corpus.sql(
            "SELECT s.run, s.worker, s.span, s.name, s.calls"
            " FROM operator_stats(step := ?, per_span := TRUE) AS s",
            [step],
        ).fetchall()
    ]
    assert len(steps) > 10
    assert calls == sorted(by_step)


def test_every_kernel_of_an_operator_is_counted_once(corpus: tracewh.Warehouse) -> None:
    [counted] = corpus.sql("SELECT sum(c.kernels) FROM operator_calls() AS c").fetchall()
    [linked] = corpus.sql("""
        WITH RECURSIVE
        owners AS (
            SELECT d.run, d.worker, d.span, d.event_id AS kernel, d.op_id FROM kernels AS d
            WHERE d.op_id IS NOT NULL
            UNION ALL
            SELECT o.run, o.worker, o.span, o.kernel, h.parent_op_id
            FROM owners AS o
            INNER JOIN annotations AS h
                ON (o.run, o.worker, o.span, o.op_id) = (h.run, h.worker, h.span, h.event_id)
        )
        SELECT count(*) FROM owners AS o
        INNER JOIN cpu_ops AS c
            ON (o.run, o.worker, o.span, o.op_id) = (c.run, c.worker, c.span, c.event_id)
    """).fetchall()
    assert counted == linked
    assert linked[0] > 10000


def test_the_outermost_operator_is_found_by_going_up(corpus: tracewh.Warehouse) -> None:
    wrong = corpus.sql("""
        WITH RECURSIVE
        up AS (
            SELECT c.run, c.worker, c.span, c.event_id, c.name, c.parent_op_id
            FROM cpu_ops AS c WHERE c.inner_self_ns IS NOT NULL
            UNION ALL
            SELECT u.run, u.worker, u.span, u.event_id,
                CASE WHEN h.category = 'cpu_op' THEN h.name ELSE u.name END, h.parent_op_id
            FROM up AS u
            INNER JOIN host_events AS h
                ON (u.run, u.worker, u.span, u.parent_op_id) = (h.run, h.worker, h.span, h.event_id)
        )
        SELECT c.name, c.top_level_op, u.name
        FROM operator_calls() AS c
        FULL JOIN (SELECT u.* FROM up AS u WHERE u.parent_op_id IS NULL) AS u
            ON (u.run, u.worker, u.span, u.event_id) = (c.run, c.worker, c.span, c.event_id)
        WHERE c.top_level_op IS DISTINCT FROM u.name
    """).fetchall()
    assert wrong == []
