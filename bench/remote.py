"""Measure the cost of views in an object store: requests, bytes and seconds, before and after compact.

    python bench/remote.py WAREHOUSE --output bench/results_remote.md

A local warehouse is copied and served as a bucket (bench/bucket.py) with the latency of S3 and any number
of parallel requests. Each view runs on the warehouse as it is, and again after `tracewh compact`:

    first   a new process: it lists the warehouse and runs the view
    again   the same process runs the view again: Arrow has cached the footers of files

Dollars follow S3's price list: $0.0004 for 1,000 GETs and HEADs, $0.005 for 1,000 LISTs.
"""

import argparse
import datetime
import json
import os
import platform
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from urllib.request import urlopen

VIEWS = ("kernel_stats", "step_breakdown")
ASK = """
import json, sys, time
from urllib.request import urlopen
import tracewh
from tracewh.storage import arrow_dataset
view, counts, at_once = sys.argv[1:]
arrow_dataset.AT_ONCE = int(at_once) or arrow_dataset.AT_ONCE
for turn in range(2):
    start = time.perf_counter()
    if turn == 0:
        opened = tracewh.open("s3://bucket")
    rows = len(opened.view(view).fetchall())
    seconds = time.perf_counter() - start
    print(json.dumps([seconds, rows, json.load(urlopen(counts))]))
"""
DOLLARS = {"LIST": 0.005 / 1000, "GET": 0.0004 / 1000, "HEAD": 0.0004 / 1000}


def ask(view: str, port: int, at_once: int | None) -> list[tuple[float, int, Counter[str]]]:
    """Run a view twice in a new process; return seconds, rows and requests by kind."""
    endpoint = f"http://127.0.0.1:{port}"
    environ = os.environ | {
        "S3_ENDPOINT": endpoint,
        "AWS_ACCESS_KEY_ID": "id",
        "AWS_SECRET_ACCESS_KEY": "secret",
        "AWS_EC2_METADATA_DISABLED": "true",
    }
    if at_once:
        environ["ARROW_IO_THREADS"] = str(at_once)
    urlopen(f"{endpoint}/counts").close()
    command = [sys.executable, "-c", ASK, view, f"{endpoint}/counts", str(at_once or 0)]
    done = subprocess.run(command, env=environ, check=True, stdout=subprocess.PIPE, text=True)
    # DuckDB takes `python -c` for somebody who likes to see how far it is.
    found = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("[")]
    return [(seconds, rows, Counter(counts)) for seconds, rows, counts in found]


def rows(warehouse: Path, title: str, at_once: list[int | None], seconds: float) -> list[str]:
    """Serve a warehouse and return its rows of the table."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = int(probe.getsockname()[1])
    bucket = Path(__file__).with_name("bucket.py")
    command = [sys.executable, str(bucket), str(warehouse), str(port), str(seconds)]
    table = []
    with subprocess.Popen(command, stdout=subprocess.PIPE) as server:
        try:
            assert server.stdout is not None and server.stdout.readline()
            for view in VIEWS:
                for limit in at_once:
                    for when, (took, found, counts) in zip(
                        ("first", "again"), ask(view, port, limit), strict=True
                    ):
                        dollars = sum(counts[kind] * price for kind, price in DOLLARS.items())
                        table.append(
                            f"| {title} | {view} | {found:,} | {limit or 'default'} | {when} "
                            f"| {counts['LIST']:,} | {counts['GET'] + counts['HEAD']:,} "
                            f"| {counts['bytes'] / 1e6:,.1f} | {1e6 * dollars:,.0f} | {took:.2f} |"
                        )
                        print(table[-1], file=sys.stderr)
        finally:
            server.terminate()
    return table


def main() -> None:
    """Parse the command line, measure and write the table."""
    parser = argparse.ArgumentParser(description="Count what questions to a store cost.")
    parser.add_argument("warehouse", type=Path, help="a warehouse's folder, of one run")
    parser.add_argument(
        "--wait", type=float, default=0.03, help="seconds a request (default: 0.03)"
    )
    parser.add_argument(
        "--at-once", type=int, nargs="*", default=[8, 128], help="besides the default"
    )
    parser.add_argument("--output", type=Path, help="a Markdown file to write (default: stdout)")
    arguments = parser.parse_args()
    machine = f"{os.cpu_count()} cores, {platform.machine()}, Python {platform.python_version()}"
    with tempfile.TemporaryDirectory(dir=arguments.warehouse.parent) as work:
        copy = Path(work) / "warehouse"
        shutil.copytree(arguments.warehouse / "data", copy / "data")
        shutil.rmtree(next(copy.glob("data/*/_compact.*"), ""), ignore_errors=True)
        now = int(time.time())
        traces = list(copy.glob("data/*/*/*/traces.parquet"))
        for path in traces:
            os.utime(path, (now, now))  # S3 tells whole seconds
        (run,) = (path.name.removeprefix("run=") for path in (copy / "data").iterdir())
        table = rows(copy, "loose", [*arguments.at_once, None], arguments.wait)
        tracewh = str(Path(sys.executable).with_name("tracewh"))
        start = time.perf_counter()
        subprocess.run([tracewh, "compact", run, "-w", copy], check=True, stderr=subprocess.DEVNULL)
        took = time.perf_counter() - start
        table += rows(copy, "compact", [None], arguments.wait)
        sizes = [sum(path.stat().st_size for path in copy.glob(glob)) for glob in (
            "data/*/*/*/*.parquet", "data/*/_compact.*/*.parquet"
        )]  # fmt: skip
    text = (
        f"{datetime.date.today()}; {machine}; {1000 * arguments.wait:.0f} ms a request; "
        f"{len(traces):,} traces.\n\n"
        f"`tracewh compact`, in the folder: {took:.0f} s; {sizes[0] / 1e6:,.1f} MB of Parquet are "
        f"{sizes[1] / 1e6:,.1f} MB.\n\n"
        "| files | view | rows | at once | asked | LIST | GET | MB | millionths of a dollar | s |\n"
        "|---|---|---:|---:|---|---:|---:|---:|---:|---:|\n"
    ) + "\n".join(table)
    if arguments.output:
        arguments.output.write_text(text + "\n")
    else:
        print(text)


if __name__ == "__main__":
    main()
