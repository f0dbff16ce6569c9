"""The reference that views on stragglers are compared with, against the figures of the paper's own program."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pytest

from tests.views.pipeline_reference import Answer, Job, Operation


@pytest.fixture(scope="module")
def folder(shared: Path) -> Path:
    return shared / "data" / "stragglers"


@pytest.fixture(scope="module")
def job(folder: Path) -> Job:
    columns = ", ".join(Operation._fields)
    rows = duckdb.execute(f"SELECT {columns} FROM '{folder}/trace-ST.parquet'").fetchall()
    return Job(Operation(*row) for row in rows)


def close(value: Any) -> Any:
    return pytest.approx(value, rel=1e-6)


def test_figures_of_a_job(folder: Path, job: Job) -> None:
    published = json.loads((folder / "result-ST.json").read_text())
    answer = Answer(job)
    assert answer.slowdown == close(published["blocking_slowdown"])
    assert answer.delay_slowdown == close(published["launch_slowdown"])
    for name, times in (
        ("step_t_base", answer.base),
        ("step_t_nodelay", answer.no_delay),
        ("step_t_noblk", answer.ideal),
    ):
        assert dict(zip(map(str, job.steps), times, strict=True)) == close(published[name])
    for kind, name in (("operation", "optype"), ("stage", "stage"), ("dp_rank", "dp_rank")):
        found = {part: answer.mean(k, part) for k, part in answer.parts if k == kind}
        assert found == close(published[f"blocking_decompose_by_{name}"])
        by_step = published[f"blocking_decompose_by_{name}_per_step"]
        for at, step in enumerate(job.steps):
            ratios = {part: float(r[at]) for (k, part), r in answer.parts.items() if k == kind}
            assert ratios == close(by_step[str(step)])


def test_what_is_due_to_the_slowest_workers_and_to_the_last_stage(folder: Path, job: Job) -> None:
    answer = Answer(job)
    workers = json.loads((folder / "mw-ST.json").read_text())
    stage = json.loads((folder / "ms-ST.json").read_text())
    assert (answer.m_w, answer.m_w_add) == close((workers["rem"], workers["add"]))
    assert (answer.m_s, answer.m_s_add) == close((stage["rem"], stage["add"]))


def test_with_its_delays_a_job_is_as_recorded(job: Job) -> None:
    span, _ = job.simulate(lambda node: True, lambda node: True)
    assert np.abs(span - job.base).max() < 2.4e-7
