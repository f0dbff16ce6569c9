"""The views on stragglers of drawn jobs, against what is computed without SQL."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import pyarrow as pa
import pytest

from tests.given import Tables
from tests.views.drawn_jobs import Drawing, draw
from tests.views.pipeline_reference import Answer, Job, Operation

DRAWINGS = {
    "two stages": Drawing(slow=(1, 0)),
    "one stage": Drawing(stages=1, dp_ranks=3, slow=(2, 0)),
    "four stages": Drawing(stages=4, microbatches=8, slow=(0, 3)),
    "two chunks": Drawing(stages=2, chunks=2, slow=(0, 1)),
    "four stages of two chunks": Drawing(stages=4, chunks=2, microbatches=8, slow=(1, 2)),
    "overlap": Drawing(stages=4, microbatches=6, overlaps=True, slow=(1, 1)),
    "overlap of two chunks": Drawing(stages=2, chunks=2, overlaps=True, slow=(0, 0)),
    "idle operations": Drawing(stages=4, microbatches=5, has_idle=True, slow=(1, 0)),
    "idle operations of two chunks": Drawing(chunks=2, has_idle=True, slow=(1, 0)),
    "a receive is missing": Drawing(chunks=2, lacks_receive=True, slow=(1, 1)),
    "sequence parallel": Drawing(dp_ranks=1, dsp_size=2, slow=(0, 1)),
    "nobody to exchange with": Drawing(dp_ranks=1, slow=(0, 1)),
    "nobody to exchange with, overlap": Drawing(dp_ranks=1, overlaps=True, slow=(0, 0)),
    "one data-parallel rank": Drawing(stages=4, dp_ranks=1, exchanges=False, slow=(0, 2)),
    "clocks disagree": Drawing(stages=4, dp_ranks=3, is_skewed=True, slow=(2, 3)),
    "64 workers": Drawing(stages=4, dp_ranks=16, steps=1, slow=(5, 1)),
    "equal work": Drawing(steps=2, is_even=True),
    "delays": Drawing(stages=4, microbatches=8, slow=(0, 3), hesitates=True),
    "delays of two chunks": Drawing(stages=2, chunks=2, slow=(0, 1), hesitates=True),
    "delays and overlap": Drawing(
        stages=4, chunks=2, microbatches=8, overlaps=True, slow=(1, 1), hesitates=True
    ),
    "delays and idle operations": Drawing(
        stages=4, microbatches=5, has_idle=True, slow=(1, 0), hesitates=True
    ),
    "delays of twelve ranks whose clocks disagree": Drawing(
        dp_ranks=12, steps=2, is_skewed=True, slow=(2, 1), hesitates=True
    ),
    "delays and equal work": Drawing(dp_ranks=1, exchanges=False, is_even=True, hesitates=True),
    "many stages": Drawing(stages=12, dp_ranks=2, steps=1, microbatches=12, slow=(1, 7)),
}


def insert(
    tables: Tables, rows: list[Operation], run: str = "r", dsp_size: int | None = None
) -> None:
    """Put a job into the tables; facts on it only where there is a sequence-parallel size."""
    if dsp_size is not None:
        tables.con.execute(
            "INSERT INTO traces (run, worker, span, metadata) VALUES (?, 'w', 'default', ?)",
            [run, f'{{"dsp_size": {dsp_size}}}'],
        )
    fields = zip(Operation._fields, zip(*rows, strict=True), strict=True)
    tables.con.register("drawn_rows", pa.table({name: list(values) for name, values in fields}))
    tables.con.execute(
        "INSERT INTO pipeline_operations BY NAME"
        f" SELECT '{run}' AS run, 'w' AS worker, 'default' AS span, d.* FROM drawn_rows AS d"
    )
    tables.con.unregister("drawn_rows")


def ask(tables: Tables, query: str) -> list[tuple[Any, ...]]:
    tables.prepare(query)
    return tables.con.execute(query).fetchall()


def close(value: Any) -> Any:
    return pytest.approx(value, rel=1e-9, abs=1e-12)


#: What is asked of each view, for all jobs at once.
QUERIES = {
    "job": """
        SELECT run, steps, slowdown, wasted_pct, delay_slowdown, recorded_s, no_delay_s, ideal_s, m_w, m_w_add,
            m_s, m_s_add, reason
        FROM straggler_what_if_v1()
    """,
    "steps": "SELECT run, step, recorded_s, no_delay_s, ideal_s FROM straggler_what_if_steps_v1()",
    "parts": "SELECT run, kind, part, step, slowdown FROM straggler_what_if_parts_v1()",
    "workers": "SELECT run, rank, slowdown, is_among_slowest FROM straggler_workers_v1()",
}
#: By job and query.
Rows = dict[str, dict[str, list[tuple[Any, ...]]]]


@pytest.fixture(scope="module")
def operations() -> dict[str, list[Operation]]:
    return {name: draw(drawing) for name, drawing in DRAWINGS.items()}


@pytest.fixture(scope="module")
def answers(operations: dict[str, list[Operation]]) -> Rows:
    """What the views say of each job, which is a run: planning takes longer than most jobs."""
    tables = Tables()
    for name, drawing in DRAWINGS.items():
        insert(tables, operations[name], name, drawing.dsp_size)
    found: Rows = defaultdict(lambda: defaultdict(list))
    for query, sql in QUERIES.items():
        for run, *row in ask(tables, sql):
            found[run][query].append(tuple(row))
    return found


@pytest.mark.parametrize("name", DRAWINGS)
def test_a_drawn_job(operations: dict[str, list[Operation]], answers: Rows, name: str) -> None:
    drawing = DRAWINGS[name]
    job = Job(operations[name], drawing.dsp_size)
    answer = Answer(job)
    assert_same(answers[name], job, answer)
    is_slow = answer.slowdown >= 1.03
    assert is_slow == (drawing.slow is not None)
    assert answer.delays or not drawing.hesitates


def assert_same(found: dict[str, list[tuple[Any, ...]]], job: Job, answer: Answer) -> None:
    """All views say what the answer says."""
    is_slow = answer.slowdown >= 1.03
    [whole] = found["job"]
    assert [-1 if value is None else value for value in whole[:-1]] == close(
        [
            len(job.steps),
            answer.slowdown,
            100 * (1 - 1 / answer.slowdown),
            answer.delay_slowdown,
            answer.base.mean(),
            answer.no_delay.mean(),
            answer.ideal.mean(),
            answer.m_w if is_slow else -1,
            answer.m_w_add if is_slow else -1,
            answer.m_s,
            answer.m_s_add,
        ]
    )
    assert whole[-1] is None
    expected = zip(job.steps, answer.base, answer.no_delay, answer.ideal, strict=True)
    assert found["steps"] == [close(row) for row in expected]
    rows = found["parts"]
    delays = [row for row in rows if row[0].startswith("delay_")]
    if answer.delay_slowdown >= 1.03:
        assert {row[:3]: row[3] for row in delays} == close(answer.delay_ratios())
    else:
        assert {row[3] for row in delays} == {None}
    parts = [row for row in rows if row not in delays]
    workers = found["workers"]
    assert len(workers) == len(job.ranks)
    if not is_slow:
        assert {row[-1] for row in parts} == {None}
        assert {row[1:] for row in workers} == {(None, None)}
        return
    wanted: dict[tuple[str, str, int | None], float] = {
        (*key, None): answer.mean(*key) for key in answer.parts
    }
    for key, ratios in answer.parts.items():
        wanted |= {(*key, step): float(r) for step, r in zip(job.steps, ratios, strict=True)}
    assert {row[:3]: row[3] for row in parts} == close(wanted)
    assert {row[0]: row[1] for row in workers} == close(answer.workers)
    assert [row[0] for row in workers if row[2]] == answer.slowest
