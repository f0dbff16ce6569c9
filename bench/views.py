"""Time every view over a trace, cold and warm, and three of them over many workers.

    python bench/views.py TRACE.json.gz [TRACE.json.gz ...] --output bench/results_views.md
    python bench/views.py --ranks warehouse_of_4096/ --output bench/results_ranks.md

Every view runs with its default parameters; a view that compares two runs compares the run with itself.

    cold    the whole process `tracewh show VIEW --limit 40`, from start to exit: a terminal's screenful
    warm    one more call in a process that has run the same call before, fetched whole as Python rows

The many workers are one trace under many names: its folder, linked 64 times. So the files are in the
page cache after the first, and every worker has the same steps; the work of the query is that of 64
different traces. With --ranks they are the traces of a warehouse, each of its own, or of a folder that
is ingested first, which bench/draw.py draws; they are asked as they are, and once more after `tracewh
compact`.
"""

import argparse
import datetime
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from concurrent.futures import Executor, ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import tracewh
from tracewh.views.registry import installed

#: What is asked of many workers: an aggregation, and two that look at intervals.
ACROSS = ("kernel_stats", "step_breakdown", "comm_overlap")
REGISTRY = installed()
RUN = "run"
#: What trend is asked for.
FIGURE = "step_us"
TRACEWH = str(Path(sys.executable).with_name("tracewh"))


@dataclass(frozen=True, slots=True)
class Run:
    """The cost of one call; a warm call has no peak memory of its own."""

    seconds: float
    cpu_seconds: float
    peak_bytes: int = 0


def cold(*command: str) -> Run:
    """Run tracewh; a failure ends the benchmark."""
    start = time.perf_counter()
    null = subprocess.DEVNULL
    process = subprocess.Popen([TRACEWH, *command], stdout=null, stderr=null)
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - start
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise SystemExit(f"tracewh {' '.join(command)} ended with {process.returncode}")
    return Run(seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024)


def warm(warehouse: Path, name: str, needed: dict[str, Any], repeat: int) -> tuple[int, list[Run]]:
    """Run a view once, then a number of times in the same process; also return its number of rows."""
    runs = []
    with tracewh.open(warehouse) as opened:
        rows = len(opened.view(name, **needed).fetchall())
        for _ in range(repeat):
            start, cpu_start = time.perf_counter(), time.process_time()
            opened.view(name, **needed).fetchall()
            runs.append(Run(time.perf_counter() - start, time.process_time() - cpu_start))
    return rows, runs


def count_events(warehouse: Path) -> int:
    """Count the events of all traces."""
    with tracewh.open(warehouse) as opened:
        return int(opened.sql("SELECT sum(t.events) FROM traces AS t").fetchall()[0][0])


def cells(runs: list[Run]) -> str:
    """Return the minimum and median seconds, and the minimum CPU seconds."""
    seconds = [run.seconds for run in runs]
    cpu = min(run.cpu_seconds for run in runs)
    return f"{min(seconds):.3f} | {statistics.median(seconds):.3f} | {cpu:.2f}"


def measure(other: Executor, warehouse: Path, names: list[str], repeat: int) -> str:
    """Run views, warm calls in another process, and return the table of their cost."""
    table = [
        "| view | rows | warm s, least | median | CPU s | cold s, least | median | CPU s | peak MB |",
        "|---|---:|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for name in names:
        needed = {
            param.name: FIGURE if param.name == "figure" else RUN
            for param in REGISTRY.get(name).params
            if param.required
        }
        rows, warm_runs = other.submit(warm, warehouse, name, needed, repeat).result()
        options = [word for key, value in needed.items() for word in (f"--{key}", value)]
        command = ["show", name, *options, "--limit", "40", "-w", str(warehouse)]
        cold_runs = [cold(*command) for _ in range(repeat)]
        peak = max(run.peak_bytes for run in cold_runs) / 1e6
        table.append(
            f"| {name} | {rows:,} | {cells(warm_runs)} | {cells(cold_runs)} | {peak:,.0f} |"
        )
        print(table[-1], file=sys.stderr)
    return "\n".join(table)


def multiply(warehouse: Path, target: Path, workers: int) -> None:
    """Create a warehouse that has the only trace of another under the names of many workers."""
    (trace,) = warehouse.glob("data/run=*/worker=*/span=*")
    run = target / "data" / trace.parts[-3]
    for number in range(workers):
        folder = run / f"worker=rank{number}" / trace.name
        folder.mkdir(parents=True)
        for file in trace.iterdir():
            os.link(file, folder / file.name)


def section(trace: Path, views: list[str], workers: int, repeat: int) -> list[str]:
    """Measure one trace and return its part of the results."""
    # What this process holds would count as the peak of every cold call that it starts.
    other = ProcessPoolExecutor(1, get_context("spawn"))
    with other, tempfile.TemporaryDirectory() as work:
        warehouse, many = Path(work) / "one", Path(work) / "many"
        cold("ingest", str(trace), "--run", RUN, "-w", str(warehouse))
        events = other.submit(count_events, warehouse).result()
        parts = [f"## {trace.name}: {events:,} events", measure(other, warehouse, views, repeat)]
        if workers:
            multiply(warehouse, many, workers)
            title = f"### {workers} workers, each with this trace"
            parts += [title, measure(other, many, list(ACROSS), repeat)]
    return parts


def ranks(folder: Path, repeat: int) -> list[str]:
    """Measure a warehouse or a folder of ranks, and return its part of the results."""
    other = ProcessPoolExecutor(1, get_context("spawn"))
    with other, tempfile.TemporaryDirectory(dir=folder.parent) as work:
        warehouse = Path(work)
        if (folder / "data").is_dir():
            shutil.copytree(folder / "data", warehouse / "data", copy_function=os.link)
        else:
            cold("ingest", str(folder), "-w", str(warehouse))
        workers = sum(1 for _ in warehouse.glob("data/*/*/*/traces.parquet"))
        events = other.submit(count_events, warehouse).result()
        title = f"## {workers:,} workers, each with a trace of its own: {events:,} events"
        parts = [title, measure(other, warehouse, list(ACROSS), repeat)]
        runs = [path.name.removeprefix("run=") for path in (warehouse / "data").iterdir()]
        took = sum(cold("compact", run, "-w", str(warehouse)).seconds for run in runs)
        parts.append(f"### The same after `tracewh compact`, which took {took:.0f} s")
        return [*parts, measure(other, warehouse, list(ACROSS), repeat)]


def main() -> None:
    """Parse the command line, measure and write the tables."""
    parser = argparse.ArgumentParser(description="Time every view, cold and warm.")
    parser.add_argument("traces", type=Path, nargs="*", help="traces, .json.gz or .json")
    parser.add_argument(
        "--ranks", type=Path, action="append", default=[], help="a warehouse, or a folder of traces"
    )
    parser.add_argument("--repeat", type=int, default=5, help="calls of each (default: 5)")
    parser.add_argument("--workers", type=int, default=64, help="0 for none (default: 64)")
    parser.add_argument("--view", action="append", help="only this one; may be given again")
    parser.add_argument("--output", type=Path, help="a Markdown file to write (default: stdout)")
    arguments = parser.parse_args()
    floor = [cold("--version") for _ in range(arguments.repeat)]
    machine = f"{os.cpu_count()} cores, {platform.machine()}, Python {platform.python_version()}"
    least = min(run.seconds for run in floor)
    parts = [
        f"{datetime.date.today()}; {machine}; {arguments.repeat} calls of each.",
        f"The floor of a cold call: `tracewh --version` takes {least:.2f} s.",
    ]
    for trace in arguments.traces:
        views = arguments.view or [view.name for view in REGISTRY.newest()]
        parts += section(trace, views, arguments.workers, arguments.repeat)
    for folder in arguments.ranks:
        parts += ranks(folder, arguments.repeat)
    text = "\n\n".join(parts) + "\n"
    if arguments.output:
        arguments.output.write_text(text)
    else:
        print(text, end="")


if __name__ == "__main__":
    main()
