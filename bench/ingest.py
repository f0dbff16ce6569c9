"""Compare the time of ingest with the loaders of other tools, on the same files and machine.

    python bench/ingest.py TRACE.json.gz folder_of_ranks/ [...] --output bench/results.md

Every contestant is a process, with those that it starts, from start to exit, imports included:

    gzip       gzip -dc FILE... > /dev/null, the floor
    tracewh    tracewh ingest, into a new warehouse
    HTA        TraceAnalysis(trace_files={0: FILE, ...}), which reads ranks in a pool of processes
    tb         torch-tb-profiler's RunLoader on a folder that holds the files

The contestants take turns, so that a slow minute of the machine hits all of them. Only ratios
within one run mean something. The peers live in an environment of their own, made on first use.
"""

import argparse
import datetime
import gzip
import os
import platform
import statistics
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path

from measure import Run, measure

# HTA 0.5.0 breaks on pandas 3.
PEERS = ["pandas<3", "HolisticTraceAnalysis==0.5.0", "torch-tb-profiler==0.4.3"]
HTA = """
import sys
from hta.trace_analysis import TraceAnalysis
loaded = TraceAnalysis(trace_files=dict(enumerate(sys.argv[1:]))).t
assert all(len(loaded.get_trace(rank)) for rank in range(len(sys.argv) - 1))
"""
TB = """
import sys
from torch_tb_profiler.io import Cache
from torch_tb_profiler.profiler.loader import RunLoader
assert RunLoader("run", sys.argv[1], Cache()).load().profiles
"""


def peers_environment(folder: Path) -> Path:
    """Return the Python of the peers' environment; create it with venv and pip if it is missing."""
    python = folder / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", *PEERS], check=True)
    return python


def contestants(files: list[Path], python: Path, work: Path) -> dict[str, Callable[[], list[str]]]:
    """Return a function per contestant that builds its command; each uses a new warehouse."""
    run_folder = Path(tempfile.mkdtemp(dir=work))
    linked = []
    for rank, trace in enumerate(files):
        suffix = ".gz" if trace.suffix == ".gz" else ""
        linked.append(str(run_folder / f"worker{rank}.pt.trace.json{suffix}"))
        Path(linked[-1]).symlink_to(trace.resolve())
    tracewh = Path(sys.executable).with_name("tracewh")

    def ingest() -> list[str]:
        # A new folder each time, and nothing is deleted before: for a minute after thousands of files were deleted,
        # ext4 takes several times as long to create others.
        warehouse = tempfile.mkdtemp(prefix="warehouse", dir=work)
        return [str(tracewh), "ingest", str(run_folder), "-w", str(warehouse)]

    return {
        "gzip": lambda: ["gzip", "-dc", *linked],
        "tracewh": ingest,
        "HTA": lambda: [str(python), "-c", HTA, *linked],
        "tb": lambda: [str(python), "-c", TB, str(run_folder)],
    }


def rows(trace: Path, names: list[str], python: Path, repeat: int) -> list[str]:
    """Measure a file or a folder of files, and return its rows of the results table."""
    files = sorted(trace.glob("*.json*")) if trace.is_dir() else [trace]
    size = sum(map(count_bytes, files))
    runs: dict[str, list[Run]] = defaultdict(list)
    with tempfile.TemporaryDirectory() as work:
        commands = contestants(files, python, Path(work))
        for _ in range(repeat):
            for name in names:
                runs[name].append(measure(commands[name]()))
                print(f"{trace.name}  {name}  {runs[name][-1].seconds:.2f} s", file=sys.stderr)
    ours = min(run.seconds for run in runs["tracewh"])
    table = []
    for name in names:
        seconds = [run.seconds for run in runs[name]]
        cpu = min(run.cpu_seconds for run in runs[name])
        peak = max(run.peak_bytes for run in runs[name])
        table.append(
            f"| {trace.name} | {len(files)} | {size / 1e6:,.1f} | {name} | {min(seconds):.2f} "
            f"| {statistics.median(seconds):.2f} | {min(seconds) / ours:.2f} | {cpu:.2f} "
            f"| {peak / 1e6:,.0f} |"
        )
    return table


def count_bytes(trace: Path) -> int:
    """Return the size of the JSON; this also reads the file into the page cache."""
    with gzip.open(trace) if trace.suffix == ".gz" else trace.open("rb") as file:
        return sum(len(block) for block in iter(lambda: file.read(1 << 20), b""))


def main() -> None:
    """Parse the command line, measure and write the table."""
    parser = argparse.ArgumentParser(description="Time ingest beside the peers on the same files.")
    parser.add_argument(
        "traces", type=Path, nargs="+", help="traces, .json.gz or .json, or folders of them"
    )
    parser.add_argument("--repeat", type=int, default=5, help="runs of each (default: 5)")
    parser.add_argument(
        "--only", nargs="+", default=["gzip", "tracewh", "HTA", "tb"], help="contestants"
    )
    parser.add_argument(
        "--peers-env",
        type=Path,
        default=Path("build/peers"),
        help="the peers' environment (default: build/peers, made when missing)",
    )
    parser.add_argument("--output", type=Path, help="a Markdown file to write (default: stdout)")
    arguments = parser.parse_args()
    names = list(dict.fromkeys(["tracewh", *arguments.only]))
    python = peers_environment(arguments.peers_env) if {"HTA", "tb"} & {*names} else Path()
    machine = f"{os.cpu_count()} cores, {platform.machine()}, Python {platform.python_version()}"
    table = [
        f"{datetime.date.today()}; {machine}; {', '.join(PEERS)}; {arguments.repeat} runs of each.",
        "",
        "| input | files | JSON MB | contestant | seconds, least | median | times tracewh | CPU s | peak MB |",
        "|---|---:|---:|---|---:|---:|---:|---:|---:|",
    ]
    for trace in arguments.traces:
        table += rows(trace, names, python, arguments.repeat)
    text = "\n".join(table) + "\n"
    if arguments.output:
        arguments.output.write_text(text)
    else:
        print(text, end="")


if __name__ == "__main__":
    main()
