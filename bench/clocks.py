"""Time the view clocks over a simulated job of 4,096 ranks on 512 hosts, and compare it with what was simulated.

    python -m bench.clocks --output bench/results_clocks.md

Hosts have eight ranks each, and clocks that are up to 50 ms and 20 ppm off. Three kinds of groups reduce gradients:
the ranks of a host, 64 hosts with the same part of the model, and all ranks. Ends are late by 5 us in the mean, and
5 % of them by up to 5 ms more. The view is asked in a process of its own, here and by Spark on the same cores, from
the start of the process to its end.
"""

import argparse
import datetime
import json
import os
import platform
import sys
import tempfile
from contextlib import suppress
from pathlib import Path

import duckdb
import pyarrow.parquet as pq

import tracewh
from bench.measure import descendants, measure
from tracewh.quoting import quote_literal
from tracewh.spark.session import session

RANKS_OF_HOST = 8
RUN = "job"
KERNEL = {"ph": "X", "cat": "kernel", "name": "nccl", "pid": 0, "tid": 7, "ts": 1, "dur": 1}

#: Random numbers from 0 to 1 that depend on what is named only, so that each run simulates the same job.
RANDOM = "CREATE MACRO random_of(what) AS (hash(what) % 1000003) / 1000003.0"
HOSTS = """
CREATE TABLE hosts AS
SELECT
    h.host,
    round(1e8 * random_of('offset ' || h.host) - 5e7)::BIGINT AS offset_ns,
    4e-5 * random_of('drift ' || h.host) - 2e-5 AS drift
FROM range({hosts}) AS h (host)
"""
CALLS = """
CREATE TABLE calls AS
WITH
ranks AS (
    SELECT r.rank, r.rank // {per_host} AS host, r.rank % {per_host} AS place
    FROM range({ranks}) AS r (rank)
),

-- A collective of each kind in turn: 40 of the hosts with the same part of the model, 20 of each other kind.
called AS (
    SELECT
        r.*,
        c.number,
        CASE c.number % 4
            WHEN 0 THEN 'all'
            WHEN 1 THEN 'host ' || r.host
            ELSE 'part ' || (r.host // 64) || ' ' || r.place
        END AS group_name,
        c.number * 125000000 AS at_ns
    FROM ranks AS r
    CROSS JOIN range(80) AS c (number)
),

timed AS (
    SELECT
        c.*,
        c.at_ns - 5e4 - 2e6 * random_of(['start', c.number::VARCHAR, c.rank::VARCHAR]) AS began_ns,
        c.at_ns - 5e3 * ln(1e-9 + random_of(['end', c.number::VARCHAR, c.rank::VARCHAR]))
        + CASE
            WHEN random_of(['is wrong', c.number::VARCHAR, c.rank::VARCHAR]) < 0.05
                THEN 5e6 * random_of(['wrong', c.number::VARCHAR, c.rank::VARCHAR])
            ELSE 0
        END AS ended_ns
    FROM called AS c
)

SELECT
    t.rank,
    t.number,
    t.group_name,
    1700000000000000000 + h.offset_ns + round(t.began_ns * (1 + h.drift))::BIGINT AS start_ns,
    round((t.ended_ns - t.began_ns) * (1 + h.drift))::BIGINT AS duration_ns,
    h.host
FROM timed AS t
INNER JOIN hosts AS h ON t.host = h.host
"""
#: What differs in the tables of a rank from those of the trace that was ingested.
TABLES = {
    "device_events": """
        SELECT 'rank' || c.rank AS worker, '1' AS span, t.* REPLACE (
            c.number AS event_id, 'communication' AS kind, 'allreduce' AS collective,
            'Float' AS collective_dtype, 1000::BIGINT AS in_elements,
            c.group_name AS group_name, c.start_ns AS start_ns, c.duration_ns AS duration_ns
        )
        FROM {template} AS t CROSS JOIN calls AS c
    """,
    "traces": """
        SELECT 'rank' || c.rank AS worker, '1' AS span, t.* REPLACE (
            'host' || c.host AS hostname, c.rank::INTEGER AS "rank", {ranks}::INTEGER AS world_size,
            c.start_ns AS start_ns, c.end_ns AS end_ns, md5('rank' || c.rank) AS content_hash
        )
        FROM {template} AS t CROSS JOIN (
            SELECT rank, host, min(start_ns) AS start_ns, max(start_ns + duration_ns) AS end_ns
            FROM calls GROUP BY ALL
        ) AS c
    """,
}


def simulate(warehouse: Path, ranks: int) -> None:
    """Write a warehouse with a trace per rank, and the errors of the clocks beside it."""
    trace = warehouse.with_name("rank.pt.trace.json")
    trace.write_text(json.dumps({"traceEvents": [KERNEL | {"args": {"device": 0, "stream": 7}}]}))
    template = warehouse.with_name("template")
    tracewh.ingest([trace], template, run=RUN)
    [files] = (template / "data").glob("*/*/*")
    job = warehouse / "data" / f"run={RUN}"
    with duckdb.connect() as con:
        con.execute("SET preserve_insertion_order = false")
        con.execute(RANDOM)
        con.execute(HOSTS.format(hosts=ranks // RANKS_OF_HOST))
        con.execute(CALLS.format(ranks=ranks, per_host=RANKS_OF_HOST))
        con.execute(f"COPY hosts TO {quote_literal(str(warehouse.with_name('hosts.parquet')))}")
        for table, sql in TABLES.items():
            source = f"read_parquet({quote_literal(str(files / table))[:-1]}.parquet')"
            source = source.replace(")", ", hive_partitioning = false)")
            folder = warehouse.with_name(table)
            con.execute(
                f"COPY ({sql.format(template=source, ranks=ranks)} ORDER BY ALL)"
                f" TO {quote_literal(str(folder))} (FORMAT parquet, PARTITION_BY (worker, span))"
            )
            for written in folder.glob("*/*/*.parquet"):
                place = job / written.parent.relative_to(folder)
                place.mkdir(parents=True, exist_ok=True)
                written.rename(place / f"{table}.parquet")
    for place in job.glob("*/*"):
        for file in files.iterdir():
            if file.stem not in TABLES:
                os.link(file, place / file.name)


def cpu_seconds() -> float:
    """The CPU seconds of this process and of all below it, also of those that have ended."""
    ticks = 0
    for pid in descendants(os.getpid()):
        with suppress(OSError):
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
            ticks += sum(int(field) for field in fields[11:15])
    return ticks / os.sysconf("SC_CLK_TCK")


def ask(engine: str, warehouse: str, output: str) -> None:
    """Write the rows of the view to a file, and the CPU seconds beside it."""
    if engine == "simulate":
        simulate(Path(warehouse), int(output))
        return
    if engine == "here":
        with tracewh.open(warehouse) as opened:
            opened.view("clocks").write_parquet(output)
            used = cpu_seconds()
    else:
        with session() as spark:
            pq.write_table(tracewh.spark.view(spark, "clocks", warehouse).toArrow(), output)
            used = cpu_seconds()
    Path(output).with_suffix(".txt").write_text(str(used))


def compared(found: Path, hosts: Path) -> tuple[int, int, float, float]:
    """Hosts whose offset is told, components, and the largest errors of an offset in us and of a drift in ppm."""
    return duckdb.execute(
        f"""
        WITH told AS (
            SELECT
                f.component,
                f.offset_ns - h.offset_ns - h.drift * (f.at_ns - 1700000000000000000) AS wrong_ns,
                f.drift_ppm - 1e6 * h.drift AS wrong_ppm
            FROM {quote_literal(str(found))} AS f
            INNER JOIN {quote_literal(str(hosts))} AS h ON f.hostname = 'host' || h.host
        )

        SELECT
            count(t.wrong_ns),
            count(DISTINCT t.component),
            max(abs(t.wrong_ns - m.wrong_ns)) / 1000,
            max(abs(t.wrong_ppm - m.wrong_ppm))
        FROM told AS t
        CROSS JOIN (SELECT avg(wrong_ns) AS wrong_ns, avg(wrong_ppm) AS wrong_ppm FROM told) AS m
        """
    ).fetchall()[0]


def main() -> None:
    """Parse the command line, simulate, measure and write the table."""
    parser = argparse.ArgumentParser(description="Time the view clocks over a simulated job.")
    parser.add_argument("--ranks", type=int, default=4096, help="ranks (default: 4096)")
    parser.add_argument("--output", type=Path, help="a Markdown file to write (default: stdout)")
    parser.add_argument("--ask", nargs=3, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.ask:
        ask(*arguments.ask)
        return
    if arguments.ranks < 2 * RANKS_OF_HOST or arguments.ranks % RANKS_OF_HOST:
        parser.error(
            f"--ranks must be a multiple of {RANKS_OF_HOST}, the ranks of a host, and at least {2 * RANKS_OF_HOST}"
        )
    machine = f"{os.cpu_count()} cores, {platform.machine()}, Python {platform.python_version()}"
    hosts = arguments.ranks // RANKS_OF_HOST
    lines = [
        f"{datetime.date.today()}; {machine}; load average {os.getloadavg()[0]:.0f} before.",
        "",
        f"## {arguments.ranks:,} ranks on {hosts:,} hosts, {80 * arguments.ranks:,} collectives",
        "",
        "| engine | seconds | CPU s | peak MB | offsets told | components | largest error us | ppm |",
        "|---|---:|---:|---:|---:|---:|---:|---:|",
    ]
    with tempfile.TemporaryDirectory() as work:
        warehouse, found = Path(work, "warehouse"), Path(work, "found.parquet")
        # In a process of its own: its memory would count as that of the processes started next.
        ask_process = [sys.executable, "-m", "bench.clocks", "--ask"]
        measure([*ask_process, "simulate", str(warehouse), str(arguments.ranks)])
        for engine in ("here", "Spark"):
            run = measure([*ask_process, engine, str(warehouse), str(found)])
            used = float(found.with_suffix(".txt").read_text())
            told, components, wrong_us, wrong_ppm = compared(found, Path(work, "hosts.parquet"))
            lines.append(
                f"| {engine} | {run.seconds:.1f} | {used:.1f} | {run.peak_bytes / 1e6:,.0f}"
                f" | {told:,} | {components} | {wrong_us:.2f} | {wrong_ppm:.3f} |"
            )
            print(lines[-1], file=sys.stderr)
    text = "\n".join(lines) + "\n"
    if arguments.output:
        arguments.output.write_text(text)
    else:
        print(text, end="")


if __name__ == "__main__":
    main()
