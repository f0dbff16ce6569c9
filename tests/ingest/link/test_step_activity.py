"""What ran together in each step, settled once: the views of steps read nothing else."""

from __future__ import annotations

import tracewh
from tests.derived_tables import STEP_ROLES
from tests.ingest.conftest import IngestEvents, call, device, host


def test_sets_of_roles_in_a_step_and_outside(ingest_events: IngestEvents) -> None:
    """Time in us; the step is extended to the kernel that it launches.

            0    5    10   15   20   25
    step      ========----              2-10, extended to 14
    op        --------                  2-10
    launch     --                       3-5
    kernel         ---------            7-14
    memset                     --       17-19
    """
    trace = ingest_events(
        [
            host("user_annotation", "ProfilerStep#1", 2, 10),
            host("cpu_op", "aten::mm", 2, 10),
            call(3, 5, 1),
            device(7, 14, correlation=1),
            device(17, 19, "gpu_memset", "Memset (Device)"),
        ]
    )
    assert trace.rows("""
        SELECT
            a.step_event_id, a.kernel, a.memset, a.runtime, a.cpu_exec, a.duration_ns // 1000
        FROM step_activity AS a ORDER BY a.step_event_id, a.duration_ns
    """) == [
        (0, False, False, True, True, 2),
        (0, False, False, False, True, 3),
        (0, True, False, False, True, 3),
        (0, True, False, False, False, 4),
        (None, False, True, False, False, 2),
    ]


def test_a_trace_without_complete_events_has_no_activity(ingest_events: IngestEvents) -> None:
    trace = ingest_events([{"ph": "i", "name": "Record Window End", "ts": 500, "s": "g"}])
    assert trace.rows("FROM step_activity") == []


def test_every_real_trace_holds_what_its_events_give(corpus: tracewh.Warehouse) -> None:
    settled, asked = "FROM step_activity", f"FROM ({STEP_ROLES})"
    assert len(corpus.sql(settled).fetchall()) > 500
    for one, other in ((settled, asked), (asked, settled)):
        assert corpus.sql(f"{one} EXCEPT ALL {other}").fetchall() == []
