"""What holds for the rows of every view on a warehouse with several runs, workers and spans.

A view of the registry that is not listed here yet fails: its order is a promise, too.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import duckdb
import pytest

import tracewh
from tests.conftest import made_once
from tracewh.views import Registry, Spec

HERE = Path(__file__).parent
VIEWS = list(Registry.load())
KEYS = ("run", "worker", "span")

#: Real traces: two ranks on GPUs, one with frames and memory, a gloo pair, PyTorch Lightning.
RUNS = ("two_ranks_nccl_2023", "h100_bert_2025", "a100_cupti_counters_2023")
PAIR = HERE.parent / "samples" / "ddp_gloo"
LIGHTNING = HERE / "parity" / "lightning" / "run.pt.trace.json.gz"

#: Counters of two kernels, and two samples of PM sampling, as the profiler writes them: there is no real
#: trace with the latter.
COUNTERS = [
    {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 7, "tid": 7, "ts": 10, "dur": 50},
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

#: How the rows of each view come.
ORDER = {
    "annotation_breakdown_v1": (
        "coalesce(host_us, device_us) DESC, run, worker, span, name, device_us IS NOT NULL, device_id"
    ),
    "comm_overlap_v1": "run, worker, span, step NULLS FIRST",
    "comm_wait_v1": "run, worker, span, step NULLS FIRST",
    "collective_stats_v1": "total_us DESC, run, worker, span, name",
    "collectives_v1": "duration_us DESC, run, worker, span, start_ns, event_id",
    "counter_curve_v1": ("run, worker, span, device_id, pid, counter, series, time_ns, event_id"),
    "cupti_counters_v1": "run, worker, span, event_id, counter",
    "critical_path_v1": "run, worker, span, step, start_ns",
    "critical_path_summary_v1": "run, worker, span, step, duration_us DESC, bound",
    "diff_kernels_v1": (
        "abs(delta_total_us) DESC, name, operator, grid, block, registers_per_thread,"
        " shared_memory_bytes"
    ),
    "diff_modules_v1": "abs(delta_us) DESC, position",
    "diff_operators_v1": (
        "abs(delta_device_self_us) DESC, abs(delta_host_self_us) DESC, name, input_dims, call_stack"
    ),
    "diff_kernels_v2": (
        "abs(delta_total_us) DESC, name, operator, grid, block, registers_per_thread,"
        " shared_memory_bytes"
    ),
    "diff_operators_v2": (
        "abs(delta_device_self_us) DESC, abs(delta_host_self_us) DESC, name, input_dims, call_stack"
    ),
    "diff_overview_v1": "baseline_step_us",
    "diff_steps_v1": (
        "abs(delta_mean_us) DESC, list_position(['kernel', 'memcpy', 'memset',"
        " 'communication', 'runtime', 'dataloader', 'cpu_exec', 'other', 'total'], category)"
    ),
    "flamegraph_v1": "value_us DESC, run, worker, span, stack",
    "gpu_gaps_v1": "duration_us DESC, run, worker, span, device_id, start_ns",
    "flop_stats_v1": "self_flops DESC, total_flops DESC, run, worker, span, name",
    "gpu_summary_v1": "run, worker, span, device_id",
    "gpu_time_v1": "run, worker, span, device_id",
    "idle_time_v1": "idle_us DESC, run, worker, span, device_id, stream_id, idle_category",
    "kernel_counters_v1": "flops DESC, run, worker, span, event_id",
    "kernel_sequences_v1": "device_us DESC, run, worker, span, pattern",
    "kernel_stats_v1": (
        "total_us DESC, run, worker, span, name, operator, grid, block, registers_per_thread,"
        " shared_memory_bytes"
    ),
    "kernel_type_breakdown_v1": "total_us DESC, run, worker, span, kind",
    "launch_stats_v1": "host_us DESC, run, worker, span, name, operator, launch_call",
    "lightning_stats_v1": (
        "device_total_us DESC, host_total_us DESC, run, worker, span, kind, module"
    ),
    "memory_at_peak_v1": (
        "live_bytes DESC, run, worker, span, device, operator, module, source_file, source_line,"
        " blocks"
    ),
    "memory_bandwidth_v1": "run, worker, span, device_id, copy_type, start_ns",
    "memory_bandwidth_summary_v1": "run, worker, span, device_id, copy_type",
    "memory_copy_stats_v1": "total_us DESC, run, worker, span, operation",
    # The points of an instant come in the order of the file, which no column has.
    "memory_curve_v1": "run, worker, span, device, time_ns",
    "memory_events_v1": (
        "size_bytes DESC, run, worker, span, device, coalesce(allocated_ns, released_ns), address"
    ),
    "memory_stats_v1": (
        "self_size_increase_bytes DESC, size_increase_bytes DESC, run, worker, span, device, operator"
    ),
    "module_stats_v1": (
        "device_total_us DESC, host_total_us DESC, run, worker, span, module, module_id"
    ),
    "module_tree_v1": "run, worker, span, start_ns, depth, event_id",
    "operator_calls_v1": (
        "device_total_us DESC, duration_us DESC, run, worker, span, start_ns, event_id"
    ),
    "operator_counters_v1": "sum DESC, run, worker, span, counter, operator",
    "operator_flops_v1": "device_us DESC, flops DESC, run, worker, span, start_ns, event_id",
    "operator_flops_summary_v1": (
        "device_us DESC, total_flops DESC, run, worker, span, name, dtype, input_dims, flops, bytes"
    ),
    "operator_stats_v1": (
        "device_self_us DESC, host_self_us DESC, run, worker, span, name, input_dims, call_stack"
    ),
    "queue_length_v1": ("run, worker, span, device_id, stream_id, time_ns, change DESC, event_id"),
    "queue_length_summary_v1": "run, worker, span, device_id, stream_id",
    "recommendations_v1": "list_position(['warning', 'info'], severity), run, worker, span, rule",
    "roofline_v1": "duration_us DESC, flops DESC, run, worker, span, name, device_id",
    "runs_v1": "last_ns DESC, run",
    "runtime_api_stats_v1": "total_us DESC, run, worker, span, name",
    "sm_efficiency_series_v1": "run, worker, span, device_id, start_ns",
    "source_lines_v1": (
        "host_self_us DESC, run, worker, span, source_file, source_line, source_function"
    ),
    "step_breakdown_v1": "run, worker, span, step",
    "step_breakdown_summary_v1": (
        "run, worker, span, list_position(['kernel', 'memcpy', 'memset', 'communication',"
        " 'runtime', 'dataloader', 'cpu_exec', 'other', 'total'], category)"
    ),
    "stragglers_v1": "run, span, step NULLS FIRST, lateness_us DESC, worker",
    "topology_v1": "run, hostname, rank, worker, device_id",
    "trace_quality_v1": (
        "list_position(['error', 'warning', 'info'], severity), run, worker, span, \"check\""
    ),
    "trend_v1": "first_ns, run",
    "utilization_series_v1": "run, worker, span, device_id, start_ns",
}

#: View -> why its rows for a worker and a span are not those of the calls for each.
TAKEN_TOGETHER = {
    "runs_v1": "one row for all workers and spans of a run",
    "topology_v1": "what a worker recorded more than once is taken together",
    "diff_kernels_v1": "means over the workers and spans of two runs",
    "diff_modules_v1": "one trace of each of two runs",
    "diff_operators_v1": "means over the workers and spans of two runs",
    "diff_kernels_v2": "means over the workers and spans of two runs",
    "diff_operators_v2": "means over the workers and spans of two runs",
    "trend_v1": "means over the workers and spans of each run",
    "diff_overview_v1": "means over the workers and spans of two runs",
    "diff_steps_v1": "means over the workers and spans of two runs",
}

each_view = pytest.mark.parametrize("view", VIEWS, ids=lambda view: view.object_name)


def crowd_of(shared: Path, factory: pytest.TempPathFactory) -> Path:
    """A warehouse of real traces, each of them once more as another run, and as another span.

    So rows tie in all but these, and only these can say which one comes first.
    """

    def fill(folder: Path) -> None:
        path = folder / "warehouse"
        tracewh.ingest([shared / "traces" / run for run in RUNS], path)
        tracewh.ingest([PAIR], path)
        tracewh.ingest([LIGHTNING], path, run="lightning")
        counted = folder / "counted.pt.trace.json"
        counted.write_text(json.dumps({"deviceProperties": [A100], "traceEvents": COUNTERS}))
        tracewh.ingest([counted], path, run="counted")
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


def ask(warehouse: tracewh.Warehouse, view: Spec, **arguments: str) -> duckdb.DuckDBPyRelation:
    """A view; two runs for those that compare."""
    if "baseline" in {param.name for param in view.params}:
        arguments = {"baseline": "h100_bert_2025", "experiment": "two_ranks_nccl_2023"}
    if view.name == "trend":
        arguments = {"figure": "step_us"}
    return warehouse.view(view.name, view.version, **arguments)


def test_every_view_has_an_order() -> None:
    assert ORDER.keys() == {view.object_name for view in VIEWS}


@each_view
def test_rows_come_in_order_and_none_by_chance(crowd: tracewh.Warehouse, view: Spec) -> None:
    """Rows that tie would change places from one call to the next."""
    rows = ask(crowd, view).to_arrow_table()
    order = ORDER[view.object_name]
    keys = order.replace(" NULLS FIRST", "").replace(" DESC", "")
    with duckdb.connect() as con:
        con.register("rows_of_view", rows)
        placed = con.execute(
            f"""
            SELECT r.place, row({keys})
            FROM (SELECT row_number() OVER () AS place, * FROM rows_of_view) AS r
            ORDER BY {order}, r.place
            """
        ).fetchall()
    assert [place for place, _ in placed] == list(range(1, rows.num_rows + 1))
    assert rows.num_rows > 1 or (view.grain, rows.num_rows) == ("one row", 1)
    ties = [key for (_, key), (_, other) in pairwise(placed) if key == other]
    assert ties == [] or view.name == "memory_curve"


def test_the_views_that_take_traces_together_are_listed() -> None:
    """The others take a run, a worker and a span, and must hold to the next test."""
    free = {
        view.object_name for view in VIEWS if not set(KEYS) <= {param.name for param in view.params}
    }
    assert free == TAKEN_TOGETHER.keys() - {"topology_v1"}


@each_view
def test_rows_of_all_are_those_of_each_put_together(crowd: tracewh.Warehouse, view: Spec) -> None:
    if not set(KEYS) <= {param.name for param in view.params}:
        return  # listed above
    whole = ask(crowd, view)
    names, rows = whole.columns, whole.fetchall()

    def expect(wanted: dict[str, str]) -> list[tuple[Any, ...]]:
        return [row for row in rows if all(row[names.index(k)] == v for k, v in wanted.items())]

    # A span of what is taken together would say less.
    filters = KEYS[:2] if view.object_name in TAKEN_TOGETHER else KEYS
    traces = crowd.sql(
        "SELECT DISTINCT run, worker, span FROM traces WHERE NOT starts_with(run, 'again')"
    ).fetchall()
    assert len(traces) == 18
    # Most copies only have to be there.
    asked = {
        trace[: len(filters)]
        for trace in traces
        if trace[0] == "h100_bert_2025" or not any(name.startswith("again") for name in trace)
    }
    for trace in asked:
        wanted = dict(zip(filters, trace, strict=False))
        assert_same(ask(crowd, view, **wanted).fetchall(), expect(wanted))
    # Each filter alone, too: what a view leaves out it must not look at.
    for key in filters:
        values = sorted({trace[KEYS.index(key)] for trace in traces})
        for value in (values[0], values[-1]):
            found = ask(crowd, view, **{key: value}).fetchall()
            assert_same(found, expect({key: value}))


def assert_same(found: list[tuple[Any, ...]], expected: list[tuple[Any, ...]]) -> None:
    """The same rows, in whatever order; numbers may differ in the last digit."""
    found, expected = sorted(found, key=_rounded), sorted(expected, key=_rounded)
    assert len(found) == len(expected)
    for row, other in zip(found, expected, strict=True):
        assert row == other or _rounded(row) == _rounded(other)


def alike(rows: list[tuple[Any, ...]], others: list[tuple[Any, ...]]) -> bool:
    """Whether `assert_same` holds."""
    return sorted(map(_rounded, rows)) == sorted(map(_rounded, others))


def _rounded(row: tuple[Any, ...]) -> list[str]:
    return [f"{value:.9g}" if isinstance(value, float) else repr(value) for value in row]
