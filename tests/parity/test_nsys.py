"""Nsight Systems: every row of the reports and rules that NVIDIA's own tool gives for the same exports.

The CSV files were written by `nsys stats` and `nsys analyze` 2023.4.4. Times there are nanoseconds with at
most one decimal, so figures may be half a digit apart; numbers and starts are equal.
"""

from __future__ import annotations

import csv
import gzip
import re
import statistics
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import tracewh
from tests.conftest import made_once
from tests.parity.differences import Row, Table, problems

#: Export -> folder of its CSV files; both below the shared folder.
EXPORTS = {
    "h100_2gpu_1s": (
        "data/sources/nsys/h100_2gpu_1s.sqlite",
        "data/sources/nsys/h100_2gpu_1s_reference",
    ),
    "mfu_2gpu_before": (
        "data/sources/nsys/mfu_2gpu_before.sqlite",
        "data/sources/nsys/mfu_2gpu_before_reference",
    ),
    "mfu_2gpu_before_pqtdir": (
        "data/sources/nsys/mfu_2gpu_before_pqtdir",
        "data/sources/nsys/mfu_2gpu_before_reference",
    ),
    "cloverleaf_a100": (
        "traces/other_tools/nsys/cloverleaf_a100/real_perlmutter-cloverleaf-cuda.sqlite",
        "traces/other_tools/nsys/cloverleaf_a100",
    ),
    "saxpy_mpi_a100": (
        "traces/other_tools/nsys/saxpy_mpi_a100/real_saxpy-mpi-cuda_nsys_perlmutter0.sqlite",
        "traces/other_tools/nsys/saxpy_mpi_a100",
    ),
}

#: Rows of all CSV files of an export.
ROWS = {
    "h100_2gpu_1s": 19949,
    "mfu_2gpu_before": 28171,
    "mfu_2gpu_before_pqtdir": 28171,
    "cloverleaf_a100": 6460,
    "saxpy_mpi_a100": 123,
}

#: A row of a CSV file, or of ours.
Record = dict[str, Any]
Keyed = dict[str, Row]

#: Text of an NVTX range, written again from what PyTorch's emit_nvtx puts in it, behind its domain.
TEXT = """concat(
    if(h.raw_category LIKE 'NVTX:%', substr(h.raw_category, 6) || ':', ''), h.name,
    ', seq = ' || h.sequence_number, ', op_id = ' || h.record_function_id
)"""

#: Times of a row of a `..._stats` view, in nanoseconds.
TIMES = """total_us * 1000 AS total_ns, calls, mean_us * 1000 AS mean_ns, median_us * 1000 AS median_ns,
    min_us * 1000 AS min_ns, max_us * 1000 AS max_ns, coalesce(stddev_us, 0) * 1000 AS stddev_ns"""

#: Our names of what the columns of a summary hold; those of every report begin so.
SUMMARY = {
    "Time (%)": "share_pct",
    "Total Time (ns)": "total_ns",
    "Num Calls": "calls",
    "Instances": "calls",
    "Count": "calls",
    "Avg (ns)": "mean_ns",
    "Med (ns)": "median_ns",
    "Min (ns)": "min_ns",
    "Max (ns)": "max_ns",
    "StdDev (ns)": "stddev_ns",
}
SIZES = {
    "Total (MB)": "total_mb",
    "Count": "calls",
    "Avg (MB)": "mean_mb",
    "Med (MB)": "median_mb",
    "Min (MB)": "min_mb",
    "Max (MB)": "max_mb",
    "StdDev (MB)": "stddev_mb",
}
PROJECTION = {
    "Total Proj Time (ns)": "total_ns",
    "Total Range Time (ns)": "host_ns",
    "Range Instances": "ranges",
    "Proj Avg (ns)": "mean_ns",
    "Proj Med (ns)": "median_ns",
    "Proj Min (ns)": "min_ns",
    "Proj Max (ns)": "max_ns",
    "Proj StdDev (ns)": "stddev_ns",
    "Total GPU Ops": "gpu_ops",
    "Avg GPU Ops": "mean_gpu_ops",
    "Avg Range Lvl": "mean_level",
    "Avg Num Child": "mean_children",
}
PHASES = {"T": "total", "A": "call", "Q": "queue", "K": "kernel"}
FIGURES = {"Avg": "mean", "Med": "median", "Min": "min", "Max": "max", "StdDev": "stddev"}
LAUNCHES = {"Count": "calls", "QCount": "queued"} | {
    f"{phase}{figure} (ns)": f"{ours}_{name}_ns"
    for phase, name in PHASES.items()
    for figure, ours in FIGURES.items()
}
#: The deviation of one kernel, or of none, is 0 there.
LAUNCH_COLUMNS = "calls, queued, " + ", ".join(
    f"coalesce({ours}_{name}_us, {0 if ours == 'stddev' else 'NULL'}) * 1000 AS {ours}_{name}_ns"
    for name in PHASES.values()
    for ours in FIGURES.values()
)
KERNELS_OF_RANGE = {
    "NVTX Inst": "ranges",
    "Kern Inst": "calls",
    **{theirs: ours for theirs, ours in SUMMARY.items() if theirs.endswith("(ns)")},
}
COPY = {
    "Duration (ns)": "duration_ns",
    "Bytes (MB)": "mb",
    "Device ID": "device",
    "Context ID": "context",
    "Stream ID": "stream",
}
COPIES = """
    SELECT t.process_id || ' ' || (d.start_ns - t.base_time_ns), b.duration_us * 1000 AS duration_ns,
        b.bytes / 1e6 AS mb, b.device_id AS device, d.context_id AS context, b.stream_id AS stream,
        regexp_extract(b.operation, '\\((\\w+) -> (\\w+)\\)', 1) AS source,
        regexp_extract(b.operation, '\\((\\w+) -> (\\w+)\\)', 2) AS target, b.name
    FROM blocking_calls(run := $run, rule := '{}') AS b
    INNER JOIN traces AS t USING (run, worker, span)
    INNER JOIN device_events AS d
        ON (b.run, b.worker, b.span, b.device_event_id) = (d.run, d.worker, d.span, d.event_id)
"""
UTILIZATION = """
    SELECT t.process_id || ' device ' || u.device_id || ' ' || (u.start_ns - t.base_time_ns),
        u.utilization_pct AS share_pct, u.duration_us * 1000 AS duration_ns
    FROM low_utilization_periods(run := $run, below_pct := {}) AS u
    INNER JOIN traces AS t USING (run, worker, span)
"""


def stripped(name: str) -> str:
    """Without CUDA's version, of which the reports themselves cut four digits and leave five."""
    return re.sub(r"_v\d{4,5}$", "", name)


def by_name(row: Record) -> str:
    return stripped(row["Name"])


def by_operation(row: Record) -> str:
    return {
        "[CUDA memcpy Host-to-Device]": "Memcpy HtoD",
        "[CUDA memcpy Device-to-Host]": "Memcpy DtoH",
        "[CUDA memcpy Device-to-Device]": "Memcpy DtoD",
        "[CUDA memset]": "Memset",
    }[row["Operation"]]


def by_start(row: Record) -> str:
    return f"{row['PID']} {row['Start (ns)']}"


def by_device(row: Record) -> str:
    return f"{row['PID']} device {row['Device ID']} {row['Start (ns)']}"


def by_launch(row: Record) -> str:
    thread = f"{row['PID']} {row['TID']} device {row['DevId']}"
    return f"{thread} {stripped(row['API Name'])} {row['Kernel Name']}"


#: Report -> our view, the key of a row there, the figures of a row, and our rows: the key first.
REPORTS: dict[str, tuple[str, Callable[[Record], str], dict[str, str], str]] = {
    "cuda_api_sum": (
        "runtime_api_stats",
        by_name,
        SUMMARY,
        f"SELECT name, share_pct, {TIMES} FROM runtime_api_stats(run := $run, combine_workers := TRUE)",
    ),
    "osrt_sum": (
        "runtime_api_stats",
        by_name,
        SUMMARY,
        f"""SELECT name, share_pct, {TIMES}
        FROM runtime_api_stats(run := $run, combine_workers := TRUE, api := 'os')""",
    ),
    "cuda_gpu_kern_sum": (
        "kernel_stats",
        by_name,
        SUMMARY,
        f"SELECT name, share_pct, {TIMES} FROM kernel_stats(run := $run, combine_workers := TRUE)",
    ),
    "cuda_gpu_mem_time_sum": (
        "memory_copy_stats",
        by_operation,
        SUMMARY,
        f"""SELECT operation, share_pct, {TIMES}
        FROM memory_copy_stats(run := $run, combine_workers := TRUE, group_by := 'direction')""",
    ),
    "cuda_gpu_mem_size_sum": (
        "memory_copy_stats",
        by_operation,
        SIZES,
        """SELECT operation, total_bytes / 1e6 AS total_mb, calls, mean_bytes / 1e6 AS mean_mb,
            median_bytes / 1e6 AS median_mb, min_bytes / 1e6 AS min_mb, max_bytes / 1e6 AS max_mb,
            coalesce(stddev_bytes, 0) / 1e6 AS stddev_mb
        FROM memory_copy_stats(run := $run, combine_workers := TRUE, group_by := 'direction')""",
    ),
    "cuda_kern_exec_sum": (
        "kernel_launch_times",
        by_launch,
        LAUNCHES,
        f"""SELECT concat_ws(' ', t.process_id, k.tid, 'device', k.device_id, k.launch_call, k.name),
            {LAUNCH_COLUMNS}
        FROM kernel_launch_times(run := $run, per_span := TRUE) AS k
        INNER JOIN traces AS t USING (run, worker, span)""",
    ),
    "nvtx_sum": (
        "host_events",
        lambda row: row["Range"],
        SUMMARY,
        f"""SELECT {TEXT}, 100.0 * sum(h.duration_ns) / sum(sum(h.duration_ns)) OVER () AS share_pct,
            sum(h.duration_ns) AS total_ns, count(*) AS calls, avg(h.duration_ns) AS mean_ns,
            median(h.duration_ns) AS median_ns, min(h.duration_ns) AS min_ns,
            max(h.duration_ns) AS max_ns, coalesce(stddev_samp(h.duration_ns), 0) AS stddev_ns
        FROM host_events AS h
        WHERE h.run = $run AND starts_with(h.raw_category, 'NVTX')
        GROUP BY 1""",
    ),
    "nvtx_gpu_proj_sum": (
        "range_gpu_projection",
        lambda row: row["Range"],
        PROJECTION,
        f"""SELECT {TEXT}, sum(p.gpu_us) * 1000 AS total_ns, sum(p.host_us) * 1000 AS host_ns,
            sum(p.ranges) AS ranges, avg(p.gpu_us) * 1000 AS mean_ns,
            median(p.gpu_us) * 1000 AS median_ns, min(p.gpu_us) * 1000 AS min_ns,
            max(p.gpu_us) * 1000 AS max_ns, coalesce(stddev_samp(p.gpu_us), 0) * 1000 AS stddev_ns,
            sum(p.gpu_ops) AS gpu_ops, avg(p.gpu_ops) AS mean_gpu_ops,
            avg(p.mean_level) AS mean_level, avg(p.mean_children) AS mean_children
        FROM range_gpu_projection(run := $run, group_by := 'range') AS p
        INNER JOIN host_events AS h USING (run, worker, span, event_id)
        GROUP BY 1""",
    ),
    "nvtx_kern_sum": (
        "range_kernels",
        lambda row: f"{row['NVTX Range']} {row['Kernel Name']}",
        KERNELS_OF_RANGE,
        f"""SELECT concat_ws(' ', name, kernel), ranges, {TIMES}
        FROM range_kernels(run := $run, combine_workers := TRUE)""",
    ),
    "rule_cuda_api_sync": (
        "blocking_calls",
        by_start,
        {"Duration (ns)": "duration_ns"},
        """SELECT t.process_id || ' ' || (b.start_ns - t.base_time_ns),
            b.duration_us * 1000 AS duration_ns, b.name
        FROM blocking_calls(run := $run, rule := 'synchronization') AS b
        INNER JOIN traces AS t USING (run, worker, span)""",
    ),
    "rule_cuda_memcpy_async": (
        "blocking_calls",
        by_start,
        COPY,
        COPIES.format("pageable_copy"),
    ),
    "rule_cuda_memcpy_sync": ("blocking_calls", by_start, COPY, COPIES.format("blocking_copy")),
    "rule_gpu_gaps_gap_1": (
        "gpu_gaps",
        by_device,
        {"Duration (ns)": "duration_ns"},
        """SELECT t.process_id || ' device ' || g.device_id || ' ' || (g.start_ns - t.base_time_ns),
            g.duration_us * 1000 AS duration_ns
        FROM gpu_gaps(run := $run, min_us := 1000) AS g
        INNER JOIN traces AS t USING (run, worker, span)""",
    ),
    "rule_gpu_time_util": (
        "low_utilization_periods",
        by_device,
        {"In-Use (%)": "share_pct", "Duration (ns)": "duration_ns"},
        UTILIZATION.format(50),
    ),
    "rule_gpu_time_util_threshold_101": (
        "low_utilization_periods",
        by_device,
        {"In-Use (%)": "share_pct", "Duration (ns)": "duration_ns"},
        UTILIZATION.format(101),
    ),
    "cuda_api_trace": (
        "host_events",
        lambda row: f"{row['Pid']} {row['Tid']} {row['Start (ns)']} {stripped(row['Name'])}",
        {"Duration (ns)": "duration_ns", "CorrID": "correlation"},
        """SELECT concat_ws(' ', h.pid, h.tid, h.start_ns - t.base_time_ns, h.name),
            h.duration_ns, h.correlation_id AS correlation
        FROM runtime_calls AS h
        INNER JOIN traces AS t USING (run, worker, span)
        WHERE h.run = $run""",
    ),
    "cuda_gpu_trace": (
        "device_events",
        lambda row: f"{row['Start (ns)']} {row['CorrId']}",
        {
            "Duration (ns)": "duration_ns",
            "GrdX": "grid_x",
            "GrdY": "grid_y",
            "GrdZ": "grid_z",
            "BlkX": "block_x",
            "BlkY": "block_y",
            "BlkZ": "block_z",
            "Reg/Trd": "registers",
            "Bytes (MB)": "mb",
            "Ctx": "context",
            "Strm": "stream",
        },
        """SELECT concat_ws(' ', d.start_ns - t.base_time_ns, d.correlation_id), d.duration_ns,
            d.grid[1] AS grid_x, d.grid[2] AS grid_y, d.grid[3] AS grid_z, d.block[1] AS block_x,
            d.block[2] AS block_y, d.block[3] AS block_z, d.registers_per_thread AS registers,
            d.bytes / 1e6 AS mb, d.context_id AS context, d.stream_id AS stream
        FROM device_events AS d
        INNER JOIN traces AS t USING (run, worker, span)
        WHERE d.run = $run AND d.kind IN ('compute', 'communication', 'memcpy', 'memset')""",
    ),
}


@pytest.fixture(scope="module")
def warehouse(
    shared: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tracewh.Warehouse]:
    """Each export as a run of its own."""

    def ingest(folder: Path) -> None:
        for run, (export, _) in EXPORTS.items():
            tracewh.ingest([shared / export], folder / "warehouse", run=run)

    with tracewh.open(made_once(tmp_path_factory, "nsys", ingest) / "warehouse") as warehouse:
        yield warehouse


def read(path: Path) -> list[Record]:
    """The rows of a report; none of an empty file."""
    raw = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    return list(csv.DictReader(raw.decode().strip().splitlines()))


def theirs(report: str, rows: list[Record]) -> Keyed:
    """The rows of a report, by key; of rows with one key, that with the least time has the bare key."""
    _, key_of, figures, _ = REPORTS[report]
    found: Keyed = {}
    for row in sorted(rows, key=lambda row: float(row.get("Total Time (ns)", 0))):
        key = key_of(row)
        while key in found:
            key += " again"
        found[key] = {
            ours: float(row[name]) if row[name] else None
            for name, ours in figures.items()
            if name in row
        }
        if report.startswith("rule_cuda"):
            found[key] = {**found[key], "name": stripped(row["API Name"])}
        if "Src Kind" in row:
            found[key] = {**found[key], "source": row["Src Kind"], "target": row["Dst Kind"]}
    return found


def ours(warehouse: tracewh.Warehouse, report: str, run: str) -> Keyed:
    relation = warehouse.sql(REPORTS[report][3], {"run": run})
    names = relation.columns[1:]
    rows = relation.fetchall()
    assert len({row[0] for row in rows}) == len(rows), "two rows have one key"
    return {
        key: {
            name: value if value is None or isinstance(value, str) else float(value)
            for name, value in zip(names, row, strict=True)
        }
        for key, *row in rows
    }


def half_a_digit(figure: str, row: Row) -> float:
    """Shares and times of statistics have one decimal there, and sizes three."""
    if figure.endswith("mb"):
        return 0.0005001
    if figure == "share_pct" or re.match(r"mean|median|stddev", figure):
        return 0.0501
    return 0.0


@pytest.mark.parametrize("export", EXPORTS)
def test_nothing_but_the_listed_rows_differs(
    shared: Path, warehouse: tracewh.Warehouse, export: str
) -> None:
    tables = []
    for path in sorted((shared / EXPORTS[export][1]).glob("*.csv*")):
        report = path.name.partition(".")[0]
        said = theirs(report, read(path))
        tables.append(
            Table(REPORTS[report][0], ours(warehouse, report, export), said, half_a_digit)
        )
    assert sum(len(table.theirs) for table in tables) == ROWS[export]
    assert problems(f"nsys {export}", tables) == []


@pytest.mark.parametrize("export", [e for e in EXPORTS if e != "cloverleaf_a100"])
def test_ranges_of_a_name_are_the_rows_of_that_name(
    shared: Path, warehouse: tracewh.Warehouse, export: str
) -> None:
    """nsys has a row for each text, which emit_nvtx gives numbers; our view has one for each operator.

    Nearly all texts occur once or twice, so that the least and the largest time are all times.
    """
    folder = shared / EXPORTS[export][1]
    [path] = folder.glob("nvtx_sum.csv*")
    lengths: dict[str, list[float]] = defaultdict(list)
    whole: dict[str, tuple[float, ...]] = {}
    for row in read(path):
        name = re.sub(r"(, seq = \d+)?, op_id = \d+$", "", row["Range"]).removeprefix("MPI:")
        calls, least, most = (int(row[c]) for c in ("Instances", "Min (ns)", "Max (ns)"))
        if calls <= 2:
            lengths[name] += [least, most][:calls]
        else:
            columns = ("Total Time (ns)", "Instances", "Med (ns)", "Min (ns)", "Max (ns)")
            whole[name] = tuple(float(row[c]) for c in (*columns, "StdDev (ns)"))
    expected = whole | {
        name: (
            sum(ns),
            len(ns),
            statistics.median(ns),
            min(ns),
            max(ns),
            statistics.stdev(ns) if len(ns) > 1 else 0,
        )
        for name, ns in lengths.items()
    }
    assert len(expected) == len(whole) + len(lengths)
    rows = warehouse.sql(
        """SELECT name, total_us, calls, median_us, min_us, max_us, coalesce(stddev_us, 0)
        FROM range_stats(run := $run, combine_workers := TRUE)""",
        {"run": export},
    ).fetchall()
    found = {
        name: (1000 * total, calls, *(1000 * value for value in times))
        for name, total, calls, *times in rows
    }
    assert found.keys() == expected.keys()
    for name, figures in expected.items():
        assert found[name] == pytest.approx(figures, abs=0.0501), name
