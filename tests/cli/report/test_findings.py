"""The sentence below the title of a panel: each finding on a few rows, and where it is shown."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import expect
from starlette.testclient import TestClient

from tests.cli.report.conftest import Visit, data_of
from tests.cli.report.conftest import revisit as visit
from tests.given import Tables
from tracewh.cli.report.panels import ALONE, COMPARED, SECTIONS
from tracewh.schema import SQL
from tracewh.views.queries import query_text

__all__ = ["visit"]

PANELS = {
    panel.id: panel
    for section in (COMPARED, *SECTIONS, *ALONE.values())
    for panel in section.panels
}
MOST_ROWS = 8
LONG = "void gemm<" + "float, " * 12 + "128, 64>(Params)"
SHORT = "void gemm<float, float, float, float…oat, 128, 64>(Params)"

#: For each panel: the columns that its finding reads, and pairs of rows and the sentence; None for no finding.
CASES: dict[str, tuple[str, list[tuple[str, str | None]]]] = {
    "gpus": (
        "device_id, gpu_utilization_pct, est_sm_efficiency_pct",
        [
            (
                "(0, 67.2, 44.6)",
                "Kernels run for 67 % of the time; averaged over all time, 45 % of the multiprocessors are in use.",
            ),
            ("(0, 67.2, NULL)", "Kernels run for 67 % of the time."),
            (
                "(0, 67.2, 44), (1, 12.4, 9), (2, 30, 20)",
                "Kernels run for 12 % of the time on device 1, and for 67 % on device 0.",
            ),
            ("(0, 67.2, 44), (1, 66.9, 9)", "Kernels run for 67 % of the time on each device."),
            ("(0, 67.2, 44), (1, NULL, NULL)", None),
        ],
    ),
    "steps": (
        "step, total_us, is_tail",
        [
            (
                "(4, 166000, FALSE), (5, 188000, FALSE), (6, 900000, TRUE)",
                "Complete steps take 166 ms to 188 ms; step 5 is the longest.",
            ),
            (
                "(4, 166000, FALSE), (5, 188000, FALSE), (6, 188000, FALSE)",
                "Complete steps take 166 ms to 188 ms.",
            ),
            ("(4, 166000, FALSE), (5, 166100, FALSE)", "All 2 complete steps take 166 ms."),
            ("(4, 166000, FALSE), (5, 188000, TRUE)", None),
            ("(NULL, 166000, FALSE)", None),
        ],
    ),
    "operators-table": (
        "name, device_self_us, device_share_pct, host_share_pct",
        [
            (
                "('aten::mm', 36, 36.4, 10), ('aten::add', 64, 63.6, 90)",
                "aten::add takes 64 % of the device time of all operators.",
            ),
            (
                "('aten::mm', NULL, NULL, 88), ('aten::add', NULL, NULL, 12)",
                "aten::mm takes 88 % of the host time of all operators.",
            ),
            (
                "('aten::mm', 0, NULL, 88), ('aten::add', 0, NULL, 12)",
                "aten::mm takes 88 % of the host time of all operators.",
            ),
            ("('aten::mm', 10, 50, 88), ('aten::add', 10, 50, 12)", None),
            ("('aten::mm', 10, 100, 100)", None),
            ("('aten::mm', NULL, NULL, 0), ('aten::add', NULL, NULL, 0)", None),
        ],
    ),
    "lines": (
        "line, source_function, host_self_us, is_library",
        [
            (
                (
                    "('/home/me/record.py:84', 'read', 45, FALSE), ('C:\\me\\a.py:1', 'f', 5, FALSE), "
                    "('/lib/threading.py:359', 'wait', 50, TRUE)"
                ),
                "read at record.py:84 takes 45 % of the host time of all lines.",
            ),
            (
                "('/a.py:1', 'f', 1, FALSE), ('C:\\me\\b.py:2', NULL, 3, FALSE)",
                "b.py:2 takes 75 % of the host time of all lines.",
            ),
            (
                "('/lib/a.py:1', 'f', 1, TRUE), ('/lib/b.py:2', 'g', 3, TRUE)",
                "g at b.py:2 takes 75 % of the host time of all lines.",
            ),
            ("('/a.py:1', 'f', 4, FALSE), ('/lib/b.py:2', 'g', 96, TRUE)", None),
            ("('/a.py:1', 'f', 4, FALSE), ('/b.py:2', 'g', 4, FALSE)", None),
            ("('/a.py:1', 'f', 4, FALSE)", None),
        ],
    ),
    "annotations": (
        "name, calls, host_us, device_us",
        [
            (
                "('forward', 1200, 212000, NULL), ('forward', 6, NULL, 900000), ('Optimizer.step#SGD.step', 6, 9, NULL)",
                "forward takes the most time on the host: 212 ms in 1,200 calls.",
            ),
            (
                "('load', 1, 30, NULL::DOUBLE), ('save', 9, 20, NULL)",
                "load takes the most time on the host: 30 us in 1 call.",
            ),
            ("('load', 1, 30, NULL::DOUBLE), ('save', 9, 30, NULL)", None),
            ("('load', 1, 30, NULL::DOUBLE)", None),
            ("('load', 1, NULL::DOUBLE, 30), ('save', 1, NULL, 20)", None),
        ],
    ),
    "events": (
        "name, calls, self_us",
        [
            (
                "('link', 1, 30), ('compile_file', 49, 66), ('wait', 4, 4)",
                "compile_file takes the most time by itself: 66 us in 49 calls, 66 % of all events.",
            ),
            (
                "('link', 1, 75), ('wait', 2, 25)",
                "link takes the most time by itself: 75 us in 1 call, 75 % of all events.",
            ),
            ("('link', 1, 30), ('wait', 2, 30)", None),
            ("('link', 1, 30)", None),
            ("('link', 1, 0), ('wait', 2, NULL)", None),
        ],
    ),
    "flops": (
        "name, total_flops",
        [
            (
                "('aten::mm', 60), ('aten::mm', 12), ('aten::conv2d', 28)",
                "aten::mm does 72 % of the floating-point operations.",
            ),
            ("('aten::mm', 60), ('aten::conv2d', NULL)", None),
            ("('aten::mm', 60), ('aten::mm', 12)", None),
        ],
    ),
    "kernel-types": (
        "kind, share_pct",
        [
            ("('compute', 100)", "The devices spend 100 % of their busy time on compute."),
            (
                "('compute overlapping memory', 75), ('memory', 25)",
                "The devices spend 75 % of their busy time on compute that overlaps copies and memsets.",
            ),
            ("('compute', 50), ('communication', 50)", None),
        ],
    ),
    "kernels-table": (
        "name, share_pct",
        [
            (
                f"('{LONG}', 40), ('b', 20), ('c', 10), ('d', 8), ('e', 7), ('f', 15)",
                f"{SHORT} takes 40 % of the kernel time; the first 5 of 6 kernels take 93 % together.",
            ),
            ("('a', 60), ('b', 40)", "a takes 60 % of the kernel time."),
            (
                "('a', 30), " + ", ".join(["('b', 10)"] * 7),
                "a takes 30 % of the kernel time.",
            ),
            ("('a', 50), ('b', 50)", None),
            ("('a', 100)", None),
        ],
    ),
    "sequences": (
        "pattern, calls, share_pct",
        [
            (
                "('aten::mm › k › l › m', 24, 34), ('aten::add › k › k › k', 1, 66)",
                None,
            ),
            (
                "('aten::mm › k › l › m', 24, 70), ('aten::add › k › k › k', 1, 30)",
                "aten::mm launches the same sequence of kernels 24 times, 70 % of the time of all sequences.",
            ),
        ],
    ),
    "roofline": (
        "name, bound",
        [
            (
                "('a', 'memory'), ('b', 'memory'), ('c', 'memory'), ('d', 'compute')",
                "3 kernels are bound by memory, 1 by compute.",
            ),
            (
                "('a', 'memory'), ('b', 'compute'), ('c', NULL)",
                "1 kernel is bound by memory, 1 by compute.",
            ),
            ("('a', 'memory'), ('a', 'memory')", "The kernel is bound by memory."),
            ("('a', 'compute'), ('b', NULL)", "1 of 2 kernels is bound by compute."),
            (
                "('a', 'compute'), ('b', 'compute'), ('c', NULL)",
                "2 of 3 kernels are bound by compute.",
            ),
            ("('a', NULL)", None),
        ],
    ),
    "critical-path": (
        "bound, share_pct",
        [
            (
                "('data_loading', 52), ('cpu', 48)",
                "The data loader is 52 % of the critical path.",
            ),
            ("('cpu', 100)", "Work of the host is 100 % of the critical path."),
            ("('data_loading', 50), ('cpu', 50)", None),
            ("('other', 100)", None),
        ],
    ),
    "idle-time": (
        "device_id, stream_id, idle_category, idle_us",
        [
            (
                "(0, 7, 'host_wait', 50), (0, 7, 'other', 20), (0, 9, 'host_wait', 30)",
                "The streams wait for the host to launch work in 80 % of their idle time.",
            ),
            (
                "(0, 7, 'kernel_wait', 50), (0, 7, 'other', 20)",
                "Short gaps between kernels are 71 % of the idle time of the streams.",
            ),
            (
                "(0, 7, 'kernel_wait', 20), (0, 7, 'other', 50)",
                "Neither late launches nor short gaps explain 71 % of the idle time of the streams.",
            ),
            ("(0, 7, 'host_wait', 50), (0, 9, 'other', 50)", None),
            ("(0, 7, 'host_wait', 0)", None),
        ],
    ),
    "gaps": (
        "duration_us, host_op",
        [
            (
                "(2300, 'aten::copy_'), (900, 'b')",
                "The longest of 2 gaps takes 2.3 ms; meanwhile the host is mainly in aten::copy_.",
            ),
            ("(2300, NULL), (900, 'b')", "The longest of 2 gaps takes 2.3 ms."),
            ("(2300, NULL)", "The gap takes 2.3 ms."),
            (", ".join(["(2300, NULL)"] * 8), "The longest gap takes 2.3 ms."),
        ],
    ),
    "queues": (
        "device_id, stream_id, max_length, full_us, full_pct",
        [
            (
                "(0, 7, 1030, 4000, 3.4), (0, 9, 1500, 100, 9)",
                "The queue of stream 7 is full for 4.0 ms, 3.4 % of the time.",
            ),
            (
                "(0, 7, 30, 0, 0), (1, 7, 35, 0, 0)",
                "No queue is ever full; the longest, of stream 7 of device 1, holds 35 launches.",
            ),
            (
                "(0, 7, 1, 0, NULL)",
                "No queue is ever full; the longest, of stream 7, holds 1 launch.",
            ),
            ("(0, 7, 0, 0, 0)", None),
        ],
    ),
    "memory-stats": (
        "device, operator, self_allocated_bytes",
        [
            (
                "('cuda:0', 'aten::empty', 3145728), ('cuda:0', 'aten::mm', 1048576), ('cpu', 'aten::empty', 9)",
                "aten::empty allocates 3.0 MiB on cuda:0, 75 % of all that is allocated there.",
            ),
            ("('cpu', NULL, 900), ('cpu', 'aten::mm', 100)", None),
            ("('cpu', 'aten::empty', 900), ('cpu', 'aten::mm', 900)", None),
            ("('cpu', 'aten::empty', 0)", None),
        ],
    ),
    "memory-curve": (
        "device, time_ms, allocated_bytes, reserved_bytes",
        [
            (
                "('cpu', 1, 100, 0), ('cpu', 12, 2621440, 0), ('cpu', 20, 2621440, 0)",
                "The peak is 2.5 MiB, 12.0 ms after the start.",
            ),
            (
                "('cpu', 1, 300, NULL), ('cuda:0', 0.5, 200, 400), ('cuda:0', 2, 100, 400)",
                "The peak of cuda:0 is 200 B, 500 us after the start.",
            ),
            ("('cpu', 1, 0, 300)", None),
        ],
    ),
    "memory-events": (
        "operator, parent_operator, size_bytes",
        [
            (
                "('aten::empty', 'aten::mm', 2048), ('aten::add', NULL, 1024)",
                "The largest block has 2.0 KiB; it was allocated in aten::mm.",
            ),
            ("(NULL, NULL, 2048), ('aten::add', NULL, 1024)", "The largest block has 2.0 KiB."),
            (
                "('aten::empty', 'aten::mm', 2048), ('aten::add', NULL, 2048)",
                "The 2 largest blocks have 2.0 KiB each.",
            ),
        ],
    ),
    "memory-peak": (
        "device, operator, blocks, live_bytes, share_pct",
        [
            (
                "('cpu', 'aten::mm', 1, 1024, 30), ('cpu', 'aten::mm', 2, 1024, 30), ('cpu', NULL, NULL, 1366, 40)",
                "60 % of the memory at the peak of cpu, 2.0 KiB, was allocated by aten::mm.",
            ),
            (
                "('cpu', 'aten::mm', 1, 1024, 33), ('cpu', NULL, NULL, 2048, 67)",
                "67 % of the memory at the peak of cpu, 2.0 KiB, was allocated before the recording.",
            ),
            ("('cpu', NULL, 3, 2048, 67), ('cpu', 'aten::mm', 1, 1024, 33)", None),
            ("('cpu', 'a', 1, 1024, 50), ('cpu', 'b', 1, 1024, 50)", None),
        ],
    ),
    "overlap": (
        "worker, step, overlap_us, communication_us",
        [
            (
                "('a', 1, 100, 0), ('a', NULL, 30, 70), ('b', NULL, 10, 90)",
                "Computation hides 20 % of the communication of all workers.",
            ),
            ("('a', NULL, 0, 70)", "Computation hides none of the communication."),
            ("('a', NULL, 70, 0)", "Computation hides all of the communication."),
            ("('a', NULL, 0, 0)", None),
        ],
    ),
    "wait": (
        "step, transfer_us, synchronizing_us, uncompared_us",
        [
            (
                "(1, 100, 0, 0), (NULL, 30, 70, 0), (NULL, 50, 50, 0)",
                "Collectives wait for the last worker in 60 % of their time.",
            ),
            (
                "(NULL, 30, 70, 5)",
                "Collectives that can be compared wait for the last worker in 70 % of their time.",
            ),
            ("(NULL, NULL::DOUBLE, NULL::DOUBLE, 5)", None),
        ],
    ),
    "stragglers": (
        "worker, lateness_us, collectives",
        [
            (
                "('rank0', 8000, 3), ('rank0', 1000, 1), ('rank1', 1000, 2)",
                "rank0 comes last in 4 collectives and causes 90 % of all waiting, 9.0 ms.",
            ),
            (
                "('rank0', 8000, 1)",
                "rank0 comes last in 1 collective and causes 100 % of all waiting, 8.0 ms.",
            ),
            ("('rank0', 8000, 3), ('rank1', 8000, 2)", None),
            ("('rank0', 0, 3)", None),
        ],
    ),
    "straggler-workers": (
        'dp_rank, stage, "rank", slowdown',
        [
            (
                "(1, 3, 7, 1.17787), (0, 3, 3, 1.17308)",
                "With the times of rank 7 alone (data-parallel rank 1, stage 3), an ideal step would "
                + "take 1.18 times as long.",
            ),
            ("(1, 3, 7, 1.5), (0, 3, 3, 1.5)", None),
            ("(1, 3, 7, 0.99), (0, 3, 3, 0.98)", None),
            ("(1, 3, 7, NULL::DOUBLE)", None),
        ],
    ),
    "collectives": (
        "name, calls, total_bytes, mean_bytes, total_us, transfer_us, compared_calls",
        [
            (
                (
                    "('all_reduce', 2, 22000000, 11000000, 5000, 2000, 2), "
                    "('all_reduce', 2, 22000000, 11000000, 3000, 2000, 2), ('broadcast', 1, 8, 8, 2000, 1, 1)"
                ),
                "all_reduce takes 80 % of the time in collectives; it transfers 11.0 GB/s.",
            ),
            (
                "('all_reduce', 2, 22000000, 11000000, 5000, 2000, 1)",
                "all_reduce is the only kind of collective.",
            ),
            (
                "('all_reduce', 2, 11000000, 11000000, 5000, 2000, 2)",
                "all_reduce is the only kind of collective.",
            ),
            (
                "('all_reduce', 2, NULL, NULL, 5000, NULL, 0)",
                "all_reduce is the only kind of collective.",
            ),
            ("('a', 1, 8, 8, 5, 1, 1), ('b', 1, 8, 8, 5, 1, 1)", None),
        ],
    ),
    "module-flame": (
        "path, device_self_us, host_self_us",
        [
            (
                "('Net_0;Conv_1', 30, 1), ('Net_0', 20, 99), ('Twin_0;Conv_1', 30, 1), ('Net_0;Relu_0', 20, 1)",
                "Conv_1 itself takes 60 % of the device time of all 3 modules.",
            ),
            (
                "('Net_0;Conv_1', NULL, 30), ('Net_0', NULL, 70)",
                "Net_0 itself takes 70 % of the host time of all 2 modules.",
            ),
            ("('Net_0;Conv_1', 50, 1), ('Net_0', 50, 1)", None),
            ("('Net_0', 50, 1)", None),
            ("('Net_0', 0, 0), ('Net_1', 0, 0)", None),
        ],
    ),
    "modules-table": (
        "module, device_share_pct, host_share_pct",
        [
            (
                "('Conv2d_0', 30, 5), ('Conv2d_12', 34, 5), ('Net_0', 36, 90)",
                "The 2 modules of class Conv2d take 64 % of the device time of all modules.",
            ),
            (
                "('Conv2d_0', NULL, 30), ('Conv2d_12', NULL, 34), ('Net_0', NULL, 36)",
                "The 2 modules of class Conv2d take 64 % of the host time of all modules.",
            ),
            ("('Conv2d_0', 30, 5), ('Net_0', 70, 95)", None),
            ("('Conv2d_0', 30, 5), ('Conv2d_1', 70, 95)", None),
        ],
    ),
    "stacks": (
        "stack, value_us",
        [
            (
                "('main;read', 40), ('main', 50), ('main;load;read', 20)",
                "read itself takes 55 % of the time of all threads.",
            ),
            ("('main;read', 50), ('main', 50)", None),
            ("('main;read', 50)", None),
        ],
    ),
    "workers": (
        "rank, worker, span, steps, lateness_us, lateness_pct",
        [
            (
                "(0, 'w0', '1', 10, 28000, 98), (1, 'w1', '1', 10, 500, 2), (2, 'w2', '1', 10, NULL, NULL)",
                "The other workers wait 2.8 ms per step for rank 0: 98 % of all waiting in collectives.",
            ),
            (
                "(NULL, 'w0', '1', 10, 1000, 4), (NULL, 'w1', '2', 10, 28000, 96)",
                "The other workers wait 2.8 ms per step for w1, span 2: 96 % of all waiting in collectives.",
            ),
            # One step, or a recording without steps.
            (
                "(0, 'w0', '1', 1, 28000, 98), (1, 'w1', '1', 1, 500, 2)",
                "The other workers wait 28 ms for rank 0: 98 % of all waiting in collectives.",
            ),
            ("(0, 'w0', '1', 10, 0, NULL), (1, 'w1', '1', 10, 0, NULL)", None),
        ],
    ),
    "diff-steps": (
        "category, delta_mean_us, significant",
        [
            (
                "('total', -30000, TRUE), ('dataloader', -20000, TRUE), ('kernel', 1000, TRUE), ('other', 90000, FALSE)",
                "Waiting for the data loader changes most: 20 ms less per step.",
            ),
            (
                "('cpu_exec', 2000, TRUE), ('kernel', -1000, TRUE)",
                "Time in operators changes most: 2.0 ms more per step.",
            ),
            ("('kernel', 2000, TRUE), ('memcpy', -2000, TRUE)", None),
            ("('dataloader', -20000, FALSE), ('kernel', 1000, NULL)", None),
        ],
    ),
    "diff-modules": (
        "path, depth, kind, delta_us, matched, baseline_us, significant",
        [
            (
                (
                    "('/', 0, 'trace', 9000, TRUE, 9, NULL), ('/Step', 1, 'step', 9000, TRUE, 9, TRUE), "
                    "('/Step/Net', 2, 'module', -2000, TRUE, 9, TRUE), ('/Step/Load', 2, 'dataloader', 1000, TRUE, 9, NULL), "
                    "('/Step/unknown', 2, 'unknown', 8000, TRUE, 9, NULL), ('/Step/Adam', 2, 'optimizer', 7000, TRUE, 9, FALSE)"
                ),
                "The largest difference is in /Step/Net: 2.0 ms less.",
            ),
            (
                "('/a', 1, 'step', -2000, FALSE, 2000, NULL), ('/b', 1, 'step', 1, TRUE, 9, NULL)",
                "The largest difference is /a, 2.0 ms, which only the baseline has.",
            ),
            (
                "('/a', 1, 'step', 2000, FALSE, NULL, NULL)",
                "The largest difference is /a, 2.0 ms, which only the experiment has.",
            ),
            ("('/a', 1, 'step', 0, TRUE, 9, NULL)", None),
        ],
    ),
    "diff-operators": (
        "name, delta_device_self_us, delta_host_self_us, significant",
        [
            (
                "('a', 9000, 1, FALSE), ('b', -2000, 1, TRUE), ('c', 1000, 1, TRUE)",
                "Of the operators that differ significantly, b differs most: 2.0 ms less device time per recording.",
            ),
            (
                "('a', NULL, 9000, NULL), ('b', NULL, -2000, NULL)",
                "a differs most: 9.0 ms more host time per recording.",
            ),
            (
                "('a', 0, 9000, FALSE), ('b', 0, -2000, FALSE)",
                "No operator differs by more than noise.",
            ),
            ("('a', 0, 0, FALSE), ('b', 0, 0, FALSE)", None),
            ("('a', 5, 0, TRUE), ('b', -5, 0, TRUE)", None),
        ],
    ),
    "diff-kernels": (
        "name, delta_total_us, significant",
        [
            (
                "('a', 9000, FALSE), ('b', -2000, TRUE), ('c', 1000, TRUE)",
                "Of the kernels that differ significantly, b differs most: 2.0 ms less per recording.",
            ),
            ("('a', 9000, NULL), ('b', -2000, NULL)", "a differs most: 9.0 ms more per recording."),
            ("('a', 9000, FALSE), ('b', -2000, FALSE)", "No kernel differs by more than noise."),
            ("('a', NULL::DOUBLE, NULL)", None),
        ],
    ),
}
#: Those of the input pipeline.
CASES |= {
    "data-queue": (
        "queue, queue_size",
        [
            ("('map 1', 0), ('map 1', 4), ('batch 0', 1)", "The queue of map 1 runs empty."),
            ("('map 1', 0), ('batch 0', 0), ('source 2', 3)", "2 of 3 queues run empty."),
            ("('map 1', 2), ('batch 0', 1)", "No queue runs empty."),
            ("('loader 0', 2), ('loader 0', 1)", "The queue never runs empty."),
            ("('map 1', NULL::BIGINT)", None),
        ],
    ),
    "cpu": (
        "process, busy_pct",
        [
            (
                "('host', 61.2), ('loader worker 1', 98.6), ('loader worker 1', 97)",
                "Loader worker 1 is busy up to 99 %.",
            ),
            ("('process', 104.0), ('host', 52)", "Process is busy up to 104 %."),
            ("('host', NULL::DOUBLE)", None),
        ],
    ),
}

#: Findings that say a share of all rows, so that they need all.
WHOLE = ("events", "lines", "flops", "idle-time", "module-flame", "stacks", "diff-kernels")


@pytest.fixture(scope="module")
def tables() -> Tables:
    return Tables()


def finding(tables: Tables, panel: str, columns: str, rows: str) -> str | None:
    """The finding of a panel with these rows."""
    query = query_text(str(PANELS[panel].finding), most_rows=MOST_ROWS)
    tables.prepare(query)
    tables.con.execute(
        f"CREATE OR REPLACE TEMP TABLE panel_rows AS FROM (VALUES {rows}) AS v({columns})"
    )
    found = tables.con.execute(query).fetchall()
    return found[0][0] if found else None


def test_each_panel_with_a_finding_has_cases() -> None:
    files = {path.stem for path in (SQL / "queries" / "report" / "findings").glob("*.sql")}
    assert files == {name.replace("-", "_") for name in CASES}
    assert {panel.id for panel in PANELS.values() if panel.finding} == set(CASES)
    drawn = {panel.id for panel in PANELS.values() if panel.chart}
    assert drawn - set(CASES) == {"verdict", "diff-verdict"}  # they are sentences


@pytest.mark.parametrize("panel", CASES)
def test_it_says_what_the_rows_show(tables: Tables, panel: str) -> None:
    columns, cases = CASES[panel]
    for rows, sentence in cases:
        assert finding(tables, panel, columns, rows) == sentence, rows


@pytest.mark.parametrize("panel", CASES)
def test_no_rows_show_nothing(tables: Tables, panel: str) -> None:
    columns, cases = CASES[panel]
    finding(tables, panel, columns, cases[0][0])
    tables.con.execute("DELETE FROM panel_rows")
    query = query_text(str(PANELS[panel].finding), most_rows=MOST_ROWS)
    assert tables.con.execute(query).fetchall() in ([], [(None,)])


@pytest.mark.parametrize("panel", WHOLE)
def test_no_share_of_rows_of_which_a_limit_left_some_out(tables: Tables, panel: str) -> None:
    columns, cases = CASES[panel]
    rows, sentence = cases[0]
    assert sentence
    nothing = {
        "events": "('z', 1, 0)",
        "lines": "('/z.py:9', 'z', 0, FALSE)",
        "flops": "('z', 0)",
    } | {
        "idle-time": "(0, 1, 'other', 0)",
        "module-flame": "('Net_0', 0, 0)",
        "stacks": "('main', 0)",
        "diff-kernels": "('z', 0, FALSE)",
    }
    full = ", ".join([rows, *[nothing[panel]] * MOST_ROWS])
    assert finding(tables, panel, columns, full) is None


def test_the_file_and_the_server_say_the_same(report: Path, client: TestClient) -> None:
    data = data_of(report)
    keys = {"run": "resnet_workers_0", "worker": "worker0", "span": "1"}
    found = {name: data[name]["finding"] for name in ("steps", "operators-table", "stacks")}
    assert all(found.values())
    for name, sentence in found.items():
        assert client.get(f"/api/panel/{name}", params=keys).json()["finding"] == sentence


def test_the_page_shows_it_and_the_chart_is_described_by_it(visit: Visit, compared: Path) -> None:
    data = data_of(compared)
    visit.page.goto(compared.as_uri())
    for name in ("operators-table", "memory-curve"):
        sentence = data[name]["finding"].replace("\N{NO-BREAK SPACE}", " ")
        panel = visit.panel(name)
        expect(panel.locator(".finding")).to_have_text(sentence)
        described = panel.locator(".chart").get_attribute("aria-label") or ""
        title = panel.locator("h3").inner_text()
        assert described.replace("\N{NO-BREAK SPACE}", " ") == f"{title}. {sentence}"
    assert data["kernels-table"]["finding"] is None
    expect(visit.panel("kernels-table").locator(".finding")).to_be_hidden()


def test_a_block_alone_has_none(visit: Visit, compared: Path) -> None:
    """The finding of the operators of both runs is not that of those in a block."""
    visit.page.goto(compared.as_uri())
    line = visit.panel("diff-operators").locator(".finding")
    expect(line).to_be_visible()
    visit.panel("diff-modules").locator(".aligned button.part").first.click()
    visit.page.locator("#panel-diff-operators[data-block]:not([aria-busy])").wait_for()
    expect(line).to_be_hidden()
    visit.panel("diff-modules").get_by_role("button", name="Up").click()
    expect(line).to_be_visible()
