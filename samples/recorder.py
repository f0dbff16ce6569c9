"""Writes a recording of record_gpu.py, and beside it what it is compared with.

    FOLDER/traces/RUN/WORKER.<ns>.pt.trace.json.gz    the trace
    FOLDER/said/RUN.WORKER.SPAN.json                  what torch itself says: key_averages() of the same
                                                      recording, and how long each step took

The steps are timed with events of CUDA on the device's stream; on a CPU by its clock.
"""

from __future__ import annotations

import gzip
import json
import socket
import time
from collections import Counter, defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from torch.profiler import ProfilerActivity, profile, schedule

#: Steps that are skipped, and steps that warm the profiler up.
WAIT, WARMUP = 1, 1
FRAME = "python_function"


class Recorder:
    """Records the workers of one run.

    `hidden` are folders whose path is left out of traces, as the profiler does with those of sys.path.
    """

    def __init__(self, out: Path, run: str, device: str, hidden: tuple[Path, ...] = ()) -> None:
        self.out, self.run, self.device, self.hidden = out, run, device, hidden
        self.folder = out / "traces" / run
        self._spans = Counter[str]()
        self._begun: Any = None
        self._steps: dict[int, tuple[Any, Any]] = {}

    def steps(
        self, worker: str, work: Callable[[], object], active: int, cycles: int = 1, **more: Any
    ) -> None:
        """Do the work as often as the schedule says, and record it."""
        with self.profiling(worker, active, cycles, **more) as profiler:
            for _ in range((WAIT + WARMUP + active) * cycles):
                work()
                self.step(profiler)

    def profiling(self, worker: str, active: int, cycles: int = 1, **more: Any) -> profile:
        """Return a profiler of everything, whose steps are those of `step`."""
        return profile(
            activities=self.activities,
            schedule=schedule(wait=WAIT, warmup=WARMUP, active=active, repeat=cycles),
            on_trace_ready=lambda profiler: self.finish(profiler, self.folder, worker),
            record_shapes=True,
            profile_memory=True,
            with_stack=True,
            **more,
        )

    @property
    def activities(self) -> list[ProfilerActivity]:
        """What is recorded."""
        gpu = [ProfilerActivity.CUDA] if self.device == "cuda" else []
        return [ProfilerActivity.CPU, *gpu]

    def step(self, profiler: profile) -> None:
        """End a step, and begin the next one; the time of writing a trace is in neither."""
        if self._begun is not None:
            self._steps[profiler.step_num] = (self._begun, self._now())
        profiler.step()
        self._begun = self._now()

    def finish(self, profiler: profile, folder: Path, worker: str) -> None:
        """Write the trace, and what torch says."""
        trace = self.write(profiler, folder / f"{worker}.{time.time_ns()}.pt.trace.json")
        self._spans[worker] += 1
        path = self.out / "said" / f"{self.run}.{worker}.{self._spans[worker]}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        said = {**key_averages(profiler, trace), "device": self.device, "steps_us": self._lengths()}
        path.write_text(json.dumps(said), "utf-8")

    def write(self, profiler: profile, path: Path) -> list[dict[str, Any]]:
        """Write a trace as path.gz, without names of the machine, and return its events."""
        path.parent.mkdir(parents=True, exist_ok=True)
        profiler.export_chrome_trace(str(path))
        text = path.read_bytes()
        path.unlink()
        for folder in (path.parent, *self.hidden):
            text = text.replace(f"{folder}/".encode(), b"")
        name = json.dumps(socket.gethostname()).encode()
        text = text.replace(b'"host_name": ' + name, b'"host_name": "localhost"')
        path.with_name(f"{path.name}.gz").write_bytes(gzip.compress(text, mtime=0))
        events: list[dict[str, Any]] = json.loads(text)["traceEvents"]
        return events

    def _now(self) -> Any:
        if self.device == "cpu":
            return time.perf_counter_ns()
        event = torch.cuda.Event(enable_timing=True)
        event.record()
        return event

    def _lengths(self) -> dict[int, float]:
        """Return the microseconds of each step since the last call."""
        steps, self._steps = self._steps, {}
        if self.device == "cpu":
            return {number: (end - begin) / 1000 for number, (begin, end) in steps.items()}
        torch.cuda.synchronize()
        return {number: begin.elapsed_time(end) * 1000 for number, (begin, end) in steps.items()}


def key_averages(profiler: profile, trace: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the rows of key_averages(), the names of each category, and what operators have within.

    key_averages() takes the time of Python frames inside an operator away from it, and the memory of frames
    and annotations. tracewh does not, so these figures are written, too.
    """
    categories: dict[str, set[str]] = {}
    for event in trace:
        if "cat" in event and "name" in event:
            categories.setdefault(event["cat"], set()).add(event["name"])
    frames = categories.get(FRAME, set())

    def is_frame(event: Any) -> bool:
        return bool(getattr(event, "is_python_function", event.name in frames))

    def is_no_operator(event: Any) -> bool:
        return is_frame(event) or bool(getattr(event, "is_user_annotation", False))

    within: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for event in profiler.events():
        if is_frame(event) and (outer := around(event, is_frame)):
            within[outer]["self_ns"] += round(event.self_cpu_time_total * 1000)
        if is_no_operator(event) and (outer := around(event, is_no_operator)):
            within[outer]["self_bytes"] += event.self_cpu_memory_usage
            within[outer]["device_self_bytes"] += event.self_device_memory_usage
    return {
        "categories": {kind: sorted(names) for kind, names in categories.items() if kind != FRAME},
        "within": within,
        "averages": [
            {
                "name": row.key,
                "is_annotation": bool(getattr(row, "is_user_annotation", False)),
                "on_device": row.device_type.name != "CPU",
                "calls": row.count,
                "self_ns": round(row.self_cpu_time_total * 1000),
                "total_ns": round(row.cpu_time_total * 1000),
                "device_self_ns": round(row.self_device_time_total * 1000),
                "device_total_ns": round(row.device_time_total * 1000),
                "self_bytes": row.self_cpu_memory_usage,
                "device_self_bytes": row.self_device_memory_usage,
            }
            for row in profiler.key_averages()
            if row.key not in frames
        ],
    }


def around(event: Any, passed: Callable[[Any], bool]) -> str:
    """Return the name of the nearest event around one that is not passed over, or nothing."""
    outer = event.cpu_parent
    while outer is not None and passed(outer):
        outer = outer.cpu_parent
    return outer.name if outer is not None else ""
