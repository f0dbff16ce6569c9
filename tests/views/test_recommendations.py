"""The rules of recommendations that count many events; tests/views/recommendations_v1.test has the others."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.derived_tables import fill_derived_tables

if TYPE_CHECKING:
    from tests.given import Tables

QUERY = "SELECT rule, severity, value, threshold, message FROM recommendations_v1()"


@pytest.mark.parametrize(
    ("launches", "small", "fires"), [(100, 51, True), (100, 50, False), (99, 99, False)]
)
def test_small_kernels(tables: Tables, launches: int, small: int, fires: bool) -> None:
    """More than half of at least a hundred launches."""
    given(tables)
    tables.con.execute(
        "INSERT INTO host_events BY NAME SELECT 'r' AS run, 'w' AS worker, 'default' AS span,"
        " i AS event_id, 'cuda_runtime' AS category, 'cudaLaunchKernel' AS name, 0 AS start_ns,"
        " CASE WHEN i < $small THEN 6000 ELSE 2400 END AS duration_ns FROM range($launches) AS n (i)",
        {"launches": launches, "small": small},
    )
    tables.con.execute(
        "INSERT INTO device_events BY NAME SELECT 'r' AS run, 'w' AS worker, 'default' AS span,"
        " 1000 + i AS event_id, 'compute' AS kind, 0 AS device_id, i AS launch_id, 0 AS start_ns,"
        " 2400 AS duration_ns FROM range(?) AS n (i)",
        [launches],
    )
    assert asked(tables, "small_kernels") == (
        [
            (
                "small_kernels",
                "info",
                51.0,
                50.0,
                (
                    "51 of 100 launches took longer on the host than on the device, where the median"
                    " was 2.4 us: fuse operators with torch.compile, or replay them from a CUDA"
                    " graph."
                ),
            )
        ]
        if fires
        else []
    )


@pytest.mark.parametrize(("call_us", "cause"), [(5, "launch_bound"), (4, None)])
def test_what_explains_small_kernels(tables: Tables, call_us: int, cause: str | None) -> None:
    """For 600 or 480 of 1000 us the device waits for 120 launches; it then runs kernels of 2 us."""
    given(tables)
    tables.con.execute(
        "INSERT INTO steps BY NAME SELECT 'r' AS run, 'w' AS worker, 'default' AS span, 1 AS step,"
        " 1000 AS event_id, 0 AS start_ns, 1000000 AS end_ns, 0 AS extended_start_ns,"
        " 1000000 AS extended_end_ns, FALSE AS is_tail"
    )
    tables.con.execute(
        "INSERT INTO host_events BY NAME SELECT 'r' AS run, 'w' AS worker, 'default' AS span,"
        " i AS event_id, 'cuda_runtime' AS category, 'cudaLaunchKernel' AS name,"
        " i * $call_us * 1000 AS start_ns, $call_us * 1000 AS duration_ns FROM range(120) AS n (i)",
        {"call_us": call_us},
    )
    tables.con.execute(
        "INSERT INTO device_events BY NAME SELECT 'r' AS run, 'w' AS worker, 'default' AS span,"
        " 2000 + i AS event_id, 'kernel' AS category, 'compute' AS kind, 0 AS device_id,"
        " i AS launch_id, (120 * $call_us + 2 * i) * 1000 AS start_ns, 2000 AS duration_ns"
        " FROM range(120) AS n (i)",
        {"call_us": call_us},
    )
    fill_derived_tables(tables.con, ["step_activity"])
    found = tables.con.execute(
        "SELECT v.explained_by FROM recommendations_v1(every_rule := TRUE) AS v"
        " WHERE v.rule = 'small_kernels'"
    ).fetchall()
    assert found == [(cause,)]
    assert bool(asked(tables, "launch_bound")) == bool(cause)
    assert bool(asked(tables, "small_kernels")) == (not cause)


@pytest.mark.parametrize(
    ("waits", "inside", "fires"), [(21, True, True), (21, False, True), (20, True, False)]
)
def test_excessive_synchronization(tables: Tables, waits: int, inside: bool, fires: bool) -> None:
    """More than ten waits per step, of two steps."""
    given(tables)
    tables.con.execute(
        "INSERT INTO steps BY NAME SELECT 'r' AS run, 'w' AS worker, 'default' AS span,"
        " i AS step, i AS event_id, i * 1000000 AS start_ns, (i + 1) * 1000000 AS end_ns,"
        " start_ns AS extended_start_ns, end_ns AS extended_end_ns, FALSE AS is_tail"
        " FROM range(2) AS n (i)"
    )
    tables.con.execute(
        "INSERT INTO host_events BY NAME SELECT 'r' AS run, 'w' AS worker, 'default' AS span,"
        " 10 + i AS event_id, 'cuda_runtime' AS category, 'cudaStreamSynchronize' AS name,"
        " i * 90000 AS start_ns, 2000 AS duration_ns, $op AS op_id FROM range($waits) AS n (i)"
        " UNION ALL SELECT 'r', 'w', 'default', 5, 'cpu_op', 'aten::item', 0, 2000, 5",
        {"waits": waits, "op": 5 if inside else None},
    )
    place = " of aten::item" if inside else ""
    assert asked(tables, "excessive_synchronization") == (
        [
            (
                "excessive_synchronization",
                "warning",
                10.5,
                10.0,
                (
                    "The host waits for the device 10.5 times per step, 21.0 us in total, mostly in"
                    f" cudaStreamSynchronize{place}: read results less often, copy with"
                    " non_blocking=True, and remove torch.cuda.synchronize()."
                ),
            )
        ]
        if fires
        else []
    )


def test_advice_fits_the_device_and_the_framework(tables: Tables) -> None:
    """For 600 of 1000 us the device waits for 120 launches; it then runs kernels of 1 us. The host waits 11 times."""
    tables.prepare(QUERY)
    tables.con.execute(
        "CREATE TEMP TABLE calls AS FROM (VALUES ('cuda', 'kineto', 'pytorch', 'cuda_runtime'),"
        " ('xpu', 'kineto', 'pytorch', 'xpu_runtime'), ('npu', 'ascend', NULL, 'cann_runtime'),"
        " ('minds', 'ascend', 'mindspore', 'cann_runtime')) AS t (worker, source, framework, category)"
    )
    insert = (
        "INSERT INTO {} BY NAME SELECT 'r' AS run, c.worker, 'default' AS span, {} FROM calls AS c"
    )
    for table, columns in {
        "traces": "c.source, c.framework",
        "steps": "1 AS step, 1000 AS event_id, 0 AS start_ns, 1000000 AS end_ns,"
        " 0 AS extended_start_ns, 1000000 AS extended_end_ns, FALSE AS is_tail",
        "host_events": "unnest(range(131)) AS event_id, c.category, event_id * 5000 AS start_ns,"
        " 5000 AS duration_ns,"
        " CASE WHEN event_id < 120 THEN 'LaunchKernel' ELSE 'StreamSynchronize' END AS name",
        "device_events": "unnest(range(120)) AS launch_id, 2000 + launch_id AS event_id,"
        " 'kernel' AS category, 'compute' AS kind, 0 AS device_id,"
        " 600000 + launch_id * 1000 AS start_ns, 1000 AS duration_ns",
    }.items():
        tables.con.execute(insert.format(table, columns))
    fill_derived_tables(tables.con, ["step_activity"])
    said = tables.con.execute(
        "SELECT v.worker, v.rule, regexp_extract(v.message, ': (.*?\\.)( This costs .*)?$', 1)"
        " FROM recommendations_v1(every_rule := TRUE) AS v WHERE v.rule <> 'low_gpu_utilization'"
        " ORDER BY v.worker, v.rule"
    ).fetchall()
    wait = (
        "read results less often, copy with non_blocking=True, and remove torch.{}.synchronize()."
    )
    assert said == [
        ("cuda", "excessive_synchronization", wait.format("cuda")),
        ("cuda", "launch_bound", "use larger batches, torch.compile or CUDA graphs."),
        (
            "cuda",
            "small_kernels",
            "fuse operators with torch.compile, or replay them from a CUDA graph.",
        ),
        ("minds", "excessive_synchronization", "read results less often."),
        ("minds", "launch_bound", "use larger batches."),
        ("minds", "small_kernels", "fuse operators."),
        ("npu", "excessive_synchronization", wait.format("npu")),
        ("npu", "launch_bound", "use larger batches or torch.compile."),
        ("npu", "small_kernels", "fuse operators with torch.compile."),
        ("xpu", "excessive_synchronization", wait.format("xpu")),
        ("xpu", "launch_bound", "use larger batches or torch.compile."),
        ("xpu", "small_kernels", "fuse operators with torch.compile."),
    ]


def given(tables: Tables) -> None:
    """One trace, whose rows are to come."""
    tables.prepare(QUERY)
    tables.con.execute("INSERT INTO traces (run, worker, span) VALUES ('r', 'w', 'default')")


def asked(tables: Tables, rule: str) -> list[tuple[object, ...]]:
    """What a rule says."""
    return tables.con.execute(f"{QUERY} WHERE rule = ?", [rule]).fetchall()
