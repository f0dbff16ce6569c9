"""Time `tracewh show` while `tracewh ingest` writes to the same warehouse.

    python -m bench.beside_ingest TRACE.json.gz --output bench/results_beside_ingest.md

Each view runs as a process of its own, in turn: with nothing beside it, beside as many processes that only count as
the ingest has jobs, and beside the ingest of a job of many ranks, which bench/draw.py draws. A view that waits for the
ingest, or that lists its files again and again, takes longer beside the ingest than beside the processes that count.
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
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path

from bench.views import RUN, TRACEWH, Run, cold

VIEWS = ("operator_stats", "gpu_gaps", "runs")
JOBS = 2
#: Beside the first of them nothing runs.
BESIDE = ("nothing", f"{JOBS} processes that count", f"ingest --jobs {JOBS}")


@contextmanager
def running(*commands: list[str]) -> Iterator[list[subprocess.Popen[bytes]]]:
    """Run commands until the context ends."""
    null = subprocess.DEVNULL
    processes = [subprocess.Popen(each, stdout=null, stderr=null) for each in commands]
    try:
        yield processes
        if any(each.poll() is not None for each in processes):
            raise SystemExit("the ingest ended before the views; draw more --ranks")
    finally:
        for process in processes:
            process.terminate()
            process.wait()


def shown(view: str, warehouse: Path) -> Run:
    """Show a view of the run that was there before."""
    which = [] if view == "runs" else ["--run", RUN]
    return cold("show", view, *which, "--limit", "40", "-w", str(warehouse))


def measure(view: str, warehouse: Path, logs: Path, repeat: int) -> Iterator[str]:
    """Measure a view, and return the lines of the table."""
    count = [sys.executable, "-c", "while True: pass"]
    ingest = [TRACEWH, "ingest", str(logs), "--jobs", str(JOBS), "--force", "-w", str(warehouse)]
    beside: tuple[Callable[[], AbstractContextManager[object]], ...] = (
        nullcontext,
        lambda: running(*[count] * JOBS),
        lambda: running(ingest),
    )
    runs: list[list[Run]] = [[] for _ in beside]
    for _ in range(repeat):
        for number, others in enumerate(beside):
            with others():
                shown(view, warehouse)  # so that the other processes are beyond their start
                for _ in range(3):
                    runs[number].append(shown(view, warehouse))
    alone = statistics.median(run.seconds for run in runs[0])
    for name, each in zip(BESIDE, runs, strict=True):
        seconds = statistics.median(run.seconds for run in each)
        cpu = statistics.median(run.cpu_seconds for run in each)
        line = f"| {view} | {name} | {seconds:.2f} | {seconds / alone:.2f} | {cpu:.2f} |"
        print(line, file=sys.stderr)
        yield line


def main() -> None:
    """Parse the command line, measure and write the table."""
    parser = argparse.ArgumentParser(description="Time tracewh show beside an ingest.")
    parser.add_argument("trace", type=Path, help="a trace, .json.gz or .json")
    parser.add_argument("--ranks", type=int, default=1024, help="of the job (default: 1024)")
    parser.add_argument("--repeat", type=int, default=3, help="times three (default: 3)")
    parser.add_argument("--output", type=Path, help="a Markdown file to write (default: stdout)")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as work:
        logs, warehouse = Path(work) / "job", Path(work) / "warehouse"
        draw = [sys.executable, str(Path(__file__).with_name("draw.py")), str(logs)]
        subprocess.run([*draw, "--ranks", str(arguments.ranks)], check=True)
        cold("ingest", str(arguments.trace), "--run", RUN, "-w", str(warehouse))
        cold(
            "ingest", str(logs), "-w", str(warehouse)
        )  # the ingest replaces them, so all runs see the same number
        lines = [
            line for view in VIEWS for line in measure(view, warehouse, logs, arguments.repeat)
        ]
        shutil.rmtree(warehouse)
    machine = f"{os.cpu_count()} cores, {platform.machine()}, Python {platform.python_version()}"
    number = f"medians of {3 * arguments.repeat} processes"
    text = "\n".join(
        [
            f"{datetime.date.today()}; {machine}; {number}; the ingest replaces {arguments.ranks} traces.",
            "",
            "| view | beside | seconds | times as long | CPU seconds |",
            "|---|---|---:|---:|---:|",
            *lines,
            "",
        ]
    )
    if arguments.output:
        arguments.output.write_text(text)
    else:
        print(text, end="")


if __name__ == "__main__":
    main()
