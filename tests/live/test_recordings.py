"""What samples/record_gpu.py records here and now, on a GPU where there is one, against what torch says of it."""

from __future__ import annotations

import gzip
import json
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import tracewh
from tests.live.compare_recordings import (
    CHECKS,
    WIDENED_NS,
    Answers,
    Difference,
    Recording,
    compare,
)
from tests.torch_forks import run_with_torch

RECORDER = Path(__file__).parents[2] / "samples" / "record_gpu.py"
#: On a CPU, where compiling takes minutes, two that have everything the others have.
ON_CPU = ["gpt_eager", "ddp_gpu_gloo"]
NEEDS_GPU = {"gpt_cuda_graphs", "gpt_inference", "gpt_counters", "gpt_memory", "ddp_gpu_nccl"}


class Recorded:
    """A folder of record_gpu.py, and its traces in a warehouse."""

    def __init__(self, folder: Path, warehouse: tracewh.Warehouse, device: str) -> None:
        self.folder, self.warehouse, self.device = folder, warehouse, device
        self.answers = Answers(warehouse)
        self.report: dict[str, Any] = json.loads((folder / "report.json").read_text())


@pytest.fixture(scope="module", params=["cpu", "cuda"])
def recorded(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Recorded]:
    # Slow to import, and every process of a test run collects this file.
    import torch

    device = request.param
    if device == "cuda" and not torch.cuda.is_available():
        pytest.skip("there is no NVIDIA GPU")
    folder = tmp_path_factory.mktemp(device)
    only = [f"--only={name}" for name in [*ON_CPU, *sorted(NEEDS_GPU)]] if device == "cpu" else []
    limits = ["--seconds=150", "--minutes=15"]
    words = [str(folder / "out"), f"--device={device}", *limits, *only]
    if device == "cpu":
        run_with_torch(RECORDER, *words)
    else:
        # NCCL and the driver may refuse a sample each; that is in the report.
        subprocess.run([sys.executable, str(RECORDER), *words], check=False, capture_output=True)
    tracewh.ingest([folder / "out" / "traces"], folder / "warehouse")
    with tracewh.open(folder / "warehouse") as warehouse:
        yield Recorded(folder / "out", warehouse, device)


def test_all_is_recorded_or_has_a_reason(recorded: Recorded) -> None:
    import torch

    missing = {name for name, of in recorded.report.items() if of["not_recorded"]}
    if recorded.device == "cpu":
        assert recorded.report.keys() == {*ON_CPU, *NEEDS_GPU}
        assert missing == NEEDS_GPU
        assert recorded.report["ddp_gpu_nccl"]["not_recorded"] == "skipped: NCCL runs on GPUs"
    else:
        assert missing <= {"ddp_gpu_nccl", "gpt_counters"}
    assert all(of["problems"] == [] for of in recorded.report.values())
    runs = {run for (run,) in recorded.warehouse.sql("SELECT DISTINCT run FROM traces").fetchall()}
    of_samples = {run for run in runs if not run.endswith("capture_traces")}
    suffix = "" if recorded.device == "cuda" else "_cpu"
    assert of_samples == {f"{name}{suffix}" for name in recorded.report.keys() - missing}
    facts = json.loads((recorded.folder / "facts.json").read_text())
    assert facts["torch"] == torch.__version__
    assert ("driver" in facts) is torch.cuda.is_available()


def test_views_have_the_figures_of_torch(recorded: Recorded) -> None:
    assert [str(each) for each in compare(recorded.folder, recorded.warehouse)] == []


def test_something_was_compared(recorded: Recorded) -> None:
    """Each check of operators, annotations and memory has rows, and on a GPU also the others."""
    [said] = (recorded.folder / "said").glob("gpt_eager*")
    recording = Recording(recorded.answers, said)
    for check in CHECKS:
        on_gpu = (
            check.on_device or check.view == "runtime_api_stats" or "device" in check.figures[0]
        )
        filled = any(recording.ours(check).values())
        assert filled is (recorded.device == "cuda" or not on_gpu), check
    assert len(recording.said["steps_us"]) >= 6


def more_calls(said: dict[str, Any]) -> None:
    [row] = [row for row in said["averages"] if row["name"] == "aten::linear"]
    row["calls"] += 1


def longer(said: dict[str, Any]) -> None:
    [row] = [row for row in said["averages"] if row["name"] == "aten::linear"]
    row["self_ns"] += 1


def new_operator(said: dict[str, Any]) -> None:
    said["categories"]["cpu_op"].append("new")
    [row] = [row for row in said["averages"] if row["name"] == "aten::linear"]
    said["averages"].append(row | {"name": "new"})


def slower(said: dict[str, Any]) -> None:
    said["steps_us"] = {step: length * 2 for step, length in said["steps_us"].items()}


def one_step_slower(said: dict[str, Any]) -> None:
    said["steps_us"]["4"] *= 2


def one_step_less(said: dict[str, Any]) -> None:
    del said["steps_us"]["4"]


@pytest.mark.parametrize(
    ("change", "found"),
    [
        (more_calls, {("operator_stats", "calls"), ("operator_calls", "calls")}),
        (longer, {("operator_stats", "self_ns"), ("operator_calls", "self_ns")}),
        (slower, {("step_breakdown", "total_us")}),
        (one_step_slower, set()),
        (one_step_less, {("step_breakdown", "total_us")}),
    ],
)
def test_a_difference_is_found(
    recorded: Recorded,
    tmp_path: Path,
    change: Callable[[dict[str, Any]], None],
    found: set[tuple[str, str]],
) -> None:
    [said] = (recorded.folder / "said").glob("gpt_eager*")
    changed = Path(shutil.copy(said, tmp_path))
    text = json.loads(changed.read_text())
    change(text)
    changed.write_text(json.dumps(text))
    differences = list(Recording(recorded.answers, changed).all())
    assert {(each.view, each.figure) for each in differences} == found
    assert all(isinstance(each, Difference) and each.ours != each.theirs for each in differences)


def test_a_missing_operator_is_found(recorded: Recorded, tmp_path: Path) -> None:
    [said] = (recorded.folder / "said").glob("gpt_eager*")
    changed = Path(shutil.copy(said, tmp_path))
    text = json.loads(changed.read_text())
    new_operator(text)
    changed.write_text(json.dumps(text))
    differences = list(Recording(recorded.answers, changed).all())
    assert {each.name for each in differences} == {"new"}
    assert {each.ours for each in differences} == {None}


def summed(trace: Path) -> dict[str, Any]:
    """What key_averages() has of all but operators, summed from the events of a file."""
    rows: dict[tuple[str, str], dict[str, Any]] = {}
    for event in json.loads(gzip.decompress(trace.read_bytes()))["traceEvents"]:
        if event.get("ph") == "X":
            category = event["cat"]
            on_device = category == "kernel" or category.startswith("gpu_")
            name = re.sub(r"^(ProfilerStep)#\d+$", r"\1*", event["name"])
            row = rows.setdefault((category, name), {"calls": 0, "total_ns": 0} | {"name": name})
            row |= {"on_device": on_device, "is_annotation": category.endswith("annotation")}
            row["calls"] += 1
            row["total_ns"] += round(event["dur"] * 1000)
            row["device_total_ns"] = row["total_ns"]
            if category == "gpu_user_annotation":
                row["device_total_ns"] -= WIDENED_NS * row["calls"]
    names: dict[str, list[str]] = {}
    for category, name in rows:
        names.setdefault(category, []).append(name)
    return {"categories": names, "within": {}, "averages": [*rows.values()], "steps_us": {}}


def test_the_checks_of_a_gpu_fit_a_trace_of_one(shared: Path, tmp_path: Path) -> None:
    [trace] = (shared / "traces" / "h100_bert_2025").glob("*.gz")
    (tmp_path / "traces" / "run").mkdir(parents=True)
    shutil.copy(trace, tmp_path / "traces" / "run" / "w.1700000000000.pt.trace.json.gz")
    (tmp_path / "run.w.1.json").write_text(json.dumps(summed(trace)))
    tracewh.ingest([tmp_path / "traces"], tmp_path / "warehouse")
    with tracewh.open(tmp_path / "warehouse") as warehouse:
        recording = Recording(Answers(warehouse), tmp_path / "run.w.1.json")
        for check in (check for check in CHECKS if check.categories != ("cpu_op",)):
            assert recording.ours(check) == recording.theirs(check) != {}, check
