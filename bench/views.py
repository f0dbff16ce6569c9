"""Time every view over traces, cold and warm, and over many workers.

    python bench/views.py TRACE.json.gz [TRACE.json.gz ...] --output bench/results_views.md
    python bench/views.py --ranks warehouse_of_4096/ --output bench/results_ranks.md

Every view runs with its default parameters; a view that compares two runs compares the run with itself.
Each is called once on every trace, and then measured on the trace where that took the most CPU time. Traces
for which it has no rows do not count, and views without rows everywhere are listed.

    cold    the whole process `tracewh show VIEW --limit 40`, from start to exit: a terminal's screenful
    warm    one more call in a process that has run the same call before, fetched whole as Arrow

Notebooks, pages and exports read rows as Arrow. Python values of 465,885 rows of operator_calls take 0.6 s more,
which no view can save.

The many workers are one trace under many names: its folder, linked 64 times. So the files are in the
page cache after the first, and every worker has the same steps; the work of the query is that of 64
different traces. Each view is called once, cold, with a limit of CPU time and memory. With --ranks they are the traces
of a warehouse, each of its own, or of a folder that is ingested first, which bench/draw.py draws; they are asked
as they are, and once more after `tracewh compact`.
"""

import argparse
import datetime
import math
import os
import platform
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable
from concurrent.futures import Executor, ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import tracewh
from tracewh.views.registry import installed

#: What is asked of thousands of ranks: an aggregation, and two that look at intervals.
ACROSS = ("kernel_stats", "step_breakdown", "comm_overlap")
REGISTRY = installed()
RUN = "run"
#: What trend is asked for.
FIGURE = "step_us"
TRACEWH = str(Path(sys.executable).with_name("tracewh"))


@dataclass(frozen=True, slots=True)
class Goal:
    """What a view may take: seconds of a cold and of a warm call, and memory."""

    cold: float = math.inf
    bytes: float = math.inf
    warm: float = math.inf


#: For a trace of a million events, and for 64 workers with such a trace each.
ONE = Goal(0.7, 1 << 30, warm=0.3)
MANY = Goal(5, 4 << 30)
NONE = Goal()
#: A call over many workers fails where it takes more. It is memory of addresses, of which DuckDB uses a part.
LIMIT_BYTES = 10 << 30


@dataclass(frozen=True, slots=True)
class Run:
    """The cost of one call; a warm call has no peak memory of its own."""

    seconds: float
    cpu_seconds: float
    peak_bytes: int = 0


def cold(*command: str, limit: int | None = None) -> Run:
    """Run tracewh; a failure ends the benchmark.

    Args:
        *command: The arguments of tracewh.
        limit: CPU seconds after which it is stopped. It may then also fail for lack of memory. In both cases
            its time is infinite.
    """
    start = time.perf_counter()
    null = subprocess.DEVNULL
    process = subprocess.Popen([TRACEWH, *command], stdout=null, stderr=null)
    if limit is not None:
        resource.prlimit(process.pid, resource.RLIMIT_CPU, (limit, limit))
        resource.prlimit(process.pid, resource.RLIMIT_AS, (LIMIT_BYTES, LIMIT_BYTES))
    _, status, usage = os.wait4(process.pid, 0)
    seconds, cpu_seconds = time.perf_counter() - start, usage.ru_utime + usage.ru_stime
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        if limit is None:
            raise SystemExit(f"tracewh {' '.join(command)} ended with {process.returncode}")
        seconds = cpu_seconds = math.inf
    return Run(seconds, cpu_seconds, usage.ru_maxrss * 1024)


def warm(warehouse: Path, name: str, needed: dict[str, Any], repeat: int) -> tuple[int, list[Run]]:
    """Run a view once, then a number of times in the same process; also return its number of rows."""
    runs = []
    with tracewh.open(warehouse) as opened:
        rows = opened.view(name, **needed).to_arrow_table().num_rows
        for _ in range(repeat):
            start, cpu_start = time.perf_counter(), time.process_time()
            opened.view(name, **needed).to_arrow_table()
            runs.append(Run(time.perf_counter() - start, time.process_time() - cpu_start))
    return rows, runs


def first(warehouse: Path, name: str, needed: dict[str, Any]) -> tuple[int, Run]:
    """Run a view once and return its number of rows and its cost."""
    with tracewh.open(warehouse) as opened:
        start, cpu_start = time.perf_counter(), time.process_time()
        rows = opened.view(name, **needed).to_arrow_table().num_rows
        return rows, Run(time.perf_counter() - start, time.process_time() - cpu_start)


def count_events(warehouse: Path) -> int:
    """Count the events of all traces."""
    with tracewh.open(warehouse) as opened:
        return int(opened.sql("SELECT sum(t.events) FROM traces AS t").fetchall()[0][0])


def cells(runs: list[Run]) -> str:
    """Return the minimum and median seconds, and the minimum CPU seconds."""
    seconds = [run.seconds for run in runs]
    cpu = min(run.cpu_seconds for run in runs)
    return f"{min(seconds):.3f} | {statistics.median(seconds):.3f} | {cpu:.2f}"


def needed_by(name: str) -> dict[str, Any]:
    """Return the arguments that a view cannot do without."""
    params = REGISTRY.get(name).params
    return {p.name: FIGURE if p.name == "figure" else RUN for p in params if p.required}


def show(name: str, warehouse: Path, limit: int | None = None) -> Run:
    """Run a view in a process of its own."""
    options = [word for key, value in needed_by(name).items() for word in (f"--{key}", value)]
    return cold("show", name, *options, "--limit", "40", "-w", str(warehouse), limit=limit)


def measure(
    other: Executor, warehouses: dict[str, Path], names: list[str], repeat: int, goal: Goal = NONE
) -> str:
    """Run views, warm calls in another process, and return the table of their cost.

    Args:
        other: The other process.
        warehouses: Where to run each view.
        names: The views.
        repeat: Calls of each.
        goal: The last column names what is above it.
    """
    table = [
        "| view | rows | warm s, least | median | CPU s | cold s, least | median | CPU s | peak MB | trace | over |",
        "|---|---:|---:|---:|---:|---:|---:|---:|---:|---|---|",
    ]
    for name in names:
        warehouse = warehouses[name]
        rows, warm_runs = other.submit(warm, warehouse, name, needed_by(name), repeat).result()
        cold_runs = [show(name, warehouse) for _ in range(repeat)]
        table.append(
            f"| {name} | {rows:,} | {cells(warm_runs)} | {cells(cold_runs)} |"
            f" {peak(cold_runs) / 1e6:,.0f} | {warehouse.name} | {over(goal, cold_runs, warm_runs)} |"
        )
        print(table[-1], file=sys.stderr)
    return "\n".join(table)


def measure_once(warehouses: dict[str, Path], names: list[str], goal: Goal, limit: int) -> str:
    """Run views once each, cold and with a limit of CPU seconds, and return the table of their cost."""
    table = ["| view | cold s | CPU s | peak MB | trace | over |", "|---|---:|---:|---:|---|---|"]
    for name in names:
        run = show(name, warehouses[name], limit)
        ended = run.seconds < math.inf
        seconds = f"{run.seconds:.2f} | {run.cpu_seconds:.2f}" if ended else "- | stopped"
        table.append(
            f"| {name} | {seconds} | {run.peak_bytes / 1e6:,.0f} |"
            f" {warehouses[name].name} | {over(goal, [run])} |"
        )
        print(table[-1], file=sys.stderr)
    return "\n".join(table)


def peak(runs: list[Run]) -> int:
    """Return the peak memory of the largest of several processes."""
    return max(run.peak_bytes for run in runs)


def best(runs: Iterable[Run]) -> float:
    """Return the least of the seconds and CPU seconds: on a busy machine a call waits for a core."""
    return min((min(run.seconds, run.cpu_seconds) for run in runs), default=0)


def over(goal: Goal, cold_runs: list[Run], warm_runs: Iterable[Run] = ()) -> str:
    """Name what is over the goal."""
    found = {
        "warm": best(warm_runs) > goal.warm,
        "cold": best(cold_runs) > goal.cold,
        "memory": peak(cold_runs) > goal.bytes,
    }
    return ", ".join(name for name, is_over in found.items() if is_over)


def dearest(
    other: Executor, warehouses: list[Path], names: list[str]
) -> tuple[dict[str, Path], list[str]]:
    """Find the warehouse where a view takes the most CPU time, and the views without rows in all of them."""
    found: dict[str, Path] = {}
    for name in names:
        calls = [
            (*other.submit(first, warehouse, name, needed_by(name)).result(), warehouse)
            for warehouse in warehouses
        ]
        with_rows = [(run.cpu_seconds, warehouse) for rows, run, warehouse in calls if rows]
        if with_rows:
            found[name] = max(with_rows)[1]
    return found, [name for name in names if name not in found]


def multiply(warehouse: Path, target: Path, workers: int) -> None:
    """Create a warehouse that has the only trace of another under the names of many workers."""
    (trace,) = warehouse.glob("data/run=*/worker=*/span=*")
    run = target / "data" / trace.parts[-3]
    for number in range(workers):
        folder = run / f"worker=rank{number}" / trace.name
        folder.mkdir(parents=True)
        for file in trace.iterdir():
            os.link(file, folder / file.name)


def section(
    traces: list[Path], views: list[str], workers: int, repeat: int, limit: int
) -> list[str]:
    """Measure views over traces and return this part of the results."""
    # What this process holds would count as the peak of every cold call that it starts.
    other = ProcessPoolExecutor(1, get_context("spawn"))
    with other, tempfile.TemporaryDirectory() as work:
        one, many = Path(work) / "one", Path(work) / "many"
        parts = ["## One worker"]
        for trace in traces:
            warehouse = one / trace.name.partition(".")[0]
            cold("ingest", str(trace), "--run", RUN, "-w", str(warehouse))
            events = other.submit(count_events, warehouse).result()
            parts.append(f"- {warehouse.name}: {events:,} events")
        warehouses, empty = dearest(other, sorted(one.iterdir()), views)
        measured = [name for name in views if name in warehouses]
        parts.append(measure(other, warehouses, measured, repeat, ONE))
        if empty:
            parts.append(f"No rows for these traces: {', '.join(empty)}.")
        if workers:
            for warehouse in one.iterdir():
                multiply(warehouse, many / warehouse.name, workers)
            parts.append(f"## {workers} workers, each with the same trace")
            linked = {name: many / warehouse.name for name, warehouse in warehouses.items()}
            parts.append(measure_once(linked, measured, MANY, limit))
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
        warehouses = dict.fromkeys(ACROSS, warehouse)
        parts = [title, measure(other, warehouses, list(ACROSS), repeat)]
        runs = [path.name.removeprefix("run=") for path in (warehouse / "data").iterdir()]
        took = sum(cold("compact", run, "-w", str(warehouse)).seconds for run in runs)
        parts.append(f"### The same after `tracewh compact`, which took {took:.0f} s")
        return [*parts, measure(other, warehouses, list(ACROSS), repeat)]


def main() -> None:
    """Parse the command line, measure and write the tables."""
    parser = argparse.ArgumentParser(description="Time every view, cold and warm.")
    parser.add_argument("traces", type=Path, nargs="*", help="traces, .json.gz or .json")
    parser.add_argument(
        "--ranks", type=Path, action="append", default=[], help="a warehouse, or a folder of traces"
    )
    parser.add_argument("--repeat", type=int, default=5, help="calls of each (default: 5)")
    parser.add_argument("--workers", type=int, default=64, help="0 for none (default: 64)")
    parser.add_argument(
        "--limit",
        type=int,
        default=60,
        help="CPU seconds of a call over many workers (default: 60)",
    )
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
    if arguments.traces:
        views = arguments.view or [view.name for view in REGISTRY.newest()]
        parts += section(
            arguments.traces, views, arguments.workers, arguments.repeat, arguments.limit
        )
    for folder in arguments.ranks:
        parts += ranks(folder, arguments.repeat)
    text = "\n\n".join(parts) + "\n"
    if arguments.output:
        arguments.output.write_text(text)
    else:
        print(text, end="")


if __name__ == "__main__":
    main()
