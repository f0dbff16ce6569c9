"""Measure how ingest scales: time per event, memory and stored size for small and huge inputs.

    python bench/scale.py grown_100MB.json.gz grown_10GB.json.gz folder_of_64/ [--jobs 2]

Each input is one `tracewh ingest` into a new warehouse, measured as bench/ingest.py does: a process
from start to exit, the memory of its whole tree. A folder stands for the ranks of a job. Inputs take
turns, so that a slow minute of the machine hits all of them.
"""

import argparse
import datetime
import json
import os
import platform
import sys
import tempfile
from pathlib import Path

from measure import Run, measure


def run(source: Path, jobs: int | None, work: Path) -> tuple[Run, int, int]:
    """Ingest an input; return its cost, its number of events and their stored size."""
    # Nothing is deleted before the end; see bench/ingest.py.
    warehouse = Path(tempfile.mkdtemp(prefix="warehouse", dir=work))
    tracewh = str(Path(sys.executable).with_name("tracewh"))
    command = [tracewh, "ingest", str(source), "-w", str(warehouse)]
    if jobs:
        command += ["--jobs", str(jobs)]
    taken = measure(command)
    manifests = [
        json.loads(path.read_text()) for path in warehouse.glob("data/*/*/*/_manifest.json")
    ]
    files = [path for path in warehouse.glob("data/*/*/*/*") if path.is_file()]
    events = sum(manifest["origin"]["events"] for manifest in manifests)
    return taken, events, sum(path.stat().st_size for path in files)


def main() -> None:
    """Parse the command line, measure and write the table."""
    parser = argparse.ArgumentParser(description="Measure how ingest grows with its input.")
    parser.add_argument("sources", type=Path, nargs="+", help="traces, or folders of them")
    parser.add_argument("--jobs", type=int, help="traces at a time, as for tracewh ingest")
    parser.add_argument("--repeat", type=int, default=1, help="runs of each (default: 1)")
    parser.add_argument("--output", type=Path, help="a Markdown file to write (default: stdout)")
    arguments = parser.parse_args()
    machine = f"{os.cpu_count()} cores, {platform.machine()}, Python {platform.python_version()}"
    jobs = f"--jobs {arguments.jobs}" if arguments.jobs else "default --jobs"
    best: dict[Path, tuple[Run, int, int]] = {}
    with tempfile.TemporaryDirectory() as work:
        for _ in range(arguments.repeat):
            for source in arguments.sources:
                found = run(source, arguments.jobs, Path(work))
                print(f"{source.name}  {found[0].seconds:.1f} s", file=sys.stderr)
                if source not in best or found[0].seconds < best[source][0].seconds:
                    best[source] = found
    table = [
        f"{datetime.date.today()}; {machine}; {jobs}; least of {arguments.repeat}.",
        "",
        "| input | files | file MB | events | seconds | CPU s | us per event | peak MiB | Parquet MB | Parquet / file |",
        "|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for source, (taken, events, stored) in best.items():
        files = [p for p in source.rglob("*.json*") if p.is_file()] if source.is_dir() else [source]
        before = sum(path.stat().st_size for path in files)
        table.append(
            f"| {source.name} | {len(files)} | {before / 1e6:,.1f} | {events:,} "
            f"| {taken.seconds:.2f} | {taken.cpu_seconds:.2f} | {taken.seconds / events * 1e6:.2f} "
            f"| {taken.peak_bytes / 2**20:,.0f} | {stored / 1e6:,.1f} | {stored / before:.2f} |"
        )
    text = "\n".join(table) + "\n"
    if arguments.output:
        arguments.output.write_text(text)
    else:
        print(text, end="")


if __name__ == "__main__":
    main()
