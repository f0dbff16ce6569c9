"""What verdict says about the rules of recommendations; tests/views/verdict_v1.test has its figures."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

import tracewh
from tests.conftest import made_once
from tests.copied import CopiedWarehouse
from tracewh.views.registry import installed

#: Rules whose cost is never known, so that verdict does not list them.
WITHOUT_COST = {
    "small_kernels",
    "memory_growth",
    "memory_nearly_full",
    "tensor_cores_unused",
    "data_parallel",
    "idle_gpus",
    "iteration_interval",
    "unrecorded_work",
}


def test_each_rule_with_a_cost_has_a_phrase_and_a_view() -> None:
    registry = installed()
    rules = re.findall(r"^ {4}(\w+) {2,}", registry.get("recommendations").doc, re.MULTILINE)
    assert len(rules) >= 16
    with duckdb.connect() as con:
        registry.create(con, ["finding_phrases"])
        phrases = con.execute("SELECT rule, view FROM finding_phrases()").fetchall()
    levels = {"measured", "estimated", "possible"}
    assert {rule for rule, _ in phrases} == {*rules} - WITHOUT_COST - levels
    assert {view for _, view in phrases} <= {view.name for view in registry}


@pytest.fixture(scope="module")
def real(
    shared: Path, all_samples: tracewh.Warehouse, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tracewh.Warehouse]:
    """A warehouse of real traces that have findings."""

    def fill(folder: Path) -> None:
        shutil.copytree(all_samples.path, folder / "warehouse")
        names = (
            "v100_resnet50_2021",
            "two_ranks_nccl_2023",
            "h100_vit_2025",
            "a100_event_sync_2024",
        )
        for name in names:
            tracewh.ingest([shared / "traces" / name], folder / "warehouse")

    with CopiedWarehouse(made_once(tmp_path_factory, "verdict", fill) / "warehouse") as warehouse:
        yield warehouse


def test_findings_are_recommendations_in_other_words(real: tracewh.Warehouse) -> None:
    """Each costs what the recommendation says, whose message has both what was measured and the remedy.

    Threads add means up in any order.
    """
    verdicts = real.view("verdict").to_arrow_table()
    advice = real.view("recommendations", per_span=True).to_arrow_table()
    with duckdb.connect() as con:
        con.register("verdicts", verdicts)
        con.register("advice", advice)
        found = con.execute(
            """
            SELECT v.name, abs(v.value - r.cost_per_step_us) < 1e-6, v.detail, v.remedy, r.message
            FROM verdicts AS v
            LEFT JOIN advice AS r
                ON v.run = r.run AND v.worker = r.worker AND v.span = r.span AND v.name = r.rule
            WHERE v.part = 'finding'
            """
        ).fetchall()
    assert len(found) > 10
    for name, is_same, detail, remedy, message in found:
        assert is_same, name
        measured, what_to_do = message.rsplit(": ", 1)
        assert detail == f"{measured}."
        assert what_to_do.lower().startswith(remedy.lower())
        assert what_to_do[len(remedy) :].startswith(" This costs ")


def test_figures_are_those_of_the_views(real: tracewh.Warehouse) -> None:
    verdicts = real.view("verdict").to_arrow_table()
    assert verdicts.num_rows > 50
    with duckdb.connect() as con:
        con.register("verdicts", verdicts)
        con.register("summary", real.view("gpu_summary").to_arrow_table())
        con.register("parts", real.view("step_breakdown_summary").to_arrow_table())
        rows = con.execute(
            """
            SELECT v.run, v.span, v.name
            FROM verdicts AS v
            LEFT JOIN summary AS g
                ON v.run = g.run AND v.worker = g.worker AND v.span = g.span
            INNER JOIN parts AS s
                ON v.run = s.run AND v.worker = s.worker AND v.span = s.span
            WHERE
                v.part IN ('headline', 'card')
                -- Where graphs launch nearly all kernels, and operators the rest.
                AND NOT coalesce(starts_with(v.detail, 'unknown: operators launched only'), FALSE)
                AND v.value IS DISTINCT FROM CASE v.name
                    WHEN 'gpu_busy' THEN g.gpu_utilization_pct
                    WHEN 'tensor_cores' THEN g.tensor_core_time_pct
                    WHEN 'host_busy' THEN s.share_pct
                    WHEN 'top_operator' THEN v.value
                    WHEN 'peak_memory' THEN v.value
                    WHEN 'host_alone' THEN v.value
                    ELSE coalesce(nullif(s.mean_us, 0), v.value)
                END
                AND s.category = CASE
                    WHEN v.part = 'headline' OR v.name = 'step_time' THEN 'total'
                    WHEN v.name = 'data_loading' THEN 'dataloader'
                    WHEN v.name = 'communication' THEN 'communication'
                    ELSE 'cpu_exec'
                END
            """
        ).fetchall()
    assert rows == []
