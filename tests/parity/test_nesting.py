"""The rule of nesting on every trace: what has ended is nobody's ancestor, and no part exceeds its whole."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    import tracewh

#: Traces of the corpus in which events outlive the ones that they start in.
OVERLAPPING = {
    "h100_bert_2025",
    "h100_qwen_2025",
    "h100_vit_2025",
    "mi300x_qwen_2025",
    "mi300x_sglang_decode_2026",
    "mtia_inference_2026",
}

HOST = "SELECT h.*, h.start_ns + h.duration_ns AS end_ns FROM host_events AS h"
TRACE = "run, worker, span"

#: Queries for what breaks the rule.
BROKEN = {
    "a parent contains the whole of its children, and is as deep as one less than they": f"""
        SELECT c.run, c.event_id
        FROM ({HOST}) AS c
        LEFT JOIN ({HOST}) AS p
            ON c.run = p.run AND c.worker = p.worker AND c.span = p.span
            AND c.parent_id = p.event_id AND c.tid = p.tid AND c.pid = p.pid
        WHERE
            CASE
                WHEN c.parent_id IS NULL THEN c.depth <> 0
                ELSE p.start_ns IS NULL OR p.start_ns > c.start_ns OR p.end_ns < c.end_ns
                    OR c.depth <> p.depth + 1
            END
    """,
    "an operator contains the whole of those inside it": f"""
        SELECT c.run, c.event_id
        FROM ({HOST}) AS c
        INNER JOIN ({HOST}) AS p
            ON c.run = p.run AND c.worker = p.worker AND c.span = p.span
            AND c.parent_op_id = p.event_id
        WHERE
            c.category IN ('cpu_op', 'user_annotation')
            AND (p.start_ns > c.start_ns OR p.end_ns < c.end_ns OR p.tid <> c.tid)
    """,
    "what an event belongs to is open when it begins": f"""
        SELECT c.run, c.event_id
        FROM ({HOST}) AS c
        INNER JOIN ({HOST}) AS p
            ON c.run = p.run AND c.worker = p.worker AND c.span = p.span
            AND c.parent_op_id = p.event_id
        WHERE p.start_ns > c.start_ns OR (p.end_ns <= c.start_ns)
    """,
    "self time is within the length": """
        SELECT h.run, h.event_id
        FROM host_events AS h
        WHERE h.self_duration_ns NOT BETWEEN 0 AND h.duration_ns
    """,
    "what overlaps an event in part begins in it and ends after it": f"""
        SELECT h.run, h.event_id
        FROM ({HOST}) AS h
        WHERE h.overlap_start_ns IS NOT NULL AND NOT EXISTS (
            FROM ({HOST}) AS o
            WHERE
                h.run = o.run AND h.worker = o.worker AND h.span = o.span
                AND h.pid = o.pid AND h.tid = o.tid
                AND o.start_ns = h.overlap_start_ns AND o.end_ns > h.end_ns
                AND o.start_ns > h.start_ns AND o.start_ns < h.end_ns
        )
    """,
    "where an event begins and the one beside it is open, that says so": f"""
        SELECT c.run, c.event_id
        FROM (
            SELECT h.*, lag(h.end_ns) OVER (
                PARTITION BY {TRACE}, h.pid, h.tid, h.parent_id
                ORDER BY h.start_ns ASC, h.end_ns DESC, h.event_id ASC
            ) AS before_ns
            FROM ({HOST}) AS h
        ) AS c
        WHERE c.before_ns > c.start_ns AND NOT EXISTS (
            FROM host_events AS i
            WHERE
                i.run = c.run AND i.worker = c.worker AND i.span = c.span
                AND i.pid = c.pid AND i.tid = c.tid AND i.overlap_start_ns = c.start_ns
        )
    """,
    "device work of an operator was launched while it was open": """
        SELECT o.run, o.event_id
        FROM operator_calls() AS o
        INNER JOIN host_events AS h USING (run, worker, span, event_id)
        INNER JOIN (
            SELECT
                d.run, d.worker, d.span, l.pid, l.tid, l.start_ns AS launched_ns,
                d.duration_ns / 1000 AS us
            FROM device_events AS d
            INNER JOIN host_events AS l
                ON d.run = l.run AND d.worker = l.worker AND d.span = l.span
                AND coalesce(d.launch_id, d.op_id) = l.event_id
            WHERE d.kind IN ('compute', 'communication', 'memcpy', 'memset')
        ) AS d
            ON h.run = d.run AND h.worker = d.worker AND h.span = d.span
            AND h.pid = d.pid AND h.tid = d.tid
            AND d.launched_ns BETWEEN h.start_ns AND h.start_ns + h.duration_ns
        WHERE o.device_total_us > 0
        GROUP BY o.run, o.worker, o.span, o.event_id, o.device_total_us
        HAVING o.device_total_us > sum(d.us) + 0.001
    """,
    "operators have no more than the operators around them": """
        SELECT p.run, p.event_id
        FROM operator_calls() AS c
        INNER JOIN host_events AS h USING (run, worker, span, event_id)
        INNER JOIN operator_calls() AS p
            ON c.run = p.run AND c.worker = p.worker AND c.span = p.span
            AND h.parent_op_id = p.event_id
        GROUP BY p.run, p.worker, p.span, p.event_id, p.device_total_us, p.duration_us
        HAVING sum(c.device_total_us) > p.device_total_us + 0.001
    """,
    "the operator at the top is open when the call begins": """
        SELECT c.run, c.event_id
        FROM operator_calls() AS c
        INNER JOIN host_events AS h USING (run, worker, span, event_id)
        WHERE c.top_level_op <> c.name AND NOT EXISTS (
            FROM host_events AS t
            WHERE
                t.run = h.run AND t.worker = h.worker AND t.span = h.span AND t.name = c.top_level_op
                AND t.pid = h.pid AND t.tid = h.tid
                AND t.start_ns <= h.start_ns AND t.start_ns + t.duration_ns > h.start_ns
        )
    """,
    "a module has the work that is launched while it is open": """
        SELECT m.run, m.event_id
        FROM module_tree() AS m
        INNER JOIN host_events AS h USING (run, worker, span, event_id)
        LEFT JOIN (
            SELECT
                d.run, d.worker, d.span, l.pid, l.tid, l.start_ns AS launched_ns,
                d.duration_ns / 1000 AS us
            FROM device_events AS d
            INNER JOIN host_events AS l
                ON d.run = l.run AND d.worker = l.worker AND d.span = l.span
                AND coalesce(d.launch_id, d.op_id) = l.event_id
            WHERE d.kind IN ('compute', 'communication', 'memcpy', 'memset')
        ) AS d
            ON h.run = d.run AND h.worker = d.worker AND h.span = d.span
            AND h.pid = d.pid AND h.tid = d.tid
            AND d.launched_ns >= h.start_ns AND d.launched_ns < h.start_ns + h.duration_ns
        WHERE m.device_total_us IS NOT NULL
        GROUP BY m.run, m.worker, m.span, m.event_id, m.device_total_us
        HAVING abs(m.device_total_us - coalesce(sum(d.us), 0)) > 0.001
    """,
}
#: Views of which a row has figures with and without what is inside.
VIEWS = {
    "operator_stats": ("host", "device"),
    "operator_stats(group_by := 'input_shape')": ("host", "device"),
    "module_stats": ("host", "device"),
    "module_tree": ("host", "device"),
    "lightning_stats": ("host", "device"),
    "source_lines": ("host",),
}
BROKEN |= {
    f"{view} has no {what} self time above the total": f"""
        SELECT v.run, v.{what}_self_us
        FROM {view if "(" in view else view + "()"} AS v
        WHERE v.{what}_self_us > v.{what}_total_us + 0.001 OR v.{what}_self_us < 0
    """
    for view, figures in VIEWS.items()
    for what in figures
}
BROKEN |= {
    "operator_calls has no self time above the total": """
        SELECT o.run, o.event_id
        FROM operator_calls() AS o
        WHERE o.host_self_us > o.duration_us OR o.device_self_us > o.device_total_us + 0.001
    """,
    "the self times of a thread's stacks are those of its events": """
        SELECT s.run, sum(s.self_duration_ns)
        FROM stacks AS s
        WHERE s.self_duration_ns < 0
        GROUP BY s.run
    """,
}


@pytest.mark.parametrize("traces", ["corpus", "samples"])
@pytest.mark.parametrize("rule", BROKEN)
def test_no_trace_breaks(rule: str, traces: str, request: pytest.FixtureRequest) -> None:
    warehouse: tracewh.Warehouse = request.getfixturevalue(traces)
    assert warehouse.sql(BROKEN[rule]).fetchall() == []


def test_traces_are_there_that_could_break_it(corpus: tracewh.Warehouse) -> None:
    found = corpus.sql("SELECT t.run FROM trace_quality() AS t WHERE t.check = 'partial_overlaps'")
    assert {run for (run,) in found.fetchall()} == OVERLAPPING
