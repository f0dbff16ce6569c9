"""Which panels show one trace alone, so that what their views need is cached for the others."""

from __future__ import annotations

import pytest

import tracewh
from tests.given import Tables
from tracewh.cli.report.live import PANELS
from tracewh.cli.report.page import _only_trace, _sql
from tracewh.cli.report.panels import VERDICT_PANEL
from tracewh.cli.report.report_trace import ReportTrace
from tracewh.views.queries import query_text

KEYS = ("r's", "w", "1")
TRACE = ReportTrace(
    *KEYS, start_ns=0, end_ns=9, others=0, source="kineto", baseline="b", baseline_worker="w"
)


def test_panels_of_one_trace() -> None:
    others = {id for id, panel in PANELS.items() if _only_trace(_sql(panel, TRACE), TRACE) is None}
    compared = {id for id in others if id.startswith("diff-")}
    assert len(compared) == 5
    assert others - compared == {"collectives", "overlap", "stragglers", "wait", "workers"}


def test_only_kernels_hide_communication(all_samples: tracewh.Warehouse) -> None:
    """On the host, what starts a collective and waits for it counts as computation."""
    for run, workers in {"ddp_gloo": set(), "ddp_gpu_gloo": {"rank0", "rank1"}}.items():
        view = all_samples.comm_overlap(run=run).fetchall()
        assert any(row[5] > 0 for row in view)
        notes = all_samples.notes(all_samples.registry.get("comm_overlap"), {"run": run})
        assert {key for key, _ in notes} == {
            (run, f"rank{rank}", "1") for rank in range(2) if not workers
        }
        query = query_text("report/overlap", run=run, most_rows=2000)
        assert {row[0] for row in all_samples.rows(query)} == workers


def test_annotations_are_shown_without_the_steps(all_samples: tracewh.Warehouse) -> None:
    for run, expected in {
        "gpt_eager": {"forward", "backward"}
        | {"Optimizer.step#AdamW.step", "Optimizer.zero_grad#AdamW.zero_grad"},
        "gpt_inference": set(),
    }.items():
        keys = {"run": run, "worker": "worker0", "span": "1"}
        rows = all_samples.annotation_breakdown(**keys)
        assert any(row[3].startswith("ProfilerStep#") for row in rows.fetchall())
        query = query_text("report/annotations", **keys, most_rows=2000)
        assert {row[0] for row in all_samples.rows(query)} == expected


def test_memory_does_not_fall_to_zero_when_a_data_loader_sends_a_batch(
    all_samples: tracewh.Warehouse,
) -> None:
    keys = {"run": "resnet_workers_2", "worker": "worker0", "span": "1"}
    points = all_samples.memory_curve(**keys).fetchall()
    # Five batches of two tensors, sent and released.
    assert sum(row[5] == 0 for row in points) == 20
    start, end = points[0][4], points[-1][4]
    # So many intervals that no point is left out.
    chart = {"start_ns": start, "length_ns": end - start, "intervals": 10**6}
    query = query_text("report/memory_curve", **keys, **chart)
    assert min(row[2] for row in all_samples.rows(query)) == 1728


def test_findings_lead_to_panels(tables: Tables) -> None:
    query = "SELECT DISTINCT f.view FROM finding_phrases() AS f"
    tables.prepare(query)
    named = {view for (view,) in tables.con.execute(query).fetchall()}
    panels = dict(VERDICT_PANEL.chart or {})["panels"]
    assert panels["annotation_breakdown"] == "annotations"
    assert named - set(panels) == {  # no panel shows these
        "attention_roofline",
        "memory_copy_stats",
        "runtime_api_stats",
        "serving_steps",
        "serving_summary",
        "utilization_series",
    }


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("FROM verdict(run := 'r''s', worker := 'w', span := '1')", KEYS),
        ("FROM verdict(run := 'r''s', worker := 'w', span := '1'), workers(run := 'r''s')", None),
        ("FROM verdict(run := 'r''s', worker := 'w', span := '2')", None),
        ("FROM verdict(run := 'other', worker := 'w', span := '1')", None),
        ("FROM diff_kernels(baseline := 'b', experiment := 'r''s')", None),
    ],
)
def test_all_views_of_a_query_have_to_be_of_the_trace(
    query: str, expected: tuple[str, str, str] | None
) -> None:
    assert _only_trace(query, TRACE) == expected
