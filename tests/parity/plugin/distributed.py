"""The plugin's communication of a worker, and its page about the workers of a job."""

from __future__ import annotations

import json
from collections.abc import Iterator
from statistics import mean
from typing import TYPE_CHECKING, Any

from tests.parity.differences import Table
from tests.parity.plugin.trace import OF_TRACE

if TYPE_CHECKING:
    from tests.parity.plugin.trace import Trace

OVERLAP = ("computation_us", "overlap_us", "communication_us", "other_us")
WAIT = ("transfer_us", "synchronizing_us")

#: The collectives that the plugin knows.
COLLECTIVE = "^(nccl|gloo):(broadcast|reduce|all_reduce|all_gather|reduce_scatter)$"

#: The rows that the plugin takes for collectives, by the External id that host and GPU annotation
#: share: the later one counts. Its step is the first that holds all of it.
NODES = f"""
    WITH rows AS (
        SELECT t.name, t.external_id, t.start_ns, t.duration_ns, t.input_dims, t.input_types
        FROM host_events AS t {OF_TRACE}
        UNION ALL BY NAME
        SELECT t.name, t.external_id, t.start_ns, t.duration_ns
        FROM device_events AS t {OF_TRACE} AND t.kind = 'annotation'
    ),
    nodes AS (
        SELECT DISTINCT ON (r.external_id) r.*, r.start_ns + r.duration_ns AS end_ns
        FROM rows AS r
        WHERE regexp_matches(r.name, '{COLLECTIVE}')
        ORDER BY r.external_id, r.start_ns DESC
    )
    SELECT n.*, (
        SELECT min(t.step) FROM steps AS t {OF_TRACE}
            AND t.extended_start_ns <= n.start_ns AND n.end_ns <= t.extended_end_ns
    ) AS step
    FROM nodes AS n ORDER BY n.start_ns, n.end_ns DESC
"""


def communication(trace: Trace) -> Iterator[Table]:
    """Collectives of one worker, and how they overlap its computation."""
    said = trace.said["communication"]
    ours = {}
    rows = trace.rows("comm_overlap")
    theirs_of_steps = {row["step"]: row for row in said["overlap_by_step"]}
    # It does not know the steps of serving frameworks, and has one step for all of the trace.
    is_one = list(theirs_of_steps) == ["0"] and len(rows) == 1
    for row in rows:
        step = str(0 if is_one else row["step"] or 0)
        if step in theirs_of_steps and (row["step"] is not None or len(theirs_of_steps) == 1):
            # The plugin's contain the overlap.
            both = row["overlap_us"]
            ours[step] = {
                "computation_us": row["computation_us"] + both,
                "overlap_us": both,
                "communication_us": row["communication_us"] + both,
                "other_us": row["other_us"],
            }
    theirs = {
        row["step"]: {f"{word}_us": value for word, value in row.items() if word != "step"}
        for row in said["overlap_by_step"]
    }
    yield Table("comm_overlap", ours, theirs)

    calls = {row["name"]: {"calls": row["calls"]} for row in trace.rows("collective_stats")}
    named = said["comm_nodes_by_name"].items()
    total = {"calls": sum(row["calls"] for row in calls.values())}
    ranges = {"calls": said["comm_nodes"], "ranges": said["comm_node_kernel_ranges"]}
    yield Table(
        "collective_stats",
        calls | {"all": total | {"ranges": total["calls"]}},
        {name.partition(":")[2]: {"calls": n} for name, n in named} | {"all": ranges},
    )
    yield Table(
        "collectives",
        {str(row["backend"]): {"found": True} for row in trace.rows("collectives")},
        {backend.lower(): {"found": True} for backend in trace.said["comm_lib"]},
    )
    nodes = trace.sql(NODES)
    yield Table(
        "events",
        {
            f"collective {n}": {
                "name": row["name"],
                "step": row["step"] and str(row["step"]),
                "start_us": trace.us(row["start_ns"]),
                "end_us": trace.us(row["end_ns"]),
                "shape": json.loads(row["input_dims"] or "[]"),
                "type": row["input_types"],
            }
            for n, row in enumerate(nodes[:20])
        },
        {
            f"collective {n}": {
                "name": row["name"],
                "step": row["step"],
                "start_us": row["start"],
                "end_us": row["end"],
                "shape": row["input_shape"],
                "type": row["input_type"],
            }
            for n, row in enumerate(said["comm_nodes_first20"])
        },
    )
    for row in said["comm_nodes_first20"]:
        assert row["kernel_ranges"] == [[row["start"], row["end"]]]


def page(workers: list[Trace], said: Any) -> Iterator[Table]:
    """The page about a job, which the plugin makes of one worker, too."""
    assert said["ok"]
    assert said["workers"] == [worker.keys["worker"] for worker in workers]
    communicates = {worker.keys["worker"]: bool(worker.rows("collectives")) for worker in workers}
    has = dict(said["has_communication"].items())  # of workers with anything for its page
    yield Table(
        "collectives",
        {name: {"found": found} for name, found in communicates.items()}
        | {"page": {"found": all(communicates.values())}},
        {name: {"found": has.get(name, False)} for name in communicates}
        | {"page": {"found": said["view_shown"]}},
    )
    if said["view_shown"]:
        for worker in workers:
            yield from _of_worker(worker, said)
        yield from _devices(workers, said["gpu_info"] or {})


def _of_worker(worker: Trace, said: Any) -> Iterator[Table]:
    name = worker.keys["worker"]
    tail = {row["step"] for row in worker.rows("step_breakdown") if row["is_tail"]}
    overlaps = [row for row in worker.rows("comm_overlap") if row["step"] not in {None, *tail}]
    waits = [row for row in worker.rows("comm_wait") if row["step"] not in {None, *tail}]
    for view, section, figures, rows in (
        ("comm_overlap", "overlap", OVERLAP, overlaps),
        ("comm_wait", "wait", WAIT, waits),
    ):
        ours = {str(row["step"]): {figure: row[figure] for figure in figures} for row in rows}
        if rows:
            ours["all"] = {figure: _mean([row[figure] for row in rows]) for figure in figures}
        theirs = {
            step: dict(zip(figures, of_workers[name], strict=True))
            for step, of_workers in said[section].items()
            if name in of_workers
        }
        yield Table(view, _named(f"page, {name}", ours), _named(f"page, {name}", theirs))
    raw = said["raw"][name]
    ours = {
        str(row["step"]): {
            "total_us": sum(row[part] or 0 for part in (*WAIT, "uncompared_us")),
            "transfer_us": row["transfer_us"],
        }
        for row in waits
    }
    theirs = {
        step: {"total_us": row["total"], "transfer_us": row["real"]}
        for step, row in raw["step_comm_stats"].items()
    }
    yield Table("comm_wait", _named(f"sums, {name}", ours), _named(f"sums, {name}", theirs))
    ours = {
        row["name"]: {
            "calls": row["calls"],
            "total_bytes": row["total_bytes"] or 0,
            "total_us": row["total_us"],
            "transfer_us": row["transfer_us"],
        }
        for row in worker.rows("collective_stats")
    }
    words = {"size": "total_bytes", "latency": "total_us", "data_transfer": "transfer_us"}
    theirs = {
        row["name"].partition(":")[2]: {
            words.get(word, word): value for word, value in row.items() if word != "name"
        }
        for row in raw["comm_ops"]
    }
    yield Table("collective_stats", _named(f"page, {name}", ours), _named(f"page, {name}", theirs))


def _devices(workers: list[Trace], said: Any) -> Iterator[Table]:
    """The devices of each process, which the plugin leaves out where the file does not tell them."""
    ours = {
        f"{row['worker']}, GPU{row['device_id']}": {
            "node": row["hostname"],
            "process": row["process_id"] and f"Process {row['process_id']}",
            "name": row["device_name"],
            **_memory(worker, row["device_id"]),
        }
        for worker in workers
        for row in worker.rows("topology")
        if row["device_name"] is not None
    }
    [only, *_] = workers
    theirs = {
        f"{only.keys['worker']}, {device}": {
            "node": node,
            "process": process,
            "name": row["Name"],
            "memory": row["Memory"],
            "memory_bytes": row["Memory Raw"],
            "compute_capability": row["Compute Capability"],
        }
        for node, processes in said.items()
        for process, devices in processes.items()
        for device, row in devices.items()
    }
    yield Table("topology", ours, theirs)


def _memory(worker: Trace, device: int) -> dict[str, Any]:
    [row] = [row for row in worker.rows("gpu_summary") if row["device_id"] == device]
    return {
        "memory": f"{row['memory_bytes'] / 2**30:.2f} GB",
        "memory_bytes": row["memory_bytes"],
        "compute_capability": row["compute_capability"],
    }


def _mean(values: list[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return mean(known) if known else None


def _named(prefix: str, rows: dict[str, Any]) -> dict[str, Any]:
    return {f"{prefix}, {key}": row for key, row in rows.items()}
