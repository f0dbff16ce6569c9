"""What the plugin says of a trace as a whole: its pages, its devices, its job."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from tests.parity.differences import Row, Table
from tests.parity.plugin.trace import OF_TRACE

if TYPE_CHECKING:
    from tests.parity.plugin.trace import Trace

#: The plugin's pages, and the view of ours that has what each shows.
PAGES = {
    "Overview": "step_breakdown",
    "Operator": "operator_stats",
    "Kernel": "kernel_stats",
    "Trace": "runs",
    "Memory": "memory_stats",
    "Module": "module_stats",
    "Lightning": "lightning_stats",
}

#: Its kinds of events by the file's categories; the steps of GPU annotations are steps to it.
KINDS = """
    SELECT
        CASE
            WHEN e.name LIKE 'ProfilerStep#%' THEN 'ProfilerStep'
            WHEN e.category IN ('cpu_op', 'Operator') THEN 'Operator'
            WHEN e.category IN ('kernel', 'Kernel') THEN 'Kernel'
            WHEN e.category IN ('gpu_memcpy', 'Memcpy') THEN 'Memcpy'
            WHEN e.category IN ('gpu_memset', 'Memset') THEN 'Memset'
            WHEN e.category LIKE '%user_annotation' THEN 'user_annotation'
            WHEN e.category = 'python_function' AND e.is_module THEN 'Module'
            WHEN e.category = 'python_function' THEN 'python_function'
            WHEN e.category IN ('Memory', 'Trace') THEN e.category
            WHEN lower(e.category) LIKE '%runtime' OR e.category LIKE '%driver' THEN 'Runtime'
        END AS kind,
        count(*) AS count
    FROM (
        SELECT t.run, t.worker, t.span, t.raw_category AS category, t.name,
            t.python_module_id IS NOT NULL AS is_module
        FROM host_events AS t
        UNION ALL
        SELECT t.run, t.worker, t.span, t.raw_category, t.name, FALSE FROM device_events AS t
        UNION ALL
        SELECT t.run, t.worker, t.span, 'Memory', '', FALSE FROM memory_records AS t
        UNION ALL
        SELECT t.run, t.worker, t.span, t.category, '', FALSE FROM other_events AS t
    ) AS e
    WHERE e.run = $run AND e.worker = $worker AND e.span = $span
    GROUP BY ALL
"""

#: The plugin's names of the roles.
ROLE = {
    "Kernel": "kernel",
    "Memcpy": "memcpy",
    "Memset": "memset",
    "Communication": "communication",
    "Runtime": "runtime",
    "DataLoader": "dataloader",
    "CpuOp": "cpu_exec",
}

#: The plugin takes a label for an operator.
ROLES = """
    WITH roles AS (
        SELECT CASE WHEN e.role = 'label' THEN 'cpu_exec' ELSE e.role END AS role, e.start_ns, e.duration_ns
        FROM event_roles(run := $run, worker := $worker, span := $span) AS e
    ),
    started AS (
        SELECT r.role, r.start_ns, r.start_ns + r.duration_ns AS end_ns,
            max(r.start_ns + r.duration_ns) OVER (
                PARTITION BY r.role ORDER BY r.start_ns, r.start_ns + r.duration_ns DESC
                ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
            ) AS ended_ns
        FROM roles AS r
    )
    SELECT s.role,
        count(*) FILTER (s.ended_ns IS NULL OR s.ended_ns < s.start_ns) AS pieces,
        sum(greatest(s.end_ns - greatest(s.start_ns, coalesce(s.ended_ns, 0)), 0)) / 1000 AS ran_us
    FROM started AS s
    GROUP BY ALL
"""


def pages(trace: Trace) -> Iterator[Table]:
    """Which pages there are, and what it found of each kind of event."""
    shown = {
        page: {"shown": view == "runs" or bool(trace.rows(view))} for page, view in PAGES.items()
    }
    said: list[str] = trace.said["views"]
    yield Table("pages", shown, {page: {"shown": page in said} for page in {*PAGES, *said}})
    counts = {row["kind"]: row["count"] for row in trace.sql(KINDS) if row["kind"]}
    kinds = trace.said["events_by_type"].items()
    yield Table(
        "events",
        {"all": {"count": sum(counts.values())}}
        | {kind: {"count": n} for kind, n in counts.items()},
        {"all": {"count": trace.said["n_events"]}} | {kind: {"count": n} for kind, n in kinds},
    )
    flags = {
        "has_runtime": "Runtime" in counts,
        "has_kernel": "Kernel" in counts,
        "has_memcpy_or_memset": "Memcpy" in counts or "Memset" in counts,
        "has_communication": bool(trace.rows("collectives")),
        "is_pytorch_lightning": bool(trace.rows("lightning_stats")),
    }
    for flag, name in (("use_dp", "DataParallel"), ("use_ddp", "DistributedDataParallel")):
        found = trace.sql(
            f"SELECT 1 FROM host_events AS t {OF_TRACE} AND t.name = '{name}.forward' LIMIT 1"
        )
        flags[flag] = bool(found)
    yield Table("events", {"flags": flags}, {"flags": {flag: trace.said[flag] for flag in flags}})


def file(trace: Trace) -> Iterator[Table]:
    """The file, its worker and what it says of devices and of the job, which is kept as it is."""
    [row] = trace.sql(
        "SELECT t.worker, t.source_path, t.events, t.schema_version, t.metadata, t.rank,"
        f" t.world_size FROM traces AS t {OF_TRACE}"
    )
    metadata = json.loads(row["metadata"])
    devices = trace.sql(f"SELECT t.* FROM devices AS t {OF_TRACE}")
    job = metadata.get("distributedInfo") or {}
    [first] = trace.sql(
        "SELECT min(t.start_ns) AS ns FROM"
        f" (SELECT t.start_ns FROM traces AS t {OF_TRACE} UNION ALL"
        f" SELECT t.time_ns FROM other_events AS t {OF_TRACE} AND t.category = 'Trace') AS t"
    )
    ours = {
        "worker": row["worker"],
        "file": row["source_path"].rpartition("/")[2],
        "n_trace_events": row["events"],
        "data_schema_version": row["schema_version"],
        "profiler_start_ts": trace.us(first["ns"]),
    }
    theirs = {name: trace.said[name] for name in ours}
    yield Table("traces", {"file": ours}, {"file": theirs}, _tolerance)
    yield Table(
        "devices",
        {str(row["device_id"]): json.loads(row["properties"]) for row in devices},
        {str(device["id"]): dict(device.items()) for device in trace.said["device_props"] or []},
    )
    info = trace.said["distributed_info"] or {}
    yield Table("traces", {"job": job}, {"job": _plain(info)})
    ranks = {name: row[name] for name in ("rank", "world_size") if row[name] is not None}
    said = {name: info[name] for name in ("rank", "world_size") if name in info}
    yield Table("traces", {"ranks": ranks}, {"ranks": said})
    used = {row["device_id"]: row["device_name"] for row in trace.rows("topology")}
    names = {device["id"]: device["name"] for device in trace.said["device_props"] or []}
    yield Table(
        "topology",
        {f"device {n}": {"used": True, "name": name} for n, name in used.items() if n is not None},
        {f"device {n}": {"used": True, "name": names.get(n)} for n in trace.said["used_devices"]},
    )


def roles(trace: Trace) -> Iterator[Table]:
    """How long each role of a step ran in the whole trace, and in how many pieces."""
    nothing = {role: {"pieces": 0, "ran_us": 0.0} for role in ROLE.values()}
    yield Table(
        "event_roles",
        nothing | {row.pop("role"): row for row in trace.sql(ROLES)},
        {
            ROLE[role]: {"pieces": row["merged_ranges"], "ran_us": row["sum"]}
            for role, row in trace.said["role_ranges"].items()
        },
    )


def tensor_cores(trace: Trace) -> Iterator[Table]:
    """The plugin's pie of kernels: those that use tensor cores, of all."""
    kernels = trace.rows("kernel_stats")
    total = sum(row["total_us"] for row in kernels)
    with_them = sum(row["total_us"] for row in kernels if row["uses_tensor_cores"])
    said = trace.said["tc_used_ratio"]
    yield Table(
        "kernel_stats",
        {"all": {"uses_tensor_cores_pct": 100 * with_them / total if total else None}},
        {"all": {"uses_tensor_cores_pct": None if said is None else 100 * said}},
        lambda figure, row: 0.001,
    )
    share = trace.sql(
        "SELECT e.share_pct FROM eligible_kernel_share("
        "run := $run, worker := $worker, span := $span) AS e"
    )
    yield Table(
        "eligible_kernel_share",
        {"all": {"share_pct": share[0]["share_pct"] if share else 0.0}},
        {"all": {"share_pct": 100 * trace.said["tc_eligible_ops_kernel_ratio"]}},
        lambda figure, row: 0.001,
    )


def _tolerance(figure: str, row: Row) -> float:
    """Floats hold an instant to 0.25 us."""
    return 0.25 if figure == "profiler_start_ts" else 0.0


def _plain(said: Any) -> Any:
    """The same without memory of what was read."""
    if isinstance(said, dict):
        return {name: _plain(value) for name, value in said.items()}
    return [_plain(value) for value in said] if isinstance(said, list) else said
