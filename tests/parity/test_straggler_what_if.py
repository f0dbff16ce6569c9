"""The views on stragglers, against the figures that the paper's own program gives for two published jobs."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import tracewh

WHOLE = (
    "slowdown",
    "delay_slowdown",
    "no_delay_s",
    "ideal_s",
    "m_w",
    "m_w_add",
    "m_s",
    "m_s_add",
)

#: Of the table in the hand-over of the figures; those of the first job are in files.
AR = (
    1.9730450967262543,
    1.0067506709199466,
    46.33637259691022,
    23.484700209738318,
    1.0017012777290497,
    1.0063130210904254,
    -0.00121196404622606,
    0.002434706466518464,
)
AR_PARTS = {
    ("stage", "0"): 1.979188638,
    ("stage", "1"): 0.997112494,
    ("stage", "2"): 0.995604113,
    ("stage", "3"): 1.002369079,
    ("dp_rank", "0"): 1.973044410,
    ("dp_rank", "1"): 1.010891286,
    ("dp_rank", "2"): 1.011151465,
    ("dp_rank", "3"): 1.011142949,
    ("operation", "forward-compute"): 1.368885725,
    ("operation", "backward-compute"): 1.580506213,
    ("operation", "embedding-grads-all-reduce"): 1.005152270,
    ("operation", "grads-reduce-scatter"): 1.010782119,
    ("operation", "optimizer-clip-main-grad"): 1.000286263,
    ("operation", "forward-pp-comm"): 1.001070699,
    ("operation", "backward-pp-comm"): 1.000921670,
    ("operation", "optimizer"): 1.001104904,
}


@pytest.fixture(scope="module")
def folder(shared: Path) -> Path:
    return shared / "data" / "stragglers"


@pytest.fixture(scope="module")
def jobs(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tracewh.Warehouse]:
    path = tmp_path_factory.mktemp("stragglers") / "wh"
    tracewh.ingest(sorted(folder.glob("trace-*.parquet")), path)
    with tracewh.open(path) as warehouse:
        yield warehouse


def close(value: Any) -> Any:
    return pytest.approx(value, rel=1e-6)


def whole(jobs: tracewh.Warehouse, worker: str) -> tuple[Any, ...]:
    view = jobs.view("straggler_what_if", worker=worker)
    [row] = view.select(", ".join(WHOLE)).fetchall()
    return tuple(row)


def parts(jobs: tracewh.Warehouse, worker: str) -> dict[tuple[str, str, int | None], float]:
    rows = jobs.view("straggler_what_if_parts", worker=worker).select("kind, part, step, slowdown")
    return {tuple(row[:3]): row[3] for row in rows.fetchall()}


def test_a_job_with_an_uneven_last_stage(jobs: tracewh.Warehouse, folder: Path) -> None:
    published = json.loads((folder / "result-ST.json").read_text())
    workers = json.loads((folder / "mw-ST.json").read_text())
    stage = json.loads((folder / "ms-ST.json").read_text())
    assert whole(jobs, "trace-ST") == close(
        (
            published["blocking_slowdown"],
            published["launch_slowdown"],
            workers["tori"],
            workers["tideal"],
            workers["rem"],
            workers["add"],
            stage["rem"],
            stage["add"],
        )
    )


def test_every_step_of_it(jobs: tracewh.Warehouse, folder: Path) -> None:
    published = json.loads((folder / "result-ST.json").read_text())
    rows = jobs.view("straggler_what_if_steps", worker="trace-ST").select(
        "step, slowdown, delay_slowdown, recorded_s, no_delay_s, ideal_s"
    )
    names = (
        "blocking_step_slowdown",
        "launch_step_slowdown",
        "step_t_base",
        "step_t_nodelay",
        "step_t_noblk",
    )
    found = rows.fetchall()
    assert len(found) == 32
    for step, *figures in found:
        assert figures == close([published[name][str(step)] for name in names])


def test_every_part_of_it(jobs: tracewh.Warehouse, folder: Path) -> None:
    published = json.loads((folder / "result-ST.json").read_text())
    expected: dict[tuple[str, str, int | None], float] = {}
    for kind, name in (("operation", "optype"), ("dp_rank", "dp_rank"), ("stage", "stage")):
        for part, value in published[f"blocking_decompose_by_{name}"].items():
            expected[kind, part, None] = value
        for step, values in published[f"blocking_decompose_by_{name}_per_step"].items():
            for part, value in values.items():
                expected[kind, part, int(step)] = value
    found = parts(jobs, "trace-ST")
    delays = {key for key in found if key[0].startswith("delay_")}
    assert {key: found[key] for key in found.keys() - delays} == close(expected)
    # Its delays cost less than 3 %, so nothing is published of their parts.
    assert published["launch_decompose_by_optype"] is None
    assert {found[key] for key in delays} == {None}


def test_its_slowest_worker(jobs: tracewh.Warehouse) -> None:
    rows = jobs.view("straggler_workers", worker="trace-ST")
    slowest = rows.filter("is_among_slowest").select("rank, dp_rank, stage").fetchall()
    assert slowest == [(7, 1, 3)]


def test_a_job_with_one_slow_worker(jobs: tracewh.Warehouse) -> None:
    assert whole(jobs, "trace-AR") == close(AR)
    found = parts(jobs, "trace-AR")
    assert {key: found[(*key, None)] for key in AR_PARTS} == close(AR_PARTS)
    rows = jobs.view("straggler_workers", worker="trace-AR")
    slowest = rows.filter("is_among_slowest").select("rank, dp_rank, stage").fetchall()
    assert slowest == [(0, 0, 0)]
