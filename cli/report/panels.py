"""The panels of the report: each shows the rows of a query in sql/queries/report."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tracewh.cli.output.step_categories import STEP_CATEGORIES
from tracewh.cli.report.report_trace import OTHER

#: Maximum number of rows of a table in the page; the queries have it as their LIMIT.
MOST_ROWS = 2000
#: Time intervals of a curve per device; the page has the lowest and the highest point of each.
INTERVALS = 1000
#: What the file of a report holds of single blocks of two timelines: levels of blocks, blocks, and operators and
#: kernels of each. `tracewh serve` queries any block.
BLOCK_LEVELS, MOST_BLOCKS, MOST_IN_BLOCK = 2, 50, 20


@dataclass(frozen=True, slots=True)
class Panel:
    """A query of sql/queries/report, which has the name of the panel, and its chart.

    Args:
        id: Identifier of the panel in the page.
        title: Title of the panel.
        view: The view whose header describes the columns.
        chart: How to draw the rows; None for only a table.
        table: Whether to show the rows as a table too.
        left_out: Message if the query filters out all rows of the view.
        undrawn: Message if there are rows, but the chart has nothing to draw.
        is_of_block: Whether the query has a parameter for a block of the timelines that are compared.
        has_finding: Whether a query of sql/queries/report/findings says in a sentence what its rows show. It reads them
            from the table panel_rows.
    """

    id: str
    title: str
    view: str
    chart: Mapping[str, Any] | None = None
    table: bool = True
    left_out: str = ""
    undrawn: str = ""
    is_of_block: bool = False
    has_finding: bool = True

    @property
    def query(self) -> str:
        """Its query in sql/queries."""
        return f"report/{self.id.replace('-', '_')}"

    @property
    def finding(self) -> str | None:
        """The query of its finding in sql/queries."""
        return f"report/findings/{self.id.replace('-', '_')}" if self.has_finding else None


@dataclass(frozen=True, slots=True)
class Section:
    """Panels under one heading."""

    id: str
    title: str
    panels: tuple[Panel, ...] = field(default=())


ROLES = tuple(f"{category}_us" for category in STEP_CATEGORIES)


def _top(label: str, *values: str, sums: tuple[str, ...]) -> dict[str, Any]:
    """Return a bar chart of the largest rows.

    Args:
        label: The column that names a row.
        values: The columns that the user can choose.
        sums: Those of them that can be added up, so that the other rows become one bar. The sum of
            nested times, e.g. totals, would count the same time several times.
    """
    return {"kind": "top", "label": label, "values": values, "sums": sums}


QUALITY = Panel(
    "quality",
    "Trace quality",
    "trace_quality",
    has_finding=False,
)

STEPS = Panel(
    "steps",
    "Time per step",
    "step_breakdown",
    {"kind": "stacked", "x": "step", "values": ROLES},
)

OVERVIEW = Section(
    "overview",
    "Overview",
    (
        Panel(
            "recommendations",
            "Recommendations",
            "recommendations",
            has_finding=False,
        ),
        Panel(
            "gpus",
            "Devices",
            "gpu_summary",
        ),
        STEPS,
        QUALITY,
    ),
)

OPERATORS = Section(
    "operators",
    "Operators",
    (
        Panel(
            "operators-table",
            "Operators by time",
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
            "source_lines",
            _top(
                "line",
                "host_self_us",
                "device_us",
                "allocated_bytes",
                sums=("host_self_us", "device_us", "allocated_bytes"),
            ),
        ),
        Panel(
            "annotations",
            "Annotations",
            "annotation_breakdown",
            # They nest, so no sum of theirs is a time.
            _top("name", "host_us", "device_us", sums=()),
            left_out="All annotations are steps, which Time per step shows.",
        ),
        Panel(
            "flops",
            "Roofline of matrix products, convolutions and attention",
            "operator_flops_summary",
            {
                "kind": "roofline",
                "label": "name",
                "x": "intensity",
                "y": "tflops",
                "time": "device_us",
            },
            undrawn="No operator has both its work and its device time in the trace, so none has a place in a "
            "roofline; trace_quality says how to record them.",
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
            "kernel_type_breakdown",
            {"kind": "shares", "label": "kind", "value": "total_us"},
        ),
        Panel(
            "kernels-table",
            "Kernels by time",
            "kernel_stats",
            _top("name", "total_us", "calls", "mean_us", sums=("total_us",)),
        ),
        Panel(
            "sequences",
            "Kernel sequences that repeat",
            "kernel_sequences",
        ),
        Panel(
            "roofline",
            "Roofline by CUPTI counters",
            "roofline",
            {
                "kind": "roofline",
                "label": "name",
                "x": "intensity",
                "y": "achieved_tflops",
                "time": "duration_us",
            },
            undrawn="No kernel has all counters that a roofline needs: kineto__cuda_core_flops, "
            "dram__bytes_read.sum, dram__bytes_write.sum and gpu__time_duration.sum.",
        ),
    ),
)

DEVICE = Section(
    "device",
    "Device",
    (
        Panel(
            "critical-path",
            "Critical path of the steps",
            "critical_path_summary",
            {"kind": "shares", "label": "bound", "value": "duration_us"},
        ),
        Panel(
            "idle-time",
            "Idle time of the streams by cause",
            "idle_time",
        ),
        Panel(
            "gaps",
            "Longest gaps",
            "gpu_gaps",
            left_out="No gap is longer than 500 us.",
        ),
        Panel(
            "queues",
            "Launch queues",
            "queue_length_summary",
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
            "memory_stats",
        ),
        Panel(
            "memory-curve",
            "Memory over time",
            # A chart shows only the lowest and the highest point of each interval.
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
            "memory_events",
        ),
        Panel(
            "memory-peak",
            "Memory at peak",
            "memory_at_peak",
        ),
    ),
)

DATA = Section(
    "input-pipeline",  # the page has an element called data
    "Input pipeline and CPU",
    (
        Panel(
            "data-summary",
            "Is the data loader the bottleneck?",
            "data_preparation_summary",
            has_finding=False,
        ),
        Panel(
            "data-pipeline",
            "Operators of the input pipeline",
            "data_pipeline",
            has_finding=False,
        ),
        Panel(
            "data-queue",
            "Queues of the input pipeline over time",
            "data_queue",
            {
                "kind": "curve",
                "x": "time_ms",
                "by": "queue",
                "values": ("queue_size",),
            },
            table=False,
        ),
        Panel(
            "cpu",
            "Use of the CPUs over time",
            "cpu_utilization",
            {
                "kind": "curve",
                "x": "time_ms",
                "by": "process",
                "values": ("busy_pct", "idle_pct"),
            },
            table=False,
        ),
    ),
)

STRAGGLER_WORKERS = Panel(
    "straggler-workers",
    "Pipeline: how much each worker slows the job down",
    "straggler_workers",
    {"kind": "heat", "x": "stage", "y": "dp_rank", "value": "slowdown"},
    undrawn="All workers together slow this job down by less than 3 %: there is nothing to explain.",
)

STRAGGLER_PARTS = Panel(
    "straggler-parts",
    "Pipeline: which operations, ranks and stages slow the job down",
    "straggler_what_if_parts",
    has_finding=False,
)

COMMUNICATION = Section(
    "communication",
    "Communication",
    (
        Panel(
            "overlap",
            "Computation and communication by step",
            "comm_overlap",
            {
                "kind": "stacked",
                "x": "step",
                "by": "worker",
                "values": ("computation_us", "overlap_us", "communication_us", "other_us"),
            },
            left_out="This run has no communication, or has it on the host alone, where everything around a "
            "collective would count as computation.",
        ),
        Panel(
            "wait",
            "Collectives: transfer and wait",
            "comm_wait",
            {
                "kind": "stacked",
                "x": "step",
                "by": "worker",
                "values": ("transfer_us", "synchronizing_us", "uncompared_us"),
            },
        ),
        Panel(
            "stragglers",
            "Workers that others wait for",
            "stragglers",
        ),
        STRAGGLER_WORKERS,
        Panel(
            "collectives",
            "Collectives",
            "collective_stats",
        ),
    ),
)

STACKS = Panel(
    "stacks",
    "Call stacks",
    "flamegraph",
    {"kind": "flame", "path": "stack", "values": ("value_us",)},
)

MODULES = Section(
    "modules",
    "Modules",
    (
        Panel(
            "module-flame",
            "Module tree",
            "module_tree",
            {"kind": "flame", "path": "path", "values": ("device_self_us", "host_self_us")},
        ),
        Panel(
            "modules-table",
            "Modules by time",
            "module_stats",
            _top(
                "module", "device_total_us", "host_total_us", "host_self_us", sums=("host_self_us",)
            ),
        ),
        STACKS,
    ),
)

COMPARED = Section(
    "compared",
    "Comparison with the baseline",
    (
        Panel(
            "diff-verdict",
            "Both runs in a sentence",
            "diff_verdict",
            {"kind": "two-runs"},
            table=False,
            has_finding=False,
        ),
        Panel(
            "diff-steps",
            "Step time differences",
            "diff_steps",
            {"kind": "delta", "label": "category", "values": ("delta_mean_us",)},
            left_out="The sentence above says why steps cannot be compared.",
        ),
        Panel(
            "diff-modules",
            "Differences by timeline block",
            "diff_modules",
            {"kind": "blocks"},
        ),
        Panel(
            "diff-operators",
            "Operators",
            "diff_operators",
            {
                "kind": "delta",
                "label": "name",
                "values": ("delta_device_self_us", "delta_host_self_us", "delta_calls"),
            },
            is_of_block=True,
        ),
        Panel(
            "diff-kernels",
            "Kernels",
            "diff_kernels",
            {"kind": "delta", "label": "name", "values": ("delta_total_us", "delta_calls")},
            is_of_block=True,
        ),
    ),
)

WORKERS = Section(
    "workers",
    "Workers",
    (
        Panel(
            "workers",
            "All workers of the run",
            "workers",
            {"kind": "workers"},
            left_out="The run has one worker only.",
        ),
    ),
)

#: The view that a finding of the verdict names -> the panel that shows it.
_PROOFS = {
    panel.view: panel.id
    for section in (
        OVERVIEW,
        WORKERS,
        OPERATORS,
        KERNELS,
        DEVICE,
        MEMORY,
        DATA,
        COMMUNICATION,
        MODULES,
    )
    for panel in section.panels
}

VERDICT_PANEL = Panel(
    "verdict",
    "The run in a sentence",
    "verdict",
    {"kind": "verdict", "panels": _PROOFS},
    table=False,
    has_finding=False,
)
VERDICT = Section("verdict", "Verdict", (VERDICT_PANEL,))

SECTIONS = (
    VERDICT,
    OVERVIEW,
    WORKERS,
    OPERATORS,
    KERNELS,
    DEVICE,
    MEMORY,
    DATA,
    COMMUNICATION,
    MODULES,
)

EVENTS = Panel(
    "events",
    "Events by time",
    "range_stats",
    _top("name", "self_us", "total_us", "calls", sums=("self_us",)),
)

#: What a page shows of a trace that has nothing else, by `ReportTrace.source`, beside the verdict.
ALONE = {
    "pipeline": Section("pipeline", "Pipeline", (STRAGGLER_WORKERS, STRAGGLER_PARTS)),
    OTHER: Section("events-by-name", "Events", (EVENTS, STACKS, QUALITY)),
}
#: Sources of traces without events.
TIMELESS = frozenset({"pipeline"})
