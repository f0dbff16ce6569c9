"""Every view that has no rows for a trace says why, and what it says is so."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import tracewh
from tests.conftest import made_once
from tests.copied import CopiedWarehouse, run_once
from tracewh.cli.output.empty_result import SOURCE, reasons
from tracewh.views import Spec
from tracewh.views.registry import installed

OF_TRACES = [view for view in installed() if set(SOURCE) <= {param.name for param in view.params}]
OF_PAIRS = [view for view in installed() if "baseline" in {param.name for param in view.params}]

Row = dict[str, Any]


def is_replay(view: Spec) -> bool:
    """Whether a view replays each trace."""
    return "critical_path_v1" in view.uses or view.name == "what_if_best"


def event(cat: str, name: str, ts: int = 10, dur: int = 50, tid: int = 7, /, **args: Any) -> Row:
    return {"ph": "X", "cat": cat, "name": name, "pid": 7, "tid": tid, "ts": ts, "dur": dur} | (
        {"args": args} if args else {}
    )


def allocation(**args: Any) -> Row:
    place = {"ph": "i", "s": "t", "name": "[memory]", "pid": 7, "tid": 7, "ts": 20}
    return place | {"args": {"Device Type": 0, "Device Id": -1, "Bytes": 64} | args}


OPERATOR = event("cpu_op", "aten::relu")
LAUNCH = event("cuda_runtime", "cudaLaunchKernel", 20, 5, correlation=1)
KERNEL = event("kernel", "relu", 40, 5, 0, stream=7, device=0, correlation=1)
COPY = event("gpu_memcpy", "Memcpy HtoD", 40, 5, 0, stream=7, device=0, correlation=1)

#: Only Kineto writes a schemaVersion.
ANOTHER_PROGRAM = "an event of another program"

#: Its last event is not whole.
CUT_OFF = "a file that was cut off"

#: What a trace may hold, and nothing else.
DRAWN = {
    "nothing": [{"ph": "M", "name": "process_name", "pid": 7, "tid": 0, "args": {"name": "python"}}],
    "an operator": [OPERATOR],
    "an operator with empty arguments": [
        event("cpu_op", "aten::relu", **{"Call stack": "", "Module Hierarchy": "", "Input Dims": ""})
    ],
    "a product without shapes": [event("cpu_op", "aten::mm")],
    "shapes of other operators": [event("cpu_op", "aten::relu", **{"Input Dims": [[2, 2]]})],
    "a call stack": [event("cpu_op", "aten::relu", **{"Call stack": "a.py(1): f"})],
    "a module by name": [event("cpu_op", "aten::relu", **{"Module Hierarchy": "top(Net)"})],
    "a frame": [event("python_function", "a.py(1): f")],
    "a module without lines": [
        event("python_function", "nn.Module: Net_0", **{"Python id": 1, "Python module id": 0})
    ],
    "Lightning without its profiler": [
        event("python_function", "pytorch_lightning/trainer.py(1): fit"), OPERATOR,
    ],
    "an annotation": [event("user_annotation", "forward")],
    "a step": [event("user_annotation", "ProfilerStep#1")],
    ANOTHER_PROGRAM: [event("xla", "PjitFunction")],
    CUT_OFF: [OPERATOR, OPERATOR],
    "a call of the runtime": [event("cuda_runtime", "cudaDeviceSynchronize")],
    "a launch": [OPERATOR, LAUNCH],
    "a kernel": [KERNEL],
    "a kernel that was launched": [OPERATOR, LAUNCH, KERNEL],
    "a kernel that starts before its launch": [OPERATOR, LAUNCH, KERNEL | {"ts": 15}],
    "a copy": [COPY],
    "a synchronisation": [event("cuda_sync", "Stream Sync", 40, 5, 0, stream=7, device=0)],
    "a span of an annotation": [event("gpu_user_annotation", "forward", 40, 5, 0, stream=7)],
    "memory without addresses": [OPERATOR, allocation()],
    "memory without totals": [OPERATOR, allocation(Addr=1)],
    "memory": [OPERATOR, allocation(Addr=1, **{"Total Allocated": 64, "Total Reserved": 64})],
    "a release alone": [allocation(Addr=1, Bytes=-64)],
    "counters": [event("cuda_profiler_range", "gemm", 20, 5, 0, **{"dram__bytes_read.sum": 8})],
    "a collective of gloo": [event("user_annotation", "gloo:all_reduce")],
    "a collective of nccl": [KERNEL | {"name": "ncclDevKernel_AllReduce_Sum_f32_RING_LL(x)"}],
}  # fmt: skip


@pytest.fixture(scope="module")
def drawn(
    samples: tracewh.Warehouse, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tracewh.Warehouse]:
    """The traces above, and the bundled samples: a view is planned once for both."""

    def draw(folder: Path) -> None:
        for name, events in DRAWN.items():
            file = folder / name / "w.pt.trace.json"
            file.parent.mkdir()
            written = {} if name == ANOTHER_PROGRAM else {"schemaVersion": 1}
            text = json.dumps({**written, "traceEvents": events})
            file.write_text(text[:-9] if name == CUT_OFF else text)
        tracewh.ingest([folder], folder / "w")
        shutil.copytree(Path(samples.path) / "data", folder / "w" / "data", dirs_exist_ok=True)

    with CopiedWarehouse(made_once(tmp_path_factory, "drawn_for_reasons", draw) / "w") as warehouse:
        yield warehouse


@pytest.fixture
def traces(request: pytest.FixtureRequest) -> tracewh.Warehouse:
    """A warehouse by name; that of the shared traces skips where there are none."""
    found = request.getfixturevalue(request.param)
    assert isinstance(found, tracewh.Warehouse)
    return found


everywhere = pytest.mark.parametrize("traces", ["drawn", "corpus"], indirect=True)
each_view = pytest.mark.parametrize("view", OF_TRACES, ids=lambda view: view.object_name)


def with_rows(warehouse: tracewh.Warehouse, view: Spec, **arguments: Any) -> set[tuple[str, ...]]:
    """The traces that a view has rows for; of a row without a worker or span, all that it covers."""
    rows = warehouse.view(view.name, view.version, **arguments)
    keys = [name for name in SOURCE if name in rows.columns]
    found = set(rows.project(", ".join(keys)).distinct().fetchall())
    return {
        trace
        for trace in warehouse.names()
        if tuple(dict(zip(SOURCE, trace, strict=True))[key] for key in keys) in found
    }


@everywhere
@each_view
def test_no_rows_have_a_reason_that_holds(traces: tracewh.Warehouse, view: Spec) -> None:
    """A check of trace_quality is none if the view has rows for another trace that it holds for.

    tests/views/test_every_view.py sees to it that a trace has the same rows by itself.
    """
    if is_replay(view) and Path(traces.path).parent.name == "corpus":
        return  # it has rows where critical_path or what_if has, which takes long to find out
    # Each part of what_if_best is a replay of each trace.
    having = with_rows(traces, view, **{"most": 1} if view.name == "what_if_best" else {})
    asked = partial(run_once, traces)
    why = reasons(asked, traces.names(), view, {})
    assert [trace for trace in traces.names() if trace not in having and not why[trace]] == []
    checks = asked("trace_quality").project('run, worker, span, "check"').fetchall()
    assert [row for row in checks if row[3] in view.needs and row[:3] in having] == []


@pytest.mark.parametrize("name", ["comm_overlap", "data_queue", "recommendations", "what_if"])
def test_another_program_is_not_told_to_record_with_torch(
    drawn: tracewh.Warehouse, name: str
) -> None:
    """Nor that no rule found anything to improve: no rule knows its events."""
    trace = (ANOTHER_PROGRAM, "w", "default")
    view = drawn.registry.get(name)
    said = (
        "No event is of a kind that the PyTorch profiler records, such as an operator: perhaps another program wrote "
        "this trace. range_stats adds its events up by name."
    )
    assert reasons(partial(run_once, drawn), [trace], view, {"run": trace[0]}) == {trace: [said]}


def test_a_file_that_was_cut_off_is_not_told_which_options_to_set(
    drawn: tracewh.Warehouse,
) -> None:
    """What a view needs may be in the part that is lost."""
    trace = (CUT_OFF, "w", "default")
    cut_off = (
        "The file was cut off: the events after that place are lost, and figures are of the rest; copy the file again, "
        "or record once more."
    )
    said = {
        "data_queue": [cut_off],
        "module_stats": [
            cut_off, "Operators without modules: perhaps cut off with the end of the file.",
        ],
    }  # fmt: skip
    for name, lines in said.items():
        view = drawn.registry.get(name)
        assert reasons(partial(run_once, drawn), [trace], view, {"run": CUT_OFF}) == {trace: lines}


@pytest.mark.parametrize("view", OF_PAIRS, ids=lambda view: view.object_name)
@pytest.mark.parametrize("run", ["nothing", "an operator", "a kernel"])
def test_no_rows_of_two_runs_have_a_reason(drawn: tracewh.Warehouse, run: str, view: Spec) -> None:
    arguments = {"baseline": run, "experiment": run}
    rows = drawn.view(view.name, view.version, **arguments).limit(1).fetchall()
    why = reasons(partial(run_once, drawn), drawn.names(), view, arguments)
    assert rows or why[run, "w", "default"]
