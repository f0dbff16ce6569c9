"""Measure a process and its children: wall-clock time, CPU time and memory. Linux only."""

import os
import subprocess
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Run:
    """The cost of one process: wall-clock and CPU seconds, and the peak memory of its process tree."""

    seconds: float
    cpu_seconds: float
    peak_bytes: int


def measure(command: list[str]) -> Run:
    """Run a command to its end; a failing one ends the benchmark.

    Memory is the largest resident set of any one process as the kernel counts it or, once there are
    several, the sum of their proportional sets, sampled, whichever is more. Of gigabytes a sample takes
    long, on a core that the processes could use: no more than a fiftieth of the time goes into them.
    """
    with tempfile.TemporaryFile() as errors:
        start = time.perf_counter()
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=errors)
        peak, next_sample = 0, 0.0
        while True:
            done, status, usage = os.wait4(process.pid, os.WNOHANG)
            if done:
                break
            if (began := time.perf_counter()) >= next_sample:
                tree = descendants(process.pid)
                if len(tree) > 1:
                    peak = max(peak, sum(map(proportional_bytes, tree)))
                next_sample = time.perf_counter() + 50 * (time.perf_counter() - began)
            time.sleep(0.005)
        seconds = time.perf_counter() - start
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != 0:
            errors.seek(0)
            said = errors.read().decode(errors="replace").strip().splitlines()[-1:]
            raise SystemExit(f"{command[0]} ended with {process.returncode}: {''.join(said)}")
    cpu_seconds = usage.ru_utime + usage.ru_stime
    return Run(seconds, cpu_seconds, max(peak, usage.ru_maxrss * 1024))


def descendants(pid: int) -> list[int]:
    """Return a process and its descendants that are alive."""
    try:
        threads = list(Path(f"/proc/{pid}/task").iterdir())
        children = [int(c) for t in threads for c in (t / "children").read_text().split()]
    except OSError:
        return []
    return [pid, *(d for child in children for d in descendants(child))]


def proportional_bytes(pid: int) -> int:
    """Return the proportional set size of a process: shared pages are divided among their users."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    return sum(int(line.split()[1]) * 1024 for line in lines if line.startswith("Pss:"))
