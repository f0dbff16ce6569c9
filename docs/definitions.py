"""Generate the page of definitions from the headers of the SQL that applies them."""

from __future__ import annotations

from tracewh.views import Registry, Spec

#: The headers that define a term: an object of sql/ or the newest version of a view.
TERMS: dict[str, dict[str, tuple[str, ...]]] = {
    "Time": {
        "Step": ("steps",),
        "Role": ("event_roles",),
        "Step breakdown": ("step_breakdown",),
        "Critical path": ("critical_path", "critical_path_summary"),
        "Figures of a run": ("trace_weights",),
        "Replay with something changed": ("replay_graph", "replay_targets", "replay_steps"),
        "Significant differences": ("diff_steps",),
        "Aligned blocks of two runs": ("diff_modules", "diff_blocks"),
    },
    "Operators, modules, stacks": {
        "Parents and nesting": ("host_events",),
        "Call, self time, device time": ("operator_costs",),
        "Module": ("module_costs",),
        "Replayed device time": (
            *("captured_nodes", "replay_candidates", "replay_matches", "replayed_events"),
            *("replayed_costs", "split_replays"),
        ),
        "Stack": ("stacks",),
        "Eligible for tensor cores": ("tensor_core_operators",),
        "Kinds of kernels by name": ("kernel_patterns",),
        "Operations and bytes from shapes": ("operator_work",),
        "Model FLOPs utilization (MFU)": ("mfu",),
    },
    "Devices": {
        "Busy and idle time": ("device_activity", "gpu_time"),
        "Reasons for idle streams": ("idle_time",),
        "Utilization, SM efficiency, occupancy": ("gpu_summary",),
        "Queue of a stream": ("queue_changes",),
        "Bandwidth of copies": ("bandwidth_pieces",),
        "Counters of a kernel": ("profiled_kernels",),
        "Roofline": ("roofline",),
    },
    "Memory": {
        "Lifetime of a block": ("memory_events",),
        "Peak": ("memory_at_peak",),
    },
    "Communication": {
        "Collective": ("collective_calls",),
        "Matched collectives, transfer and wait": ("matched_collectives",),
        "Overlap": ("comm_overlap",),
        "Lateness": ("stragglers",),
        "Clocks that differ": ("clocks_apart",),
        "Offset and drift of clocks": ("clock_pairs", "clock_balance", "aligned_clocks"),
        "Process groups without names": ("detected_groups",),
    },
}
_INDEX = """\
# How figures are defined

<!-- Written by `{command}` from the headers under sql/ and views/. -->

This page defines step, self time, busy time, overlap, peak and the other terms exactly. The text comes
from the headers of the SQL that computes the figures. If another tool reports a different figure, [the
differences](differences.md) say why."""


def render(registry: Registry, command: str) -> str:
    """The page."""
    specs = {spec.object_name: spec for spec in registry.all()}
    specs |= {view.name: view for view in registry.newest()}
    parts = [_INDEX.format(command=command)]
    for group, terms in TERMS.items():
        parts.append(f"## {group}")
        for term, names in terms.items():
            parts.append(f"### {term}")
            for name in names:
                parts += [specs[name].summary, specs[name].doc]
            parts.append(_sources(registry, [specs[name] for name in names]))
    return "\n\n".join(part for part in parts if part) + "\n"


def _sources(registry: Registry, specs: list[Spec]) -> str:
    """Links to the SQL of a term, and to the views that use it."""
    written = ", ".join(f"[{spec.name}](../{spec.path})" for spec in specs)
    names = {spec.object_name for spec in specs}
    views = [
        f"[{view.name}](views/{view.name}.md)"
        for view in registry.newest()
        if names & set(registry.needs(f"FROM {view.object_name}()"))
    ]
    tables = {spec.name for spec in specs if spec.kind == "table"}
    return f"SQL: {written}." + (f" Views: {', '.join(views)}." if views and not tables else "")
