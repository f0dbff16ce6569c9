"""The panels of the report: each is a query on the views, and how to draw its rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

#: Maximum number of rows of a table in the page; the queries have it as their LIMIT.
MOST_ROWS = 2000
#: Time intervals of a curve per device; the page has the lowest and the highest point of each.
STRETCHES = 1000


@dataclass(frozen=True, slots=True)
class Panel:
    """One query and its chart.

    Args:
        id: Identifier of the panel in the page.
        title: Title of the panel.
        sql: The query. {trace} stands for the arguments that select the trace, {run} for those that
            select its run, {start} for the start of the trace in ns, {diff} for the two compared runs.
        view: The view whose header describes the columns.
        chart: How to draw the rows; None for only a table.
        table: Whether to show the rows as a table too.
        left_out: Message if the query filters out all rows of the view.
    """

    id: str
    title: str
    sql: str
    view: str
    chart: Mapping[str, Any] | None = None
    table: bool = True
    left_out: str = ""


@dataclass(frozen=True, slots=True)
class Section:
    """Panels under one heading."""

    id: str
    title: str
    panels: tuple[Panel, ...] = field(default=())


ROLES = (
    "kernel_us",
    "memcpy_us",
    "memset_us",
    "communication_us",
    "runtime_us",
    "dataloader_us",
    "cpu_exec_us",
    "other_us",
)


def _top(label: str, *values: str, sums: tuple[str, ...]) -> dict[str, Any]:
    """Return a bar chart of the largest rows.

    Args:
        label: The column that names a row.
        values: The columns that the user can choose.
        sums: Those of them that can be added up, so that the other rows become one bar. The sum of
            nested times, e.g. totals, would count the same time several times.
    """
    return {"kind": "top", "label": label, "values": values, "sums": sums}


OVERVIEW = Section(
    "overview",
    "Overview",
    (
        Panel(
            "recommendations",
            "Recommendations",
            "FROM recommendations({trace})\n"
            "SELECT severity, rule, cost_per_step_us, confidence, message",
            "recommendations",
        ),
        Panel(
            "gpus",
            "Devices",
            "FROM gpu_summary({trace})\nSELECT * EXCLUDE (run, worker, span)",
            "gpu_summary",
        ),
        Panel(
            "steps",
            "Time per step",
            "FROM step_breakdown({trace})\nSELECT * EXCLUDE (run, worker, span)",
            "step_breakdown",
            {"kind": "stacked", "x": "step", "values": ROLES},
        ),
        Panel(
            "quality",
            "Trace quality",
            'FROM trace_quality({trace})\nSELECT severity, "check", count, message',
            "trace_quality",
        ),
    ),
)

OPERATORS = Section(
    "operators",
    "Operators",
    (
        Panel(
            "operators-table",
            "Operators by time",
            "FROM operator_stats({trace})\n"
            "SELECT * EXCLUDE (run, worker, span, input_dims, call_stack)\n"
            f"LIMIT {MOST_ROWS}",
            "operator_stats",
            _top(
                "name",
                "device_self_us",
                "host_self_us",
                "host_total_us",
                "calls",
                sums=("device_self_us", "host_self_us"),
            ),
        ),
        Panel(
            "lines",
            "Python source lines",
            "FROM source_lines({trace})\n"
            "SELECT source_file || ':' || source_line AS line, source_function, calls, host_self_us,\n"
            "    host_total_us, device_us, allocated_bytes, is_library, callee\n"
            f"LIMIT {MOST_ROWS}",
            "source_lines",
            _top(
                "line",
                "host_self_us",
                "device_us",
                "allocated_bytes",
                sums=("host_self_us", "device_us", "allocated_bytes"),
            ),
        ),
    ),
)

KERNELS = Section(
    "kernels",
    "Kernels",
    (
        Panel(
            "kernel-types",
            "Kernel types",
            "FROM kernel_type_breakdown({trace})\nSELECT * EXCLUDE (run, worker, span)",
            "kernel_type_breakdown",
            {"kind": "pie", "label": "kind", "value": "total_us"},
        ),
        Panel(
            "kernels-table",
            "Kernels by time",
            "FROM kernel_stats({trace})\n"
            "SELECT name, calls, total_us, share_pct, mean_us, median_us, min_us, max_us,\n"
            "    uses_tensor_cores, mean_blocks_per_sm, mean_est_achieved_occupancy_pct\n"
            f"LIMIT {MOST_ROWS}",
            "kernel_stats",
            _top("name", "total_us", "calls", "mean_us", sums=("total_us",)),
        ),
    ),
)

MEMORY = Section(
    "memory",
    "Memory",
    (
        Panel(
            "memory-stats",
            "Allocations by operator",
            "FROM memory_stats({trace})\n"
            f"SELECT * EXCLUDE (run, worker, span)\nLIMIT {MOST_ROWS}",
            "memory_stats",
        ),
        Panel(
            "memory-curve",
            "Memory over time",
            # A chart shows only the lowest and the highest point of each interval.
            "FROM memory_curve({trace})\n"
            "SELECT device, (time_ns - {start}) / 1e6 AS time_ms, allocated_bytes, reserved_bytes\n"
            "WINDOW\n"
            "    lowest AS (PARTITION BY device, {stretch} ORDER BY allocated_bytes, time_ns),\n"
            "    highest AS (PARTITION BY device, {stretch} ORDER BY allocated_bytes DESC, time_ns)\n"
            "QUALIFY row_number() OVER lowest = 1 OR row_number() OVER highest = 1\n"
            "ORDER BY device, time_ns",
            "memory_curve",
            {
                "kind": "curve",
                "x": "time_ms",
                "by": "device",
                "values": ("allocated_bytes", "reserved_bytes"),
                "filters": "memory-events",
            },
            table=False,
        ),
        Panel(
            "memory-events",
            "Largest memory blocks",
            "FROM memory_events({trace})\n"
            "SELECT device, operator, parent_operator, size_bytes,\n"
            "    (allocated_ns - {start}) / 1e6 AS allocated_ms,\n"
            "    (released_ns - {start}) / 1e6 AS released_ms, lifetime_us\n"
            f"ORDER BY size_bytes DESC, allocated_ns\nLIMIT {MOST_ROWS}",
            "memory_events",
        ),
        Panel(
            "memory-peak",
            "Memory at peak",
            "FROM memory_at_peak({trace})\n"
            f"SELECT * EXCLUDE (run, worker, span, peak_ns)\nLIMIT {MOST_ROWS}",
            "memory_at_peak",
        ),
    ),
)

COMMUNICATION = Section(
    "communication",
    "Communication",
    (
        Panel(
            "overlap",
            "Computation and communication by step",
            "FROM comm_overlap({run})\nSELECT worker, step, * EXCLUDE (run, worker, span, step)\n"
            "QUALIFY sum(overlap_us + communication_us) OVER () > 0\n"
            f"LIMIT {MOST_ROWS}",
            "comm_overlap",
            {
                "kind": "stacked",
                "x": "step",
                "by": "worker",
                "values": ("computation_us", "overlap_us", "communication_us", "other_us"),
            },
            left_out="This run has no communication.",
        ),
        Panel(
            "wait",
            "Collectives: transfer and wait",
            "FROM comm_wait({run})\nSELECT worker, step, * EXCLUDE (run, worker, span, step)\n"
            f"LIMIT {MOST_ROWS}",
            "comm_wait",
            {
                "kind": "stacked",
                "x": "step",
                "by": "worker",
                "values": ("transfer_us", "synchronizing_us", "uncompared_us"),
            },
        ),
        Panel(
            "collectives",
            "Collectives",
            f"FROM collective_stats({{run}})\nSELECT * EXCLUDE (run, span)\nLIMIT {MOST_ROWS}",
            "collective_stats",
        ),
    ),
)

MODULES = Section(
    "modules",
    "Modules",
    (
        Panel(
            "module-flame",
            "Module tree",
            "FROM module_tree({trace})\n"
            "SELECT path, count(*) AS calls, sum(host_self_us) AS host_self_us,\n"
            "    sum(device_self_us) AS device_self_us\n"
            f"GROUP BY path\nORDER BY host_self_us DESC\nLIMIT {MOST_ROWS}",
            "module_tree",
            {"kind": "flame", "path": "path", "values": ("device_self_us", "host_self_us")},
        ),
        Panel(
            "modules-table",
            "Modules by time",
            f"FROM module_stats({{trace}})\nSELECT * EXCLUDE (run, worker, span)\nLIMIT {MOST_ROWS}",
            "module_stats",
            _top(
                "module", "device_total_us", "host_total_us", "host_self_us", sums=("host_self_us",)
            ),
        ),
        Panel(
            "stacks",
            "Call stacks",
            f"FROM flamegraph({{trace}})\nSELECT stack, value_us\nLIMIT {MOST_ROWS}",
            "flamegraph",
            {"kind": "flame", "path": "stack", "values": ("value_us",)},
        ),
    ),
)

COMPARED = Section(
    "compared",
    "Comparison with the baseline",
    (
        Panel(
            "diff-overview",
            "Summary",
            "FROM diff_overview({diff})",
            "diff_overview",
            {"kind": "facts"},
            table=False,
        ),
        Panel(
            "diff-steps",
            "Step time differences",
            "FROM diff_steps({diff})\n"
            "SELECT category, delta_mean_us, delta_mean_us_pct, significant, p_value,\n"
            "    * EXCLUDE (category, delta_mean_us, delta_mean_us_pct, significant, p_value)",
            "diff_steps",
            {"kind": "delta", "label": "category", "values": ("delta_mean_us",)},
        ),
        Panel(
            "diff-modules",
            "Differences by timeline block",
            "FROM diff_modules({diff})\n"
            "SELECT position, path, depth, kind, name, matched, clock, baseline_us, experiment_us,\n"
            f"    delta_us, cumulative_delta_us\nORDER BY position\nLIMIT {MOST_ROWS}",
            "diff_modules",
            {"kind": "blocks"},
        ),
        Panel(
            "diff-operators",
            "Operators",
            "FROM diff_operators({diff})\n"
            "SELECT name, delta_device_self_us, delta_host_self_us, delta_calls, significant,\n"
            "    COLUMNS('^(baseline|experiment)_(calls|(host|device)_(self|total)_us)$')\n"
            f"LIMIT {MOST_ROWS}",
            "diff_operators",
            {
                "kind": "delta",
                "label": "name",
                "values": ("delta_device_self_us", "delta_host_self_us", "delta_calls"),
            },
        ),
        Panel(
            "diff-kernels",
            "Kernels",
            "FROM diff_kernels({diff})\n"
            "SELECT name, delta_total_us, delta_calls, significant,\n"
            "    COLUMNS('^(baseline|experiment)_(calls|total_us|mean_us)$')\n"
            f"LIMIT {MOST_ROWS}",
            "diff_kernels",
            {"kind": "delta", "label": "name", "values": ("delta_total_us", "delta_calls")},
        ),
    ),
)

SECTIONS = (OVERVIEW, OPERATORS, KERNELS, MEMORY, COMMUNICATION, MODULES)
