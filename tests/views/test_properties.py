"""Random timelines against loops over every nanosecond."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.derived_tables import fill_derived_tables

if TYPE_CHECKING:
    from tests.given import Tables

END = 24

#: Role of each kind of row, in the order in which roles own time.
DEVICE = {
    "kernel": "compute",
    "memcpy": "memcpy",
    "memset": "memset",
    "communication": "communication",
}
HOST = {
    "communication": ("user_annotation", "gloo:all_reduce"),
    "runtime": ("cuda_runtime", "cudaLaunchKernel"),
    "dataloader": ("user_annotation", "enumerate(DataLoader)#x"),
    "cpu_exec": ("cpu_op", "aten::mm"),
}
#: Of NCCL, the row on the host only launches where there is a kernel.
LAUNCH = ("user_annotation", "nccl:all_reduce")
ROLES = [*DEVICE, *list(HOST)[1:]]

Row = tuple[bool, str, int, int]
rows = st.lists(
    st.one_of(
        st.tuples(
            st.just(True), st.sampled_from(list(DEVICE)), st.integers(0, END), st.integers(0, 8)
        ),
        st.tuples(
            st.just(False),
            st.sampled_from([*HOST, "launch"]),
            st.integers(0, END),
            st.integers(0, 8),
        ),
    ),
    max_size=12,
)
#: Borders of steps that touch, hide one another entirely or leave gaps: every other gap is a step.
borders = st.lists(st.integers(0, END), min_size=2, max_size=6).map(sorted)

each_timeline = settings(
    max_examples=60,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)


@each_timeline
@given(rows=rows, borders=borders, touching=st.booleans())
def test_step_breakdown(
    rows: list[Row], borders: list[int], touching: bool, tables: Tables
) -> None:
    steps = list(pairwise(borders))[:: 1 if touching else 2]
    _fill(tables, rows, steps)
    rows = _by_role(rows)
    got = tables.con.execute(
        f"SELECT {', '.join(f'{role}_us' for role in [*ROLES, 'other', 'total'])} FROM step_breakdown()"
    ).fetchall()
    want = []
    for start, end in steps:
        time = dict.fromkeys([*ROLES, "other"], 0)
        for ns in range(start, end):
            running = {role for _, role, begin, length in rows if begin <= ns < begin + length}
            time[next((role for role in ROLES if role in running), "other")] += 1
        want.append([*time.values(), end - start])
    assert [[round((value or 0) * 1000) for value in row] for row in got] == want


@each_timeline
@given(rows=rows, borders=borders, touching=st.booleans())
def test_comm_overlap(rows: list[Row], borders: list[int], touching: bool, tables: Tables) -> None:
    steps = list(pairwise(borders))[:: 1 if touching else 2]
    _fill(tables, rows, steps)
    rows = _by_role(rows)
    got = tables.con.execute(
        "SELECT computation_us, overlap_us, communication_us, other_us FROM comm_overlap()"
    ).fetchall()
    compute = "kernel" if _has_kernels(rows) else "cpu_exec"
    counted = [row for row in rows if row[1] in (compute, "communication")]
    want = []
    for start, end in [(0, END + 8), *steps] if counted else []:
        sums = {(True, False): 0, (True, True): 0, (False, True): 0, (False, False): 0}
        for ns in range(start, end):
            running = {role for _, role, begin, length in counted if begin <= ns < begin + length}
            sums[compute in running, "communication" in running] += 1
        want.append(list(sums.values()))
    assert [[round(value * 1000) for value in row] for row in got] == want


def test_a_hundred_thousand_events_of_each_role_at_once(tables: Tables) -> None:
    """All of them begin in the first us. Those of a role end with it, 1 us after the role before it."""
    _fill(tables, [], [(0, 200_000)])
    roles = {
        "kernel": ("device_events", "kind", "compute", None),
        "memcpy": ("device_events", "kind", "memcpy", None),
        "memset": ("device_events", "kind", "memset", None),
        "device_communication": ("device_events", "kind", "communication", None),
        "host_communication": ("host_events", "category", "user_annotation", "gloo:all_reduce"),
        **{role: ("host_events", "category", *HOST[role]) for role in list(HOST)[1:]},
    }
    for place, (table, column, value, name) in enumerate(roles.values(), 2):
        tables.con.execute(
            f"""
            INSERT INTO {table} (run, worker, span, event_id, {column}, name, start_ns, duration_ns)
            SELECT 'r', 'w', 'default', n.n, $value, $name, n.n % 1000, $place * 1000 - n.n % 1000
            FROM range(100_000) AS n (n)
            """,
            {"value": value, "name": name, "place": place},
        )
    fill_derived_tables(tables.con, ["step_activity"])
    found = tables.con.execute(
        f"SELECT {', '.join(roles)}, duration_ns FROM step_activity ORDER BY ALL DESC"
    ).fetchall()
    gone = [[False] * n + [True] * (len(roles) - n) for n in range(len(roles))]
    assert found == [(*row, 1000 if n else 2000) for n, row in enumerate(gone)]


def _has_kernels(rows: list[Row]) -> bool:
    return any(device and role in ("kernel", "communication") for device, role, _, _ in rows)


def _by_role(rows: list[Row]) -> list[Row]:
    """What launches a collective is a collective where no kernel was recorded, else an operator."""
    role = "cpu_exec" if _has_kernels(rows) else "communication"
    return [(row[0], role if row[1] == "launch" else row[1], *row[2:]) for row in rows]


def _fill(tables: Tables, rows: list[Row], steps: list[tuple[int, int]]) -> None:
    """The tables of one trace that lasts as long as its last event may."""
    con = tables.con
    tables.prepare("FROM step_breakdown(); FROM comm_overlap()")
    for table in ("traces", "steps", "device_events", "host_events", "step_activity"):
        con.execute(f"DELETE FROM {table}")
    _insert(con, "traces", {"start_ns": 0, "end_ns": END + 8})
    for number, (start, end) in enumerate(steps):
        step = {"step": number, "event_id": number, "is_tail": False}
        _insert(con, "steps", {**step, "extended_start_ns": start, "extended_end_ns": end})
    for event, (on_device, role, start, length) in enumerate(rows):
        span = {"event_id": event, "start_ns": start, "duration_ns": length}
        if on_device:
            _insert(con, "device_events", {"kind": DEVICE[role], **span})
        else:
            category, name = HOST.get(role, LAUNCH)
            _insert(con, "host_events", {"category": category, "name": name, **span})
    fill_derived_tables(con, ["step_activity"])


def _insert(con: Any, table: str, values: dict[str, Any]) -> None:
    values = {"run": "r", "worker": "w", "span": "default", **values}
    marks = ", ".join("?" for _ in values)
    con.execute(f"INSERT INTO {table} ({', '.join(values)}) VALUES ({marks})", [*values.values()])
