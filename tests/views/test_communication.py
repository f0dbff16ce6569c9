"""step_breakdown, comm_overlap and kernel_type_breakdown agree on the time of communication."""

from __future__ import annotations

import json
from typing import Any

import pytest

import tracewh
from tests.conftest import ROOT, SHARED

Event = dict[str, Any]


#: By their paths, without the folder.
SHARED_TRACES = sorted(
    str(path.relative_to(SHARED / "traces"))
    for path in (SHARED / "traces").rglob("*.json.gz")
    if path.parent.name != "not_a_trace"
)
SAMPLES = sorted(
    str(path.relative_to(ROOT / "samples")) for path in (ROOT / "samples").rglob("*.json.gz")
)


def _event(category: str, name: str, start: int, end: int, tid: int = 1, **args: Any) -> Event:
    """A complete event; of a device where it has a stream."""
    pid = 0 if "stream" in args else 9
    times = {"ts": start, "dur": end - start}
    return {"ph": "X", "cat": category, "name": name, "pid": pid, "tid": tid, **times, "args": args}


def _kernel(name: str, start: int, end: int, device: int = 0, stream: int = 7) -> Event:
    return _event("kernel", name, start, end, device=device, stream=stream)


GLOO = _event("user_annotation", "gloo:all_reduce", 0, 100, 2)
GEMM = _kernel("sgemm", 10, 40)
NCCL = "ncclDevKernel_AllReduce_Sum_f32_RING_LL"
STEPS = [_event("user_annotation", f"ProfilerStep#{n}", 50 * n, 50 * n + 50) for n in range(2)]

#: What the file says of the job, the events, and what communicates in us: where computation hides it,
#: where it does not, and on devices; the devices of a trace are added up there.
DRAWN: dict[str, tuple[str | None, list[Event], tuple[float, float, float]]] = {
    "gloo beside a kernel": (None, [GLOO, GEMM], (30, 70, 0)),
    "gloo beside a kernel, in steps": (None, [GLOO, GEMM, *STEPS], (30, 70, 0)),
    "mpi beside a kernel": (
        None,
        [_event("cpu_op", "mpi:barrier", 0, 100), GEMM],
        (30, 70, 0),
    ),
    "nccl on the host, launching": (
        "nccl",
        [
            _event("cpu_op", "c10d::allreduce_", 0, 100),
            _event("user_annotation", "nccl:all_reduce", 5, 90),
            GEMM,
            _kernel(NCCL, 30, 60, stream=20),
        ],
        (10, 20, 30),
    ),
    "nccl of a job of one process, which launches nothing": (
        "nccl",
        [_event("user_annotation", "nccl:all_reduce", 0, 100), GEMM],
        (0, 0, 0),
    ),
    "nccl on the host, devices not recorded": (
        "nccl",
        [
            _event("cpu_op", "c10d::allreduce_", 0, 100),
            _event("user_annotation", "nccl:all_reduce", 5, 90),
            _event("cpu_op", "aten::mm", 80, 120),
        ],
        (20, 80, 0),
    ),
    "both backends, told apart by what c10d encloses": (
        "cpu:gloo,cuda:nccl",
        [
            _event("cpu_op", "c10d::allreduce_", 0, 10),
            _event("user_annotation", "gloo:all_reduce", 20, 30, 2),
            _event("cpu_op", "c10d::allreduce_", 40, 60),
            _event("cpu_op", "record_param_comms", 45, 55),
            _event("user_annotation", "nccl:all_reduce", 46, 54),
            _kernel(NCCL, 70, 90, stream=20),
            _kernel("sgemm", 5, 75),
        ],
        (5 + 10 + 5, 5 + 15, 20),
    ),
    "c10d of a process group of gloo, without rows of gloo": (
        "gloo",
        [_event("cpu_op", "c10d::barrier", 0, 100), GEMM],
        (30, 70, 0),
    ),
    "a copy beside a collective": (
        "nccl",
        [
            _kernel(NCCL, 0, 100, stream=20),
            GEMM,
            _event("gpu_memcpy", "Memcpy HtoD", 30, 60, device=0, stream=8),
        ],
        (30, 70, 100),
    ),
    "two devices in one trace": (
        "nccl",
        [
            _kernel(NCCL, 0, 60, stream=20),
            _kernel(NCCL, 40, 100, device=1, stream=20),
            GEMM,
        ],
        (30, 70, 120),
    ),
}


@pytest.fixture(scope="session")
def drawn(tmp_path_factory: pytest.TempPathFactory) -> tracewh.Warehouse:
    """A warehouse with the drawn traces; the name of each is its run."""
    folder = tmp_path_factory.mktemp("drawn")
    for name, (backend, events, _) in DRAWN.items():
        path = folder / name.replace(",", "") / "w.json"
        path.parent.mkdir()
        job = {"distributedInfo": {"backend": backend}} if backend else {}
        path.write_text(json.dumps({**job, "traceEvents": events}), "utf-8")
    tracewh.ingest([folder], folder / "warehouse")
    return tracewh.open(folder / "warehouse")


@pytest.mark.parametrize(
    ("warehouse", "trace"),
    [("corpus", trace) for trace in SHARED_TRACES]
    + [("all_samples", trace) for trace in SAMPLES]
    + [("drawn", f"{name.replace(',', '')}/w.json") for name in DRAWN],
)
def test_views_agree_on_the_time_of_communication(
    warehouse: str, trace: str, request: pytest.FixtureRequest
) -> None:
    opened: tracewh.Warehouse = request.getfixturevalue(warehouse)
    [keys] = opened.sql(
        "SELECT t.run, t.worker, t.span FROM traces AS t WHERE ends_with(t.source_path, '/' || ?)",
        [trace],
    ).fetchall()
    total, steps = _of_roles(opened, keys)
    overlap = {
        row["step"]: (row["overlap_us"], row["communication_us"], row["computation_us"])
        for row in _rows(opened, "comm_overlap", keys)
    }
    # Every instant with communication, in each step and in all.
    assert {step: both + alone for step, (both, alone, _) in overlap.items()} == pytest.approx(
        {step: total[step][0] for step in overlap}
    )
    # A view without rows saw neither computation nor communication.
    assert overlap or not total[None][0]
    breakdown = {row["step"]: row for row in _rows(opened, "step_breakdown", keys)}
    assert breakdown.keys() == steps
    for step, row in breakdown.items():
        both, alone, computes = overlap.get(step, (0, 0, 0))
        _, owned, has_kernels = total[step]
        assert row["communication_us"] == pytest.approx(owned)
        assert owned <= alone + (0 if has_kernels else both) + 1e-6
        if has_kernels and None not in steps:  # else a step is less than the whole trace
            assert row["kernel_us"] == pytest.approx(both + computes)
    kinds = {row["kind"]: row["total_us"] for row in _rows(opened, "kernel_type_breakdown", keys)}
    communicates = sum(us for kind, us in kinds.items() if "communication" in kind)
    [(devices, on_host)] = opened.sql(
        "SELECT (SELECT count(DISTINCT d.device_id) FROM device_events AS d"
        " WHERE (d.run, d.worker, d.span) = ($run, $worker, $span) AND d.kind = 'communication'),"
        " (SELECT coalesce(bool_or(a.host_communication), FALSE) FROM step_activity AS a"
        " WHERE (a.run, a.worker, a.span) = ($run, $worker, $span))",
        dict(zip(("run", "worker", "span"), keys, strict=True)),
    ).fetchall()
    if devices == 1 and not on_host:
        hides = sum(
            us for kind, us in kinds.items() if kind.startswith("compute overlapping communication")
        )
        assert (communicates, hides) == pytest.approx((sum(overlap[None][:2]), overlap[None][0]))
    elif devices == 0:
        assert communicates == 0
    if warehouse == "drawn":
        by_name = {name.replace(",", ""): expected for name, (_, _, expected) in DRAWN.items()}
        whole = overlap[None]
        assert (*whole[:2], communicates) == pytest.approx(by_name[trace.removesuffix("/w.json")])


def test_no_shared_trace_is_left_out(corpus: tracewh.Warehouse) -> None:
    paths = corpus.sql("SELECT t.source_path FROM traces AS t").fetchall()
    assert sorted(path.partition("/traces/")[2] for (path,) in paths) == SHARED_TRACES


def _of_roles(
    opened: tracewh.Warehouse, keys: tuple[str, ...]
) -> tuple[dict[int | None, tuple[float, float, bool]], set[int | None]]:
    """What ran together, and the steps; None is the whole trace.

    Of each: the time with communication, the part of it without kernels, copies and fills, and whether the
    trace has kernels.
    """
    rows = opened.sql(
        """
        SELECT
            s.step,
            s.event_id IS NOT NULL OR a.step_event_id IS NOT NULL AS is_step,
            sum(a.duration_ns) FILTER (a.device_communication OR a.host_communication) / 1000,
            sum(a.duration_ns) FILTER (
                (a.device_communication OR a.host_communication)
                AND NOT (a.kernel OR a.memcpy OR a.memset)
            ) / 1000,
            bool_or(a.kernel OR a.device_communication)
        FROM step_activity AS a
        FULL JOIN (
            FROM steps AS s
            WHERE (s.run, s.worker, s.span) = ($run, $worker, $span) AND s.event_id IS NOT NULL
        ) AS s ON a.step_event_id = s.event_id
        WHERE a.run IS NULL OR (a.run, a.worker, a.span) = ($run, $worker, $span)
        GROUP BY ALL
        """,
        dict(zip(("run", "worker", "span"), keys, strict=True)),
    ).fetchall()
    kernels = any(row[4] for row in rows)
    found: dict[int | None, tuple[float, float, bool]] = {
        row[0]: (row[2] or 0.0, row[3] or 0.0, kernels) for row in rows if row[1]
    }
    steps: set[int | None] = {*found} or {None}
    found[None] = (
        sum(row[2] or 0.0 for row in rows),
        sum(row[3] or 0.0 for row in rows),
        kernels,
    )
    return found, steps


def _rows(opened: tracewh.Warehouse, view: str, keys: tuple[str, ...]) -> list[dict[str, Any]]:
    relation = opened.sql(f"FROM {view}(run := $1, worker := $2, span := $3)", list(keys))
    return [dict(zip(relation.columns, row, strict=True)) for row in relation.fetchall()]
