"""Time the answers of `tracewh serve` to many clients at once.

    python -m bench.serve TRACE_OR_FOLDER [...] --clients 50 --output bench/results_serve.md

The clients are threads of another process, each with a connection that it keeps. They ask for pages that somebody
asked for before (the home page, its list of runs, the page of a run and its panels), and for queries over a view
that nobody asked before, each about as long as `--question` says when it runs alone.

A rate is the mean of a Poisson process, of which each client has its own. "Without a pause" means that each client
asks again as soon as it has its answer. Then the answers take as long as the cores need for one question of each
client, however good the server is. What is asked before the measurement starts all processes of the server.
"""

import argparse
import datetime
import itertools
import os
import platform
import random
import re
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import HTTPConnection
from multiprocessing import get_context
from pathlib import Path
from urllib.parse import urlencode, urlsplit

import orjson

import tracewh
from bench.views import TRACEWH, cold

#: Views among which the questions are chosen.
VIEWS = ("gpu_gaps", "module_stats", "operator_calls", "idle_time", "kernel_stats", "launch_stats")
JSON = {"Content-Type": "application/json"}


@contextmanager
def served(warehouse: Path) -> Iterator[str]:
    """Start `tracewh serve` and return its address."""
    with started(warehouse) as (_, address):
        yield address


@contextmanager
def started(warehouse: Path) -> Iterator[tuple[int, str]]:
    """Start `tracewh serve` and return the number of its process, and its address."""
    command = [TRACEWH, "serve", "--port", "0", "-w", str(warehouse)]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as server:
        assert server.stderr is not None
        found = re.match(r"(http://\S+)", server.stderr.readline())
        if found is None:
            raise SystemExit("tracewh serve did not start")
        try:
            yield server.pid, found[1]
        finally:
            server.terminate()


def fetched(url: str) -> tuple[float, bytes]:
    """Return the seconds that a request takes, and its answer."""
    start = time.perf_counter()
    with urllib.request.urlopen(url) as answer:
        body = answer.read()
    return time.perf_counter() - start, body


@dataclass(frozen=True, slots=True)
class Question:
    """One request: its address, and its query if it is one."""

    path: str
    sql: str | None = None


@dataclass(frozen=True, slots=True)
class Stream:
    """What a client asks.

    Attributes:
        questions: The questions to choose from. `{}` in a query becomes a number that was never there.
        pause: Mean seconds from one question to the next; 0 for none.
    """

    questions: tuple[Question, ...]
    pause: float


@dataclass(frozen=True, slots=True)
class Measured:
    """The seconds of each answer by stream, the answers that were errors, and the CPU seconds of the clients."""

    seconds: list[list[float]]
    errors: list[str]
    cpu_seconds: float


class Client(threading.Thread):
    """Asks the questions of a stream until a time."""

    def __init__(self, address: str, stream: Stream, seed: int, until: float) -> None:
        super().__init__(daemon=True)
        place = urlsplit(address)
        self._connection = HTTPConnection(place.hostname or "", place.port, timeout=600)
        self._stream, self._draw, self._until = stream, random.Random(seed), until
        self._numbers = itertools.count(seed * 1_000_000)
        self.seconds: list[float] = []
        self.errors: list[str] = []

    def run(self) -> None:
        """Ask."""
        pause = self._stream.pause
        due = time.perf_counter() + self._draw.random() * pause
        while due < self._until:
            time.sleep(max(0.0, due - time.perf_counter()))
            start = time.perf_counter()
            self._ask(self._draw.choice(self._stream.questions))
            end = time.perf_counter()
            self.seconds.append(end - start)
            # A person reads the answer before the next question.
            due = end + (self._draw.expovariate(1 / pause) if pause else 0)

    def _ask(self, question: Question) -> None:
        if question.sql is None:
            self._connection.request("GET", question.path)
        else:
            sql = question.sql.format(next(self._numbers))
            self._connection.request("POST", question.path, orjson.dumps({"sql": sql}), JSON)
        answer = self._connection.getresponse()
        body = answer.read()
        if answer.status != 200:
            self.errors.append(body[:200].decode(errors="replace"))


def measure(address: str, streams: Sequence[Stream], clients: int, seconds: float) -> Measured:
    """Let each of some clients ask each stream; runs in a process of its own."""
    cpu, until = time.process_time(), time.perf_counter() + seconds
    started = [
        [
            Client(address, stream, 1 + number * len(streams) + at, until)
            for number in range(clients)
        ]
        for at, stream in enumerate(streams)
    ]
    for each in itertools.chain(*started):
        each.start()
    for each in itertools.chain(*started):
        each.join()
    return Measured(
        [[took for each in clients for took in each.seconds] for clients in started],
        [error for each in itertools.chain(*started) for error in each.errors],
        time.process_time() - cpu,
    )


def cpu_seconds(process: int) -> float:
    """Return the CPU seconds of a process and of all processes that it started."""
    total, ticks = 0, os.sysconf("SC_CLK_TCK")
    parents: dict[int, list[tuple[int, int]]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:  # it has ended
                continue
            used = sum(map(int, fields[11:15]))
            parents.setdefault(int(fields[1]), []).append((int(entry.name), used))
            total += used if int(entry.name) == process else 0
    waiting = [process]
    while waiting:
        for child, used in parents.get(waiting.pop(), []):
            total += used
            waiting.append(child)
    return total / ticks


def pages(address: str, run: str) -> tuple[Question, ...]:
    """Ask for all pages once, and return them."""
    asked = urlencode({"run": run})
    _, body = fetched(f"{address}?{asked}")
    panels = dict.fromkeys(re.findall(r'data-panel="([\w-]+)"', body.decode()))
    paths = ["/", "/api/runs", f"/?{asked}", *(f"/api/panel/{id}?{asked}" for id in panels)]
    paths.append(f"/api/timeline/overview?{asked}")
    for path in paths:
        fetched(address + path[1:])
    return tuple(map(Question, paths))


def queries(warehouse: Path, seconds: float) -> tuple[tuple[Question, ...], list[str]]:
    """Return queries that take about as long as given, and a text on each."""
    found, texts = [], []
    with tracewh.open(warehouse) as opened:
        runs = [
            run for (run,) in opened.sql("SELECT DISTINCT run FROM traces ORDER BY run").fetchall()
        ]
        for run, view in itertools.product(runs, VIEWS):
            sql = f"SELECT *, {{}} AS asked FROM {view}(run := '{run}') LIMIT 100"
            took = []
            for number in range(4):
                start = time.process_time()
                rows = len(opened.sql(sql.format(number)).fetchall())
                took.append(time.process_time() - start)
            middle = statistics.median(took[1:])
            if rows and 0.8 * seconds <= middle <= 1.2 * seconds:
                found.append(Question("/api/sql", sql))
                texts.append(f"{view} of {run} ({middle:.3f} s)")
    if not found:
        raise SystemExit(f"no view over these traces takes about {seconds} s")
    return tuple(found), texts


def lines(
    process: int,
    address: str,
    names: Sequence[str],
    streams: Sequence[Stream],
    arguments: argparse.Namespace,
) -> Iterator[str]:
    """Measure some streams at once, and return the lines of the table."""
    before, start = cpu_seconds(process), time.perf_counter()
    with ProcessPoolExecutor(1, get_context("spawn")) as other:
        found = other.submit(
            measure, address, streams, arguments.clients, arguments.seconds
        ).result()
    took = time.perf_counter() - start
    server = cpu_seconds(process) - before
    for name, seconds in zip(names, found.seconds, strict=True):
        if not seconds:
            raise SystemExit(
                f"{name}: no client asked in {arguments.seconds:g} s; give --seconds more"
            )
        seconds.sort()
        line = (
            f"| {name} | {len(seconds) / took:.1f} | {statistics.median(seconds):.3f} "
            f"| {seconds[int(len(seconds) * 0.95)]:.3f} | {seconds[-1]:.3f} | {len(found.errors)} "
            f"| {server / took:.2f} | {found.cpu_seconds / took:.2f} |"
        )
        print(line, file=sys.stderr)
        yield line
    for error in sorted(set(found.errors)):
        print(error, file=sys.stderr)


def main() -> None:
    """Parse the command line, measure and write the table."""
    parser = argparse.ArgumentParser(description="Time tracewh serve for many clients at once.")
    parser.add_argument("traces", type=Path, nargs="+", help="traces, or folders of them")
    parser.add_argument("--clients", type=int, default=50)
    parser.add_argument("--seconds", type=float, default=20, help="of each line (default: 20)")
    parser.add_argument("--question", type=float, default=0.1, help="CPU seconds of a query (0.1)")
    parser.add_argument("--output", type=Path, help="a Markdown file to write (default: stdout)")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as work:
        warehouse = Path(work) / "warehouse"
        cold("ingest", *map(str, arguments.traces), "-w", str(warehouse))
        asked, texts = queries(warehouse, arguments.question)
        with started(warehouse) as (process, address):
            runs = orjson.loads(fetched(f"{address}api/runs")[1])["values"][0]
            read = tuple(itertools.chain(*(pages(address, run) for run in runs)))
            make: Callable[[float], list[Stream]] = lambda pause: [Stream(read, pause)]
            with ProcessPoolExecutor(
                1, get_context("spawn")
            ) as other:  # starts all child processes
                other.submit(measure, address, [Stream(asked, 0)], 8, 5).result()
            table = [
                *lines(process, address, ["pages, one a second"], make(1), arguments),
                *lines(process, address, ["queries, one in 5 s"], [Stream(asked, 5)], arguments),
                *lines(
                    process,
                    address,
                    ["both: pages, one in 2 s", "both: queries, one in 10 s"],
                    [Stream(read, 2), Stream(asked, 10)],
                    arguments,
                ),
                *lines(process, address, ["pages without a pause"], make(0), arguments),
                *lines(
                    process, address, ["queries without a pause"], [Stream(asked, 0)], arguments
                ),
            ]
    machine = f"{os.cpu_count()} cores, {platform.machine()}, Python {platform.python_version()}"
    text = "\n".join(
        [
            f"{datetime.date.today()}; {machine}; {arguments.clients} clients, {arguments.seconds:g} s each line.",
            f"{len(read)} pages and panels of {len(runs)} runs. Queries: {', '.join(texts)}.",
            "",
            "| each client asks for | answers/s | median, s | p95 | largest | errors | server, cores | clients, cores |",
            "|---|---:|---:|---:|---:|---:|---:|---:|",
            *table,
            "",
        ]
    )
    if arguments.output:
        arguments.output.write_text(text)
    else:
        print(text, end="")


if __name__ == "__main__":
    main()
