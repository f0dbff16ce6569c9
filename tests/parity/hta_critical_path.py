"""HTA's critical paths of a trace, beside ours: how much of each kind of bound.

HTA takes the heaviest path through a graph in which the time between operators, and the time that a
call waits, weighs nothing; ours goes back from the end and explains every instant. Beside steps it was
asked for the time of an annotation, which is no view of ours, but the block under the view answers.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from tests.parity.differences import Row, Table

if TYPE_CHECKING:
    import tracewh

#: Kinds of bound: our names, and HTA's.
BOUNDS = {
    "cpu": "cpu_bound",
    "data_loading": "cpu_bound",
    "device_compute": "gpu_compute_bound",
    "device_memory": "gpu_compute_bound",
    "device_communication": "gpu_communication_bound",
    "kernel_kernel_delay": "gpu_kernel_kernel_overhead",
    "launch_delay": "gpu_kernel_launch_overhead",
}

#: The n-th annotation of a name, until what was launched in it has ended; without a name, all.
WINDOW = """
    windows AS MATERIALIZED (
        SELECT t.run, t.worker, t.span, 1 AS trace, 1 AS chain, NULL::BIGINT AS event_id,
            w.end_ns, w.from_ns, w.end_ns AS to_ns
        FROM traces AS t, (
            SELECT a.start_ns AS from_ns,
                greatest(a.start_ns + a.duration_ns, max(d.start_ns + d.duration_ns)) AS end_ns
            FROM (
                SELECT h.start_ns, h.duration_ns
                FROM host_events AS h
                WHERE h.run = $run AND h.category = 'user_annotation' AND contains(h.name, $name)
                ORDER BY h.event_id LIMIT 1 OFFSET $number
            ) AS a
            LEFT JOIN host_events AS h
                ON h.run = $run AND h.start_ns BETWEEN a.start_ns AND a.start_ns + a.duration_ns
            LEFT JOIN device_events AS d
                ON d.run = $run AND d.launch_id = h.event_id AND d.kind <> 'sync'
            GROUP BY a.start_ns, a.duration_ns
        ) AS w
        WHERE t.run = $run
    )
"""
OF_WINDOW = f"""
    WITH {WINDOW}
    SELECT
        coalesce(p.bound::VARCHAR, CASE d.kind WHEN 'compute' THEN 'device_compute'
            WHEN 'communication' THEN 'device_communication' END,
            CASE WHEN d.kind IS NULL THEN 'cpu' ELSE 'device_memory' END),
        (p.end_ns - p.start_ns) / 1000
    FROM critical_pieces('windows') AS p
    LEFT JOIN device_events AS d ON d.run = $run AND d.event_id = p.event_id
"""
OF_STEP = """
    SELECT p.bound, p.duration_us
    FROM critical_path(run := $run) AS p
    WHERE p.step IS NOT DISTINCT FROM (
        SELECT s.step FROM steps AS s WHERE s.run = $run ORDER BY s.start_ns LIMIT 1 OFFSET $number
    )
"""


def critical_paths(
    corpus: tracewh.Warehouse, run: str, said: dict[str, dict[str, Any] | None]
) -> Iterator[Table]:
    """By kind of bound."""
    for section in sorted(name for name in said if name.startswith("critical_path_")):
        asked = said[section]
        if asked is None:
            continue  # HTA failed
        where: dict[str, Any] = {"run": run, "number": asked["instance"] or 0}
        if asked["annotation"] in ("", "ProfilerStep"):
            rows = corpus.sql(OF_STEP, where).fetchall()
        else:
            rows = corpus.sql(OF_WINDOW, {**where, "name": asked["annotation"]}).fetchall()
        ours: dict[str, float] = defaultdict(float)
        for bound, duration_us in rows:
            if bound in BOUNDS:
                ours[BOUNDS[bound]] += duration_us
        theirs = {bound: us for bound, us in asked["duration_by_bound"].items() if us > 0}
        yield Table("critical_path", _rows(section, ours), _rows(section, theirs), lambda *_: 0.001)


def _rows(section: str, durations: dict[str, float]) -> dict[str, Row]:
    return {f"{section} {name}": {"duration_us": us} for name, us in durations.items()}
