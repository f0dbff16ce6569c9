"""What holds for the rows of every view on a warehouse with several runs, workers and spans."""

from __future__ import annotations

import gzip
import json
import os
import re
import shutil
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from operator import itemgetter
from pathlib import Path
from typing import Any

import duckdb
import pytest

import tracewh
from tests.conftest import made_once
from tests.copied import CopiedTables, Rows
from tests.views.drawn_jobs import Drawing, write_csv
from tracewh.views import Spec
from tracewh.views.registry import installed

ROOT = Path(__file__).parents[2]
VIEWS = list(installed())
KEYS = ("run", "worker", "span")

#: Real traces: two ranks on GPUs, one with frames and memory, a gloo pair, PyTorch Lightning.
RUNS = ("two_ranks_nccl_2023", "h100_bert_2025", "a100_cupti_counters_2023")
PAIR = ROOT / "samples" / "ddp_gloo"
LIGHTNING = ROOT / "tests" / "parity" / "lightning" / "run.pt.trace.json.gz"

#: Counters of two kernels, two samples of PM sampling, and a pipeline of one rank, as the profiler writes them:
#: there is no real trace with the latter. An annotation of two actions at once is before the step.
COUNTERS = [
    {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 7, "tid": 7, "ts": 10, "dur": 50},
    *(
        {
            "ph": "X",
            "cat": "user_annotation",
            "name": name,
            "pid": 7,
            "tid": 7,
            "ts": ts,
            "dur": dur,
        }
        for name, ts, dur in (
            ("PP:(0F1;0B0)OVERLAP_F_B", 1, 3),
            ("ProfilerStep#1", 5, 60),
            ("PP:0F0", 12, 20),
            ("Optimizer.step#SGD.step", 34, 12),
        )
    ),
    *(
        {
            "ph": "X",
            "cat": cat,
            "name": name,
            "pid": pid,
            "tid": pid,
            "ts": ts,
            "dur": 5,
            "args": args,
        }
        for ts in (20, 40)
        for cat, name, pid, args in (
            ("cuda_runtime", "cudaLaunchKernel", 7, {"correlation": ts}),
            ("kernel", "gemm", 0, {"correlation": ts, "device": 0, "stream": 7}),
            (
                "cuda_profiler_range",
                "gemm",
                0,
                {
                    "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum": 4000000,
                    "dram__bytes_read.sum": 1000,
                    "dram__bytes_write.sum": 1000,
                    "gpu__time_duration.sum": 2000,
                },
            ),
        )
    ),
    *(
        {
            "ph": "C",
            "cat": "hardware_counters",
            "name": "sm__cycles_active.avg",
            "pid": "GPU 0 Counters",
            "ts": ts,
            "args": {"": 0.5},
        }
        for ts in (0, 1000)
    ),
]
A100 = {"id": 0, "name": "NVIDIA A100-SXM4-80GB", "computeMajor": 8, "computeMinor": 0}

#: View -> why its rows for a worker and a span are not those of the calls for each.
TAKEN_TOGETHER = {
    "runs_v1": "one row for all workers and spans of a run",
    "clocks_v1": "one row for all workers of a host",
    "pipeline_operation_table_v1": "one table for all ranks of a job",
    "process_groups_v1": "one row for all workers of a group",
    "topology_v1": "what a worker recorded more than once is taken together",
    "diff_kernels_v1": "means over the workers and spans of two runs",
    "diff_block_contents_v1": "one trace of each of two runs",
    "diff_blocks_v1": "one trace of each of two runs",
    "diff_modules_v1": "one trace of each of two runs",
    "diff_operators_v1": "means over the workers and spans of two runs",
    "trend_v1": "means over the workers and spans of each run",
    "diff_overview_v1": "means over the workers and spans of two runs",
    "diff_verdict_v1": "a sentence on two runs",
    "diff_steps_v1": "means over the workers and spans of two runs",
}

each_view = pytest.mark.parametrize("view", VIEWS, ids=lambda view: view.object_name)


def _thinned(run: Path, folder: Path) -> Path:
    """A copy of a run without short frames of Python, which would be most of all events."""
    copy = folder / run.name
    for path in run.rglob("*.gz"):
        trace = json.loads(gzip.decompress(path.read_bytes()))
        trace["traceEvents"] = [
            event
            for event in trace["traceEvents"]
            if event.get("cat") != "python_function" or event["dur"] >= 100
        ]
        place = copy / path.relative_to(run)
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(gzip.compress(json.dumps(trace).encode(), 1))
    return copy


def crowd_of(shared: Path, factory: pytest.TempPathFactory) -> Path:
    """A warehouse of real traces, each of them once more as another run, and as another span.

    So rows tie in all but these, and only these can say which one comes first.
    """

    def fill(folder: Path) -> None:
        path = folder / "warehouse"
        tracewh.ingest([shared / "traces" / run for run in RUNS], path)
        # Steps that replay a graph, with its capture.
        for thinned in (PAIR, shared / "data" / "inference" / "sglang_decode"):
            tracewh.ingest([_thinned(thinned, folder)], path)
        tracewh.ingest([shared / "traces" / "other_tools" / "mindspore" / "minddata_2.0.0"], path)
        tracewh.ingest([LIGHTNING], path, run="lightning")
        counted = folder / "counted.pt.trace.json"
        job = {"backend": "nccl", "rank": 0, "world_size": 1}
        counted.write_text(
            json.dumps(
                {"distributedInfo": job, "deviceProperties": [A100], "traceEvents": COUNTERS}
            )
        )
        tracewh.ingest([counted], path, run="counted")
        table = write_csv(Drawing(steps=2, slow=(1, 0)), folder / "job.csv")
        tracewh.ingest([table], path, run="pipeline")
        for trace in list((path / "data").glob("*/*/*")):
            run, worker, span = trace.relative_to(path / "data").parts
            copies = [
                Path(run.replace("run=", "run=again "), worker, span),
                Path(run, worker, span.replace("span=", "span=again ")),
            ]
            if run in ("run=h100_bert_2025", "run=lightning"):  # a rank has one worker
                copies.append(Path(run, worker.replace("worker=", "worker=again "), span))
            for copy in copies:
                shutil.copytree(trace, path / "data" / copy, copy_function=os.link)

    return made_once(factory, "crowd", fill) / "warehouse"


@pytest.fixture(scope="module")
def crowd(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tracewh.Warehouse]:
    with tracewh.open(crowd_of(shared, tmp_path_factory)) as warehouse:
        yield warehouse


@pytest.fixture(scope="module")
def copied(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> CopiedTables:
    return CopiedTables(crowd_of(shared, tmp_path_factory))


def with_sides(view: Spec, **arguments: str | bool) -> dict[str, Any]:
    """Arguments of a view, and those that it requires: two runs for those that compare."""
    if "baseline" in {param.name for param in view.params}:
        return {"baseline": "h100_bert_2025", "experiment": "two_ranks_nccl_2023"}
    if view.name == "trend":
        return {"figure": "step_us"}
    return arguments


@each_view
def test_rows_come_in_order_and_none_by_chance(copied: CopiedTables, view: Spec) -> None:
    """Rows that tie would change places from one call to the next."""
    rows = copied.ask_once(view, **with_sides(view))
    keys = re.sub(r" (DESC|NULLS FIRST|NULLS LAST)\b", "", view.order)
    with duckdb.connect() as con:
        con.register("rows_of_view", rows)
        placed = con.execute(
            f"""
            SELECT r.place, row({keys})
            FROM (SELECT row_number() OVER () AS place, * FROM rows_of_view) AS r
            ORDER BY {view.order}, r.place
            """
        ).fetchall()
    assert [place for place, _ in placed] == list(range(1, rows.num_rows + 1))
    assert rows.num_rows > 1 or (view.grain, rows.num_rows) == ("one row", 1)
    ties = [key for (_, key), (_, other) in pairwise(placed) if key == other]
    # The points of an instant come in the order of the file, which no column has.
    assert ties == [] or view.name == "memory_curve"


def test_the_views_that_take_traces_together_are_listed() -> None:
    """The others take a run, a worker and a span, and must hold to the next test."""
    free = {
        view.object_name for view in VIEWS if not set(KEYS) <= {param.name for param in view.params}
    }
    assert free == TAKEN_TOGETHER.keys() - {"topology_v1"}


@each_view
def test_rows_of_all_are_those_of_each_put_together(
    crowd: tracewh.Warehouse, copied: CopiedTables, view: Spec
) -> None:
    names_of_params = {param.name for param in view.params}
    if not set(KEYS) <= names_of_params:
        return  # listed above
    apart = {"per_span": True} if "per_span" in names_of_params else {}
    whole = copied.ask_once(view, **apart)
    names, rows = whole.column_names, duckdb.from_arrow(whole).fetchall()

    def expect(wanted: dict[str, str]) -> Rows:
        values_of = itemgetter(*map(names.index, wanted))
        values = tuple(wanted.values()) if len(wanted) > 1 else next(iter(wanted.values()))
        return [row for row in rows if values_of(row) == values]

    # A span of what is taken together would say less.
    filters = KEYS[:2] if view.object_name in TAKEN_TOGETHER else KEYS
    traces = copied.con.execute(
        """
        SELECT DISTINCT run, worker, span FROM traces WHERE NOT starts_with(run, 'again') ORDER BY ALL
        """
    ).fetchall()
    assert len(traces) == 26
    # What filters is the same function for all traces: of those with rows one in the middle, which most have
    # copies beside them, and one that has none.
    found = set(map(itemgetter(*map(names.index, filters)), rows))
    asked = list(dict.fromkeys(trace[: len(filters)] for trace in traces))
    some = [key for key in asked if key in found]
    none = [key for key in asked if key not in found]
    assert some
    for key in none[:1]:
        wanted = dict(zip(filters, key, strict=True))
        assert copied.ask(view, **wanted, **apart)[1] == []
    # The warehouse opens only the files that it needs for one.
    one = some[len(some) // 2]
    wanted = dict(zip(filters, one, strict=True))
    assert_same(crowd.view(view.name, view.version, **wanted, **apart).fetchall(), expect(wanted))
    # Each filter alone, too: what a view leaves out it must not look at.
    for name, value in wanted.items():
        assert_same(copied.ask(view, **{name: value}, **apart)[1], expect({name: value}))


@pytest.mark.parametrize(
    "view",
    [
        view
        for view in VIEWS
        # recommendations has the worst recording instead.
        if "per_span" in {param.name for param in view.params} and view.name != "recommendations"
    ],
    ids=lambda view: view.object_name,
)
def test_spans_are_together_unless_told_apart(copied: CopiedTables, view: Spec) -> None:
    """Together no row names a span; a span that is named is what it is apart."""
    table = copied.ask_once(view)
    names, together = table.column_names, duckdb.from_arrow(table).fetchall()
    rows = duckdb.from_arrow(copied.ask_once(view, per_span=True)).fetchall()
    place = names.index("span")
    assert 0 < len(together) < len(rows)
    assert {row[place] for row in together} == {None}
    [one] = [{row[place] for row in rows} & {"default"}]
    assert_same(copied.ask(view, span="default")[1], [r for r in rows if r[place] in one])
    if "cumulative_pct" in names:
        at = names.index("cumulative_pct")
        for answer in (together, rows):
            last = {row[: place + 1]: row[at] for row in answer if row[at] is not None}
            assert last and all(value == pytest.approx(100) for value in last.values())


def assert_same(found: Rows, expected: Rows) -> None:
    """The same rows, in whatever order; numbers may differ in the last digit."""
    assert len(found) == len(expected)
    unlike, other = _apart(found, expected)
    assert unlike == other


def alike(rows: Rows, others: Rows) -> bool:
    """Whether `assert_same` holds."""
    if len(rows) != len(others):
        return False
    unlike, other = _apart(rows, others)
    return unlike == other


def has_all(rows: Rows, some: Rows) -> bool:
    """Whether rows have those of a part, each of them at least once."""
    texts = set(map(repr, rows))
    other = [row for row in some if repr(row) not in texts]
    rounded = {tuple(_rounded(row)) for row in rows} if other else set()
    return all(tuple(_rounded(row)) in rounded for row in other)


def _apart(rows: Rows, others: Rows) -> list[list[list[str]]]:
    """What is left of both, sorted, without the rows that are equal: nearly all are, if not at the same place."""
    pairs = [(row, other) for row, other in zip(rows, others, strict=True) if row != other]
    sides = [[(repr(pair[side]), pair[side]) for pair in pairs] for side in (0, 1)]
    counts = Counter(text for text, _ in sides[0])
    counts.subtract(text for text, _ in sides[1])
    return [sorted(_rounded(row) for text, row in side if counts[text]) for side in sides]


def _rounded(row: tuple[Any, ...]) -> list[str]:
    return [f"{value:.9g}" if isinstance(value, float) else repr(value) for value in row]
