"""samples/record_gpu.py: what fails leaves the rest alone, and files that cannot be bundled are named.

tests/live/test_recordings.py records with it.
"""

from __future__ import annotations

import contextlib
import gzip
import importlib
import os
import pickle
import sys
from pathlib import Path
from types import ModuleType
from typing import Any
from unittest.mock import MagicMock

import pytest

SAMPLES = Path(__file__).parents[2] / "samples"
MODULES = ("gpt", "record", "recorder", "gpu_samples", "record_gpu")
#: Stands for gpu_samples.py, with its arguments: it writes a trace, and then fails in the way of the sample.
FAILS = """
import pathlib, sys, time
name, device, out = sys.argv[1:]
for file in (f"traces/{name}/worker0.1.pt.trace.json.gz", f"said/{name}.worker0.1.json"):
    pathlib.Path(out, file).parent.mkdir(parents=True, exist_ok=True)
    pathlib.Path(out, file).touch()
if name == "gpt_eager":
    raise ValueError("no memory is left")
if name == "gpt_compiled":
    time.sleep(60)
if name == "gpt_counters":
    sys.exit("not recorded: the driver offers no counters")
"""


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> Any:
    """record_gpu.py and what it imports, as they are imported beside it."""
    monkeypatch.syspath_prepend(str(SAMPLES))
    for name in MODULES:
        monkeypatch.delitem(sys.modules, name, raising=False)
    module: ModuleType = importlib.import_module("record_gpu")
    yield module
    for name in MODULES:
        sys.modules.pop(name, None)


def test_what_fails_leaves_no_trace_and_has_a_reason(
    script: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "gpu_samples.py").write_text(FAILS)
    monkeypatch.setattr(script, "HERE", tmp_path)
    out = tmp_path / "out"
    reasons = {
        name: script.record(name, "cuda", out, seconds)
        for name, seconds in {
            "resnet_gpu_workers_0": 20,
            "gpt_eager": 20,
            "gpt_compiled": 2,
            "gpt_counters": 20,
            "ddp_gpu_gloo": 0,
        }.items()
    }
    assert reasons == {
        "resnet_gpu_workers_0": "",
        "gpt_eager": "failed: ValueError: no memory is left",
        "gpt_compiled": "failed: it took longer than 2 seconds",
        "gpt_counters": "not recorded: the driver offers no counters",
        "ddp_gpu_gloo": "skipped: no time was left",
    }
    assert os.listdir(out / "traces") == ["resnet_gpu_workers_0"]
    assert os.listdir(out / "said") == ["resnet_gpu_workers_0.worker0.1.json"]


def test_on_a_cpu_what_needs_a_gpu_is_skipped(script: Any, tmp_path: Path) -> None:
    reason = script.record("gpt_inference", "cpu", tmp_path, 10)
    assert reason == "skipped: a CUDA graph is captured on a GPU"


def test_files_that_cannot_be_bundled_are_named(script: Any, tmp_path: Path) -> None:
    texts = {
        "good": b'{"host_name": "localhost", "traceEvents": [{"name": "a.py(1): f"}]}',
        "host": b'{"host_name": "node7", "traceEvents": []}',
        "path": b'{"host_name": "localhost", "traceEvents": [{"name": "/home/me/a.py(1): f"}]}',
    }
    for name, text in texts.items():
        (tmp_path / f"{name}.gz").write_bytes(gzip.compress(text))
    (tmp_path / "large.pickle").write_bytes(os.urandom(script.LARGEST + 1))
    found = script.problems(sorted(tmp_path.iterdir()))
    assert found == [
        "host.gz has the name of the machine",
        "large.pickle is too large: 600 kB",
        "path.gz has paths of the machine: /home/me/a.py(1): f",
    ]


def test_a_snapshot_has_no_paths_of_the_machine(script: Any, tmp_path: Path) -> None:
    samples = importlib.import_module("gpu_samples")
    import torch

    packages = Path(torch.__file__).parents[1]
    frames = [
        {"filename": str(SAMPLES / "gpt.py"), "line": 7, "name": "step"},
        {"filename": str(packages / "torch" / "_tensor.py"), "line": 8, "name": "backward"},
        {"filename": "/nowhere/else.py", "line": 9, "name": "f"},
    ]
    snapshot = {"segments": [{"blocks": [{"frames": frames}]}], "device_traces": [[{"addr": 5}]]}
    shown = samples.without_paths(snapshot)
    names = [frame["filename"] for frame in shown["segments"][0]["blocks"][0]["frames"]]
    assert names == ["gpt.py", "torch/_tensor.py", "else.py"]
    assert shown["device_traces"] == [[{"addr": 5}]]
    assert frames[0]["line"] == shown["segments"][0]["blocks"][0]["frames"][0]["line"]


@pytest.mark.filterwarnings("ignore::UserWarning:torch.profiler")
def test_what_only_a_gpu_runs_holds_together(
    script: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With stand-ins for what CUDA does: on a GPU it runs for minutes, which an error must not waste."""
    import torch

    samples = importlib.import_module("gpu_samples")
    snapshot = {"device_traces": [[{"frames": [{"filename": "/nowhere/else.py"}]}]]}
    for name in ("CUDAGraph", "Stream", "current_stream"):
        monkeypatch.setattr(torch.cuda, name, MagicMock())
    for name in ("graph", "stream"):
        monkeypatch.setattr(torch.cuda, name, lambda _: contextlib.nullcontext())
    monkeypatch.setattr(torch.cuda.memory, "_record_memory_history", MagicMock())
    monkeypatch.setattr(torch.cuda.memory, "_snapshot", lambda: snapshot)
    samples.gpt_inference(tmp_path, "graph", "cpu")
    samples.gpt_memory(tmp_path, "memory", "cpu")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(samples.NotRecorded, match="and there is no ncu"):
        samples.gpt_counters(tmp_path, "roofline", "cpu")
    ncu = tmp_path / "ncu"
    ncu.write_text("#!/bin/sh\necho $*\n")
    ncu.chmod(0o755)
    samples.gpt_counters(tmp_path, "roofline", "cpu")
    traces = tmp_path / "traces"
    assert len([*traces.glob("graph/capture_traces/bs_2.pt.trace.json.gz")]) == 1
    assert len([*traces.glob("graph/worker0.*.pt.trace.json.gz")]) == 1
    kept = pickle.loads((traces / "memory" / "worker0.memory_snapshot.pickle").read_bytes())
    assert kept == {"device_traces": [[{"frames": [{"filename": "else.py"}]}]]}
    # The second command of Nsight Compute prints the table.
    table = gzip.decompress((traces / "roofline" / "counters.csv.gz").read_bytes()).decode()
    assert table.startswith("--import ") and table.endswith("/report.ncu-rep --page raw --csv\n")
    assert script.problems([file for file in traces.rglob("*") if file.is_file()]) == []
    said = {path.name for path in (tmp_path / "said").iterdir()}
    assert said == {f"{run}.worker0.1.json" for run in ("graph", "memory", "roofline")}
