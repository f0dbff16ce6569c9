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


def test_what_lies_in_another_event_counts_once_and_keeps_its_own_role(
    ingest_events: IngestEvents,
) -> None:
    """Time in us. What runs inside the data loader, a collective or a label counts as an operator, too.

               0    5    10   15   20   25   30
    forward    ====================              0-20
    aten::mm       -----                         4-9
    aten::add       --                           5-7
    loader                  --------            12-20  inside forward
    aten::cat                 ---               14-17  inside the loader
    gloo:all                             -----  25-30
    aten::copy_                            --   27-29
    """
    trace = ingest_events(
        [
            host("user_annotation", "forward", 0, 20),
            host("cpu_op", "aten::mm", 4, 9),
            host("cpu_op", "aten::add", 5, 7),
            host("user_annotation", "enumerate(DataLoader)#_Iter.__next__", 12, 20),
            host("cpu_op", "aten::cat", 14, 17),
            host("user_annotation", "gloo:all_reduce", 25, 30),
            host("cpu_op", "aten::copy_", 27, 29),
            host("user_annotation", "enumerate(DataLoader)#_Iter.__next__", 40, 50),
            host("cpu_op", "aten::stack", 44, 47),
        ]
    )
    assert trace.rows("""
        SELECT a.dataloader, a.host_communication, a.cpu_exec, a.cpu_op, a.duration_ns // 1000
        FROM step_activity AS a ORDER BY ALL
    """) == [
        (False, False, True, False, 7),
        (False, False, True, True, 5),
        (False, True, False, False, 3),
        (False, True, True, True, 2),
        (True, False, False, False, 7),
        (True, False, True, False, 5),
        (True, False, True, True, 6),
    ]


def test_a_trace_without_complete_events_has_no_activity(ingest_events: IngestEvents) -> None:
    trace = ingest_events([{"ph": "i", "name": "Record Window End", "ts": 500, "s": "g"}])
    assert trace.rows("FROM step_activity") == []


def test_every_real_trace_holds_what_its_events_give(corpus: tracewh.Warehouse) -> None:
    settled, asked = "FROM step_activity", f"FROM ({STEP_ROLES})"
    assert len(corpus.sql(settled).fetchall()) > 500
    for one, other in ((settled, asked), (asked, settled)):
        assert corpus.sql(f"{one} EXCEPT ALL {other}").fetchall() == []
