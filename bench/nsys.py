"""Measure the ingest of an export of Nsight Systems, and the view that joins its ranges with its kernels.

    python bench/draw_nsys.py large.sqlite --kernels 2_000_000 --ranges 16_000_000
    python bench/nsys.py large.sqlite --output bench/results_nsys.md
    python bench/draw_nsys.py huge.sqlite --kernels 12_000_000 --ranges 96_000_000   # 5.2 GB
    python bench/nsys.py huge.sqlite --without-view

Each export is one `tracewh ingest` into a new warehouse, measured as bench/ingest.py does: a process from start to
exit, the memory of its whole tree. Then `tracewh show range_gpu_projection` lists the device work of every range, by a
sweep through ranges and calls, with and without a limit of its memory. Beside them, Python's sqlite3 reads every row of the same tables, and does nothing
with it: that is the limit of a reader in Python. The last column divides by its CPU seconds, since seconds of two days
or two machines cannot be compared.
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

#: Reads the rows of the tables that hold events.
READ = """
import sqlite3, sys
con = sqlite3.connect(sys.argv[1])
tables = "NVTX_EVENTS", "CUPTI_ACTIVITY_KIND_RUNTIME", "CUPTI_ACTIVITY_KIND_KERNEL"
for table in tables:
    for row in con.execute(f"SELECT * FROM {table}"):
        pass
"""


def ingest(source: Path, warehouse: Path) -> tuple[Run, int, int]:
    """Ingest an export; return its cost, its number of events and their stored size in bytes."""
    tracewh = str(Path(sys.executable).with_name("tracewh"))
    taken = measure([tracewh, "ingest", str(source), "-w", str(warehouse)])
    folders = [path.parent for path in warehouse.glob("data/*/*/*/_manifest.json")]
    manifests = [json.loads((folder / "_manifest.json").read_text()) for folder in folders]
    stored = sum(path.stat().st_size for folder in folders for path in folder.iterdir())
    return taken, sum(manifest["origin"]["events"] for manifest in manifests), stored


#: Memory limit of the view, in MB. The process needs more: Python and its libraries.
LIMIT_MB = 1000


def project(warehouse: Path, *limit: str) -> Run:
    """List the ranges with the device work that they launched, the ten longest of them."""
    tracewh = str(Path(sys.executable).with_name("tracewh"))
    view = ["show", "range_gpu_projection", "--limit", "10", *limit, "-w", str(warehouse)]
    return measure([tracewh, *view])


def main() -> None:
    """Parse the command line, measure and write the table."""
    parser = argparse.ArgumentParser(description="Measure the ingest of Nsight Systems exports.")
    parser.add_argument("sources", type=Path, nargs="+", help="exports as SQLite")
    parser.add_argument("--without-view", action="store_true", help="measure the ingest alone")
    parser.add_argument("--note", default="", help="what else the machine did, for the table")
    parser.add_argument("--output", type=Path, help="a Markdown file to write (default: stdout)")
    arguments = parser.parse_args()
    note = f"; {arguments.note}" if arguments.note else ""
    machine = f"{os.cpu_count()} cores, {platform.machine()}, Python {platform.python_version()}"
    table = [
        f"{datetime.date.today()}; {machine}{note}.",
        "",
        "| export | file MB | events | command | seconds | CPU s | peak MiB | Parquet MB | CPU s / sqlite3's |",
        "|---|---:|---:|---|---:|---:|---:|---:|---:|",
    ]
    for source in arguments.sources:
        with tempfile.TemporaryDirectory() as work:
            taken, events, stored = ingest(source, Path(work, "warehouse"))
            costs = [("tracewh ingest", taken, f"{stored / 1e6:,.1f}")]
            if not arguments.without_view:
                warehouse, limit = Path(work, "warehouse"), ("--memory-limit", str(LIMIT_MB))
                costs += [
                    ("tracewh show range_gpu_projection", project(warehouse), ""),
                    (f"the same, {' '.join(limit)}", project(warehouse, *limit), ""),
                ]
        read = measure([sys.executable, "-c", READ, str(source)])
        first = f"| {source.name} | {source.stat().st_size / 1e6:,.1f} | {events:,} "
        for command, cost, size in (*costs, ("Python's sqlite3", read, "")):
            table.append(
                f"{first}| {command} | {cost.seconds:.1f} | {cost.cpu_seconds:.1f} "
                f"| {cost.peak_bytes / 2**20:,.0f} | {size} | {cost.cpu_seconds / read.cpu_seconds:.1f} |"
            )
    text = "\n".join(table) + "\n"
    if arguments.output:
        arguments.output.write_text(text)
    else:
        print(text, end="")


if __name__ == "__main__":
    main()
