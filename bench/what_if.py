"""Time the replays of what_if and what_if_best on a trace that is grown by its own events.

    python -m bench.what_if TRACE.json.gz [TRACE.json.gz ...] --output bench/results_what_if.md

Each trace is measured as it is, and grown to more events by bench/grow.py. Peak memory is that of a process of
its own, which calls the view once.
"""

import argparse
import datetime
import os
import platform
import subprocess
import sys
import tempfile
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from bench.views import RUN, cells, cold, count_events, warm

#: View, its arguments, and how the table calls it.
CALLS: tuple[tuple[str, dict[str, Any], str], ...] = (
    ("what_if", {"change": "device", "factor": 0.5}, "what_if, device x0.5"),
    ("what_if", {"change": "loader"}, "what_if, loader free"),
    ("what_if_best", {"most": 1}, "what_if_best, 1 of each kind"),
    ("what_if_best", {}, "what_if_best, 10 of each kind"),
)
#: Events of grown traces, in thousands.
SIZES = (250, 1000)


def grown(trace: Path, thousands: int, folder: Path, known: int) -> Path:
    """Write a trace with about this many events."""
    target = folder / f"{trace.name.split('.')[0]}-{thousands}k.pt.trace.json"
    size = len(subprocess.run(["gzip", "-dc", str(trace)], capture_output=True, check=True).stdout)
    megabytes = size / 1e6 * thousands * 1000 / known
    script = Path(__file__).parent / "grow.py"
    words = [
        sys.executable,
        str(script),
        str(trace),
        str(target),
        "--megabytes",
        f"{megabytes:.0f}",
    ]
    subprocess.run(words, check=True)
    return target


def section(trace: Path, repeat: int) -> tuple[int, list[str]]:
    """Measure the views on one trace; return its events and the rows of the table."""
    other = ProcessPoolExecutor(1, get_context("spawn"))
    with other, tempfile.TemporaryDirectory() as work:
        warehouse = Path(work) / "wh"
        cold("ingest", str(trace), "--run", RUN, "-w", str(warehouse))
        events = other.submit(count_events, warehouse).result()
        lines = []
        for view, given, title in CALLS:
            rows, warm_runs = other.submit(warm, warehouse, view, given, repeat).result()
            options = [word for name, value in given.items() for word in (f"--{name}", str(value))]
            command = ["show", view, *options, "--limit", "40", "-w", str(warehouse)]
            peak = max(cold(*command).peak_bytes for _ in range(repeat)) / 1e6
            lines.append(f"| {events:,} | {title} | {rows:,} | {cells(warm_runs)} | {peak:,.0f} |")
            print(lines[-1], file=sys.stderr)
    return events, lines


def main() -> None:
    """Parse the command line, measure and write the tables."""
    parser = argparse.ArgumentParser(description="Time the replays of traces.")
    parser.add_argument("traces", type=Path, nargs="+", help="compressed traces")
    parser.add_argument("--repeat", type=int, default=3, help="calls of each (default: 3)")
    parser.add_argument("--output", type=Path, help="a Markdown file to write (default: stdout)")
    arguments = parser.parse_args()
    machine = f"{os.cpu_count()} cores, {platform.machine()}, Python {platform.python_version()}"
    parts = [f"{datetime.date.today()}; {machine}; {arguments.repeat} calls of each."]
    for trace in arguments.traces:
        lines = [
            f"## {trace.parent.name}\n",
            "| events | call | rows | warm s, least | median | CPU s | peak MB |",
            "|---:|---|---:|---:|---:|---:|---:|",
        ]
        events, rows = section(trace, arguments.repeat)
        lines += rows
        for thousands in SIZES:
            with tempfile.TemporaryDirectory() as folder:
                _, rows = section(grown(trace, thousands, Path(folder), events), arguments.repeat)
            lines += rows
        parts.append("\n".join(lines))
    text = "\n\n".join(parts) + "\n"
    if arguments.output:
        arguments.output.write_text(text)
    else:
        print(text, end="")


if __name__ == "__main__":
    main()
