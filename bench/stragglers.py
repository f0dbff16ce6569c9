"""Time the views on stragglers over tables of pipeline operations.

    python -m bench.stragglers TABLE.parquet [TABLE.parquet ...] --output bench/results_stragglers.md

Each table is measured as it is, and once more as a job of more data-parallel ranks, with as many operations: the
ranks are repeated, and so many steps left out. The simulations by data-parallel rank are then of 32 ranks
instead of 4, but it is two lanes that each of them takes. Peak memory is that of a process of its own, which
calls the view once.
"""

import argparse
import datetime
import os
import platform
import sys
import tempfile
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import duckdb

from bench.views import RUN, cells, cold, count_events, warm
from tracewh.quoting import quote_literal

VIEWS = (
    "straggler_what_if",
    "straggler_what_if_steps",
    "straggler_what_if_parts",
    "straggler_workers",
)


def widen(table: Path, target: Path, times: int) -> None:
    """Write a table with its data-parallel ranks several times, and as much fewer of its steps."""
    name = quote_literal(str(table))
    duckdb.execute(
        f"""
        COPY (
            SELECT t.* REPLACE (
                (t.dp_rank + c.copy * m.dp_ranks)::INTEGER AS dp_rank,
                (t."rank" + c.copy * m.ranks)::INTEGER AS "rank"
            )
            FROM {name} AS t
            CROSS JOIN (
                SELECT max(dp_rank) + 1 AS dp_ranks, max("rank") + 1 AS ranks,
                    list(DISTINCT step ORDER BY step) AS steps
                FROM {name}
            ) AS m
            CROSS JOIN range({times}) AS c (copy)
            WHERE list_position(m.steps, t.step) <= ceil(len(m.steps) / {times})
        ) TO {quote_literal(str(target))} (FORMAT parquet)
        """
    )


def ranks_of(table: Path) -> int:
    """Count the data-parallel ranks of a table."""
    name = quote_literal(str(table))
    return int(duckdb.execute(f"SELECT count(DISTINCT dp_rank) FROM {name}").fetchall()[0][0])


def section(table: Path, repeat: int) -> str:
    """Measure the views over one table and return its part of the results."""
    other = ProcessPoolExecutor(1, get_context("spawn"))
    with other, tempfile.TemporaryDirectory() as work:
        warehouse = Path(work) / "wh"
        cold("ingest", str(table), "--run", RUN, "-w", str(warehouse))
        events = other.submit(count_events, warehouse).result()
        lines = [
            f"## {table.stem}: {events:,} operations, {ranks_of(table)} data-parallel ranks\n",
            "| view | rows | warm s, least | median | CPU s | cold s, least | median | CPU s | peak MB |",
            "|---|---:|---:|---:|---:|---:|---:|---:|---:|",
        ]
        for view in VIEWS:
            rows, warm_runs = other.submit(warm, warehouse, view, {}, repeat).result()
            command = ["show", view, "--limit", "40", "-w", str(warehouse)]
            cold_runs = [cold(*command) for _ in range(repeat)]
            peak = max(run.peak_bytes for run in cold_runs) / 1e6
            lines.append(
                f"| {view} | {rows:,} | {cells(warm_runs)} | {cells(cold_runs)} | {peak:,.0f} |"
            )
            print(lines[-1], file=sys.stderr)
    return "\n".join(lines)


def main() -> None:
    """Parse the command line, measure and write the tables."""
    parser = argparse.ArgumentParser(description="Time the views on stragglers.")
    parser.add_argument("tables", type=Path, nargs="+", help="tables of pipeline operations")
    parser.add_argument("--repeat", type=int, default=5, help="calls of each (default: 5)")
    parser.add_argument("--times", type=int, default=8, help="ranks, how many times (default: 8)")
    parser.add_argument("--output", type=Path, help="a Markdown file to write (default: stdout)")
    arguments = parser.parse_args()
    machine = f"{os.cpu_count()} cores, {platform.machine()}, Python {platform.python_version()}"
    parts = [f"{datetime.date.today()}; {machine}; {arguments.repeat} calls of each."]
    for table in arguments.tables:
        parts.append(section(table, arguments.repeat))
        with tempfile.TemporaryDirectory() as work:
            wider = Path(work) / f"{table.stem}-wide.parquet"
            widen(table, wider, arguments.times)
            parts.append(section(wider, arguments.repeat))
    text = "\n\n".join(parts) + "\n"
    if arguments.output:
        arguments.output.write_text(text)
    else:
        print(text, end="")


if __name__ == "__main__":
    main()
