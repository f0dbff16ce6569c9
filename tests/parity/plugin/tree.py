"""The plugin's tree of operators of each thread: its nodes, and what they launched."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tests.parity.differences import Row, Table
from tests.parity.plugin.distributed import COLLECTIVE
from tests.parity.plugin.trace import OF_TRACE

if TYPE_CHECKING:
    from tests.parity.plugin.trace import Trace

#: Its kinds of nodes; of an event that is no operator, the operators are those that it takes for one.
NODES = {
    "steps": "ProfilerStepNode",
    "dataloaders": "DataLoaderNode",
    "optimizers": "OptimizerNode",
    "modules": "ModuleNode",
    "operators": "OperatorNode",
}

THREADS = f"""
    WITH nodes AS (
        SELECT
            t.thread_id, t.start_ns, t.start_ns + t.duration_ns AS end_ns,
            CASE
                WHEN t.name LIKE 'ProfilerStep#%' THEN 'steps'
                WHEN t.name LIKE 'enumerate(Data%' THEN 'dataloaders'
                WHEN t.name LIKE 'Optimizer.step%' THEN 'optimizers'
                WHEN t.python_module_id IS NOT NULL THEN 'modules'
                WHEN t.inner_self_ns IS NOT NULL THEN 'operators'
                WHEN t.name LIKE 'Optimizer.%' AND t.raw_category = 'Operator' THEN 'operators'
                WHEN regexp_matches(t.name, '{COLLECTIVE}') THEN 'operators'
            END AS kind
        FROM host_events AS t {OF_TRACE}
    ),
    launched AS (
        SELECT h.thread_id, count(*) AS device_nodes, sum(t.duration_ns) / 1000 AS device_us
        FROM device_events AS t
        INNER JOIN host_events AS h
            ON (h.run, h.worker, h.span, h.event_id) = (t.run, t.worker, t.span, t.launch_id)
        {OF_TRACE} AND t.kind IN ('compute', 'communication', 'memcpy', 'memset')
        GROUP BY ALL
    ),
    calls AS (
        SELECT t.thread_id, count(*) AS runtimes
        FROM runtime_calls AS t {OF_TRACE} AND t.op_id IS NOT NULL
        GROUP BY ALL
    )
    SELECT
        n.thread_id AS thread,
        {", ".join(f"count(*) FILTER (n.kind = '{kind}') AS {kind}" for kind in NODES)},
        min(n.start_ns) AS start_ns,
        max(n.end_ns) AS end_ns,
        any_value(coalesce(c.runtimes, 0)) AS runtimes,
        any_value(coalesce(l.device_nodes, 0)) AS device_nodes,
        any_value(coalesce(l.device_us, 0)) AS device_us
    FROM nodes AS n
    LEFT JOIN launched AS l ON l.thread_id = n.thread_id
    LEFT JOIN calls AS c ON c.thread_id = n.thread_id
    WHERE n.kind IS NOT NULL
    GROUP BY ALL
"""


def trees(trace: Trace) -> Iterator[Table]:
    """Of each thread, which on the plugin's side may be a stream of GPU annotations."""

    def tolerance(figure: str, row: Row) -> float:
        coarse = 0.25 * int(row["device_nodes"] or 0) if trace.has_coarse_times else 0.0
        return max(1.0, coarse) if figure.endswith("_us") else 0.0

    ours = {}
    for row in trace.sql(THREADS):
        thread = str(row.pop("thread"))
        start, end = (trace.us(row.pop(side)) for side in ("start_ns", "end_ns"))
        ours[thread] = {**row, "start_us": start, "end_us": end}
    theirs = {}
    for thread, said in trace.said["op_tree"].items():
        found = dict(said["nodes"].items())
        theirs[thread] = {
            **{kind: found.pop(word, 0) for kind, word in NODES.items()},
            "start_us": said["root_start"],
            "end_us": said["root_end"],
            "runtimes": said["runtimes"],
            "device_nodes": said["device_nodes"],
            "device_us": said["root_device_duration"],
        }
        theirs[thread]["operators"] -= 1  # the root
        assert not found
    yield Table("host_events", ours, theirs, tolerance)
