"""Readers see whole traces and no error, while others arrive and are replaced."""

from __future__ import annotations

import shutil
import subprocess
import sys
import time
from pathlib import Path

import tracewh
from tests.storage.test_crashes import SAMPLES, is_clean, rows, two_runs

READER = """
import pathlib, select, sys, duckdb, tracewh
how, root, turned = sys.argv[1:]
counts = "SELECT run, worker, span, count(*) FROM host_events GROUP BY ALL ORDER BY ALL"

def ask(con):
    con.sql("FROM step_breakdown()").fetchall(), con.sql("FROM operator_stats()").fetchall()
    return con.sql(counts).fetchall()

turns = 0
with tracewh.open(root) as opened, duckdb.connect(f"{root}/tracewh.duckdb", read_only=True) as con:
    seen = set()
    print("reading", flush=True)
    while not select.select([sys.stdin], [], [], 0)[0]:
        if how == "anew":
            with tracewh.open(root) as fresh:
                seen |= {*ask(fresh)}
        else:
            seen |= {*ask(opened if how == "opened" else con)}
        turns += 1
        pathlib.Path(turned).write_text(str(turns))
print(sorted(seen))
"""


def test_readers_see_no_error_while_traces_arrive_and_are_replaced(tmp_path: Path) -> None:
    """Readers in processes of their own: a warehouse held open, or opened anew, and a database."""
    logs, warehouse = two_runs(tmp_path), tmp_path / "wh"
    tracewh.ingest(logs / "ddp_gloo", warehouse, jobs=2)
    turned = [tmp_path / how for how in ("opened", "anew", "database")]
    for path in turned:
        path.write_text("0")
    readers = [
        subprocess.Popen(
            [sys.executable, "-c", READER, path.name, str(warehouse), str(path)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )
        for path in turned
    ]  # fmt: skip
    for each in readers:
        assert each.stdout is not None
        assert each.stdout.readline() == "reading\n"
    while any(int(path.read_text() or 0) <= 5 for path in turned):
        assert all(each.poll() is None for each in readers)
        # Each trace is a batch of its own, so its files become the same bytes again: DuckDB opens a file to plan
        # and again to read, and fails if it has other contents by then (docs/warehouse.md).
        for run in sorted(logs.iterdir()):
            tracewh.ingest(run, warehouse, force=True, jobs=2)
    whole = sorted((*key, found["host_events"]) for key, found in rows(warehouse).items())
    assert len(whole) == 4
    for each in readers:
        out, err = each.communicate("stop\n", timeout=60)
        assert (each.returncode, out, err) == (0, f"{whole}\n", "")
    assert is_clean(warehouse)


ARRIVALS = """
import pathlib, sys, time
staged, data = map(pathlib.Path, sys.argv[1:3])
for number, folder in enumerate(sorted(staged.iterdir())):
    if number % 10 == 0:  # each look sees ten of them come, spread over the time of the look before
        pause = float(sys.stdin.readline()) / 10
    place = data / "run=new" / f"worker={number}" / "span=1"
    place.parent.mkdir(parents=True)
    folder.rename(place)
    time.sleep(pause)
"""


def test_a_trace_that_arrives_is_in_all_tables_of_a_query_or_in_none(tmp_path: Path) -> None:
    warehouse = tmp_path / "wh"
    tracewh.ingest(SAMPLES / "ddp_gloo", warehouse)
    whole = rows(warehouse)["ddp_gloo", "rank0", "1"]
    staged = warehouse / ".staging" / "arrivals"
    for number in range(100):
        shutil.copytree(warehouse / "data/run=ddp_gloo/worker=rank0/span=1", staged / str(number))
    with subprocess.Popen(
        [sys.executable, "-c", ARRIVALS, str(staged), str(warehouse / "data")],
        stdin=subprocess.PIPE, text=True, bufsize=1,
    ) as arrivals:  # fmt: skip
        assert arrivals.stdin is not None
        took = 0.1
        for _ in range(10):
            arrivals.stdin.write(f"{took}\n")
            began = time.monotonic()
            for key, found in rows(warehouse).items():
                assert key[0] == "ddp_gloo" or found == whole, key
            took = time.monotonic() - began
    assert arrivals.returncode == 0
    assert len(rows(warehouse)) == 102
