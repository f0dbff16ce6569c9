"""Compare local ingest with ingest on Spark, to measure the overhead of the cluster.

    python bench/spark.py job_of_64/ job_of_512/ TRACE.json.gz --output bench/results_spark.md

Each source, a trace or a folder of them, is ingested by `tracewh ingest`, with its default of one trace
per core at a time, and by `tracewh ingest --engine spark` on a standalone cluster: a master and two
workers of a core each, started before the clock. All are processes of this machine, so both have the
same cores, and the difference is what Spark takes. The command's time is from start to exit, with the
session that it starts; processor time is that of the command and of all processes of the cluster.
Sources take turns, so that a slow minute of the machine hits all of them. Linux only.
"""

import argparse
import datetime
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import pyspark
from measure import descendants, measure

import tracewh

TRACEWH = str(Path(sys.executable).with_name("tracewh"))
WORKERS = 2
TICK = os.sysconf("SC_CLK_TCK")


@dataclass(slots=True)
class Cluster:
    """A master and workers: the URL of the master, and the processes."""

    url: str
    pids: list[int]


@contextmanager
def server(
    folder: Path, name: str, kind: str, ready: str, *words: str
) -> Iterator[tuple[int, str]]:
    """Start one of Spark's servers; return its process and the line that reports that it is ready."""
    log = folder / f"{name}.log"
    program = str(Path(pyspark.__file__).parent / "bin/spark-class")
    loopback = ("--host", "127.0.0.1", "--port", "0", "--webui-port", "0")
    with log.open("wb") as out:
        process = subprocess.Popen(
            [program, f"org.apache.spark.deploy.{kind}", *loopback, *words], stdout=out, stderr=out
        )
    try:
        while not (said := [line for line in log.read_text().splitlines() if ready in line]):
            if process.poll() is not None:
                raise SystemExit(f"{name} ended: {log.read_text()[-500:]}")
            time.sleep(0.1)
        yield process.pid, said[0]
    finally:
        process.terminate()
        process.wait()


@contextmanager
def cluster(folder: Path) -> Iterator[Cluster]:
    """Start a master, and workers with one core each."""
    os.environ |= {
        "PYSPARK_PYTHON": sys.executable,
        "SPARK_LOCAL_IP": "127.0.0.1",
        "SPARK_LOCAL_DIRS": str(folder),
    }
    with ExitStack() as stack:
        started = server(folder, "master", "master.Master", "Starting Spark master at ")
        pid, said = stack.enter_context(started)
        found = Cluster(said.split()[-1], [pid])
        for number in range(WORKERS):
            words = ("--cores", "1", "--memory", "2g", "--work-dir", str(folder / str(number)))
            ready = "Successfully registered with master"
            started = server(folder, f"worker{number}", "worker.Worker", ready, *words, found.url)
            found.pids.append(stack.enter_context(started)[0])
        yield found


class Watch:
    """Samples the processes of a cluster while a command runs.

    Attributes:
        python_bytes: The largest resident set of a process that runs tasks.
        cpu_seconds: What all of them took, but for their last moments.
    """

    def __init__(self, pids: list[int]) -> None:
        self.python_bytes = 0
        self._pids, self._done = pids, threading.Event()
        self._before, self._after = dict[int, float](), dict[int, float]()
        self._thread = threading.Thread(target=self._look)

    def __enter__(self) -> Self:
        self._before = {pid: cpu(pid) for pid in self._tree()}
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._done.set()
        self._thread.join()

    @property
    def cpu_seconds(self) -> float:
        """As above."""
        return sum(took - self._before.get(pid, 0) for pid, took in self._after.items())

    def _tree(self) -> list[int]:
        return [pid for root in self._pids for pid in descendants(root)]

    def _look(self) -> None:
        while not self._done.wait(0.05):
            for pid in self._tree():
                self._after[pid] = max(cpu(pid), self._after.get(pid, 0))
                self.python_bytes = max(self.python_bytes, python_bytes(pid))


def cpu(pid: int) -> float:
    """Return the CPU seconds of a process, or 0 if it has ended."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0
    return (int(fields[11]) + int(fields[12])) / TICK


def python_bytes(pid: int) -> int:
    """Return the resident set size of a Python process, or 0 for other processes."""
    try:
        if b"pyspark.daemon" not in Path(f"/proc/{pid}/cmdline").read_bytes():
            return 0
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return 0
    return sum(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmRSS:"))


def main() -> None:
    """Parse the command line, measure and write the table."""
    parser = argparse.ArgumentParser(description="Compare ingest here with ingest on Spark.")
    parser.add_argument("sources", type=Path, nargs="+", help="traces, or folders of them")
    parser.add_argument("--repeat", type=int, default=1, help="runs of each (default: 1)")
    parser.add_argument("--output", type=Path, help="a Markdown file to write (default: stdout)")
    arguments = parser.parse_args()
    machine = f"{os.cpu_count()} cores, {platform.machine()}, Python {platform.python_version()}"
    found: dict[tuple[Path, str], tuple[float, float, int, int]] = {}
    with tempfile.TemporaryDirectory() as work, cluster(Path(work)) as there:
        for _ in range(arguments.repeat):
            for source in arguments.sources:
                for engine in ("here", "Spark"):
                    warehouse = Path(work, "warehouse")
                    shutil.rmtree(warehouse, ignore_errors=True)
                    command = [TRACEWH, "ingest", str(source), "-w", str(warehouse)]
                    if engine == "Spark":
                        command += ["--engine", "spark", "--master", there.url]
                    with Watch(there.pids) as watch:
                        run = measure(command)
                    with tracewh.open(warehouse) as opened:
                        traces = len(opened.sql("SELECT t.run FROM traces AS t").fetchall())
                    took = (
                        run.seconds,
                        run.cpu_seconds + watch.cpu_seconds,
                        watch.python_bytes if engine == "Spark" else run.peak_bytes,
                        traces,
                    )
                    print(f"{source.name} {engine}: {run.seconds:.1f} s", file=sys.stderr)
                    found[source, engine] = min(took, found.get((source, engine), took))
    versions = f"{machine}; PySpark {pyspark.__version__}"
    table = [
        f"{datetime.date.today()}; {versions}; least of {arguments.repeat}.",
        "",
        "| source | traces | engine | seconds | CPU s | CPU s per trace | peak MiB |",
        "|---|---:|---|---:|---:|---:|---:|",
    ]
    table += [
        f"| {source.name} | {traces:,} | {engine} | {seconds:.1f} | {cpu_seconds:.1f} "
        f"| {cpu_seconds / traces:.2f} | {peak / 2**20:,.0f} |"
        for (source, engine), (seconds, cpu_seconds, peak, traces) in found.items()
    ]
    text = "\n".join(table) + "\n"
    if arguments.output:
        arguments.output.write_text(text)
    else:
        print(text, end="")


if __name__ == "__main__":
    main()
