"""Time the home page of `tracewh serve`: its list of runs, its polls and its figures.

    python -m bench.home TRACE.json.gz --runs 400 --output bench/results_home.md

The warehouse has many runs of one trace each, and each is the same trace. The list is what the page asks for first,
in a server that has answered nothing before. A poll is asked every five seconds by each page that is open; its
answer opens no file if no trace changed. Under load, as many pages as `--pages` says are opened at a time, each
of which asks for the list, all figures and ten polls, while a query runs that never ends.
"""

import argparse
import datetime
import os
import platform
import statistics
import sys
import tempfile
import threading
import time
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from urllib.parse import urlencode

import orjson

from bench.serve import fetched, served
from bench.views import RUN, cold, count_events

ENDLESS = "SELECT sum(hash(a.range * b.range)) FROM range(10000000) a, range(10000000) b"
#: Traces whose figures the page asks for at a time, as in home.js.
BATCH = 16
POLLS = 10


def multiply(warehouse: Path, runs: int) -> None:
    """Give a warehouse with one run more of them, with links to the same files."""
    first = warehouse / "data" / f"run={RUN}"
    for number in range(1, runs):
        for path in first.rglob("*"):
            copy = warehouse / "data" / f"run={RUN}_{number}" / path.relative_to(first)
            if path.is_file():
                copy.parent.mkdir(parents=True, exist_ok=True)
                os.link(path, copy)


def visit(address: str) -> Iterator[tuple[str, float]]:
    """Open the home page as a browser does, and yield each request with its seconds."""
    took, _ = fetched(address)
    yield "page", took
    took, body = fetched(f"{address}api/runs?known=")
    yield "list", took
    found = orjson.loads(body)
    names = found["values"][0]
    for first in range(0, len(names), BATCH):
        asked = urlencode([("run", name) for name in names[first : first + BATCH]])
        took, _ = fetched(f"{address}api/figures?{asked}")
        yield "figures", took
    for _ in range(POLLS):
        took, _ = fetched(f"{address}api/runs?{urlencode({'known': found['state']})}")
        yield "poll", took


def endless(address: str) -> None:
    """Ask for what never comes; the server ends it."""
    request = urllib.request.Request(
        f"{address}api/sql",
        orjson.dumps({"sql": ENDLESS}),
        {"Content-Type": "application/json"},
    )
    with suppress(OSError):
        urllib.request.urlopen(request).read()


def rows(name: str, requests: list[tuple[str, float]]) -> list[str]:
    """Return the lines of the table for some requests."""
    lines = []
    for kind in ("page", "list", "figures", "poll"):
        seconds = sorted(took for each, took in requests if each == kind)
        p95 = seconds[int(len(seconds) * 0.95)]
        lines.append(
            f"| {name} | {kind} | {len(seconds):,} | {statistics.median(seconds):.3f} "
            f"| {p95:.3f} | {seconds[-1]:.3f} |"
        )
        print(lines[-1], file=sys.stderr)
    return lines


def main() -> None:
    """Parse the command line, measure and write the table."""
    parser = argparse.ArgumentParser(description="Time the home page of tracewh serve.")
    parser.add_argument("trace", type=Path, help="a trace, .json.gz or .json")
    parser.add_argument("--runs", type=int, default=400)
    parser.add_argument("--pages", type=int, default=50, help="pages open at a time (default: 50)")
    parser.add_argument("--output", type=Path, help="a Markdown file to write (default: stdout)")
    arguments = parser.parse_args()
    lines = []
    with tempfile.TemporaryDirectory() as work:
        warehouse = Path(work) / "warehouse"
        cold("ingest", str(arguments.trace), "--run", RUN, "-w", str(warehouse))
        events = count_events(warehouse)
        multiply(warehouse, arguments.runs)
        with served(warehouse) as address:
            lines += rows("one page, cold", list(visit(address)))
            lines += rows("one page, warm", list(visit(address)))
            threading.Thread(target=endless, args=[address], daemon=True).start()
            start = time.perf_counter()
            with ThreadPoolExecutor(arguments.pages) as pages:
                opened = pages.map(lambda _: list(visit(address)), range(arguments.pages))
                requests = [request for page in opened for request in page]
            took = time.perf_counter() - start
            lines += rows(f"{arguments.pages} pages beside a query", requests)
    machine = f"{os.cpu_count()} cores, {platform.machine()}, Python {platform.python_version()}"
    text = "\n".join(
        [
            f"{datetime.date.today()}; {machine}; {arguments.runs} runs of {events:,} events.",
            f"All requests of {arguments.pages} pages took {took:.1f} s.",
            "",
            "| pages | request | number | median, s | p95 | largest |",
            "|---|---|---:|---:|---:|---:|",
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
