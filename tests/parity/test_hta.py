"""What HolisticTraceAnalysis says of whole traces: ours is the same, or differences.txt says why not.

Its figures are of version 0.5.0 with the last step kept and its rounding of nanoseconds off. A section
in which it failed has no figures: those of a trace without device events, of which we have no rows.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.parity.conftest import TRACES, keys
from tests.parity.differences import Table, problems
from tests.parity.hta_critical_path import critical_paths

if TYPE_CHECKING:
    import tracewh

Rows = list[dict[str, Any]]


class Trace:
    """Ours and theirs of one trace."""

    def __init__(self, corpus: tracewh.Warehouse, name: str, said: dict[str, Any]) -> None:
        self.said, self.corpus, self.keys = said, corpus, keys(corpus, name)

    def ours(self, view: str, **arguments: Any) -> Rows:
        relation = self.corpus.view(view, **self.keys, **arguments)
        return [dict(zip(relation.columns, row, strict=True)) for row in relation.fetchall()]

    def theirs(self, section: str) -> Rows:
        said = self.said[section]
        return said["data"] if said else []


def overlap(trace: Trace) -> Iterator[Table]:
    [theirs] = trace.theirs("comm_comp_overlap")
    # To 2 decimals; null without communication.
    [ours] = [row["overlap_pct"] for row in trace.ours("comm_overlap") if row["step"] is None]
    yield Table(
        "comm_overlap",
        {"all": {"overlap_pct": None if ours is None else round(ours, 2)}},
        {"all": {"overlap_pct": theirs["comp_comm_overlap_pctg"]}},
    )


def device_time(trace: Trace) -> Iterator[Table]:
    names = {
        "kernel_time(us)": "window_us",
        "idle_time(us)": "idle_us",
        "compute_time(us)": "compute_us",
        "non_compute_time(us)": "non_compute_us",
    }
    ours = [{ours: row[ours] for ours in names.values()} for row in trace.ours("gpu_time")]
    theirs = [
        {ours: row[theirs] for theirs, ours in names.items()}
        for row in trace.theirs("temporal_breakdown")
    ]
    yield Table(
        "gpu_time",
        {f"device {number}": row for number, row in enumerate(ours)},
        {f"device {number}": row for number, row in enumerate(theirs)},
    )


def kernel_types(trace: Trace) -> Iterator[Table]:
    kinds = {"COMPUTATION": "compute", "COMMUNICATION": "communication", "MEMORY": "memory"}
    breakdown = trace.said["gpu_kernel_breakdown"]
    yield Table(
        "kernel_type_breakdown",
        {
            row["kind"]: {"total_us": row["total_us"], "share_pct": round(row["share_pct"], 1)}
            for row in trace.ours("kernel_type_breakdown")
        },
        {
            " overlapping ".join(
                kinds[kind] for kind in row["kernel_type"].split(" overlapping ")
            ): {"total_us": row["sum"], "share_pct": row["percentage"]}
            for row in (breakdown["kernel_type"]["data"] if breakdown else [])
        },
    )


def idle_streams(trace: Trace) -> Iterator[Table]:
    """Shares are whole percents there. What was idle for no time has a row, and none of ours."""
    yield Table(
        "idle_time",
        {
            f"{row['stream_id']} {row['idle_category']}": {
                "idle_us": row["idle_us"],
                "share_pct": float(round(row["share_pct"])),
            }
            for row in trace.ours("idle_time")
        },
        {
            f"{row['stream']} {row['idle_category']}": {
                "idle_us": row["idle_time"],
                "share_pct": float(round(100 * row["idle_time_ratio"])),
            }
            for row in trace.theirs("idle_time_breakdown")
            if row["idle_time"] != 0
        },
    )


#: The launches that HTA knows.
KNOWN_CALLS = (
    "cudaLaunchKernel",
    "cudaLaunchKernelExC",
    "cudaMemcpyAsync",
    "cudaMemsetAsync",
    "runFunction - job_prep_and_submit_for_execution",
)


def launches(trace: Trace) -> Iterator[Table]:
    """By what was launched, whatever the operator; of launches that HTA does not know, how many."""
    [theirs] = (trace.said["cuda_kernel_launch_stats"] or {"0": {}}).values()
    ours: dict[str, dict[str, float]] = {}
    unknown: Counter[str] = Counter()
    marks: Counter[str] = Counter()
    for row in trace.ours("launch_stats"):
        if row["launch_call"] not in KNOWN_CALLS:
            unknown[f"call {row['launch_call']}"] += row["calls"]
            continue
        one = ours.setdefault(row["name"], dict.fromkeys(LAUNCH_FIGURES, 0.0))
        for figure in ("calls", "host_us", "device_us"):
            one[figure] += row[figure]
        one["sum_launch_delay_us"] += row["mean_launch_delay_us"] * row["calls"]
        one["max_launch_delay_us"] = max(one["max_launch_delay_us"], row["max_launch_delay_us"])
        marks.update({mark: row[mark] for mark in LAUNCH_MARKS})
    said = theirs.get("by_kernel", {"data": []})["data"]
    yield Table(
        "launch_stats",
        {**ours, **{call: {"calls": count} for call, count in unknown.items()}},
        {row["kernel"]: {a: row[b] for a, b in LAUNCH_FIGURES.items()} for row in said},
        # The floats of an absolute time hold 0.25 us.
        lambda figure, row: {
            "sum_launch_delay_us": 0.25 * float(row["calls"] or 0),
            "max_launch_delay_us": 0.5,
        }.get(figure, 0.001),
    )
    yield Table(
        "launch_stats",
        {"all": {mark: marks[mark] for mark in LAUNCH_MARKS}},
        {"all": {ours: theirs.get(name, 0) for ours, name in LAUNCH_MARKS.items()}},
    )


LAUNCH_FIGURES = {
    "calls": "cpu_duration|count",
    "host_us": "cpu_duration|sum",
    "device_us": "gpu_duration|sum",
    "sum_launch_delay_us": "launch_delay|sum",
    "max_launch_delay_us": "launch_delay|max",
}
LAUNCH_MARKS = {
    "short_kernels": "short_gpu_kernels(gpu<cpu)",
    "slow_launches": "runtime_outliers(cpu>50)",
    "long_delays": "launch_delay_outliers(>100)",
}
#: What pandas calls them, and the ends of our names.
DISTRIBUTION = {
    "mean": "mean",
    "std": "stddev",
    "min": "min",
    "25%": "p25",
    "50%": "median",
    "75%": "p75",
    "max": "max",
}


def queues(trace: Trace) -> Iterator[Table]:
    names = {f"{ours}_length": theirs for theirs, ours in DISTRIBUTION.items()} | {
        "changes": "count"
    }
    ours = trace.ours("queue_length_summary")
    yield Table(
        "queue_length_summary",
        {str(row["stream_id"]): {name: row[name] for name in names} for row in ours},
        {
            str(row["stream"]): {a: row[f"queue_length|{b}"] for a, b in names.items()}
            for row in trace.theirs("queue_length_summary")
        },
    )
    # No queue of these traces was ever full.
    assert trace.said["queue_blocked"]["blocked"]["data"] == []
    assert [row["full_us"] for row in ours if row["full_us"] > 0] == []


def bandwidths(trace: Trace) -> Iterator[Table]:
    names = {f"{ours}_gbps": theirs for theirs, ours in DISTRIBUTION.items()} | {"pieces": "count"}
    yield Table(
        "memory_bandwidth_summary",
        {
            row["copy_type"]: {name: row[name] for name in names}
            for row in trace.ours("memory_bandwidth_summary")
        },
        {
            row["name"]: {a: row[f"memory_bw_gbps|{b}"] for a, b in names.items()}
            for row in trace.theirs("memory_bw_summary")
        },
    )


def user_annotations(trace: Trace) -> Iterator[Table]:
    """The deviation of one span is 0 there, and not known to us."""
    for place, section in (
        ("device", "gpu_user_annotation_breakdown"),
        ("host", "cpu_user_annotation_breakdown"),
    ):
        yield Table(
            "annotation_breakdown",
            {
                f"{place} {row['name']}": {
                    "total_us": row[f"{place}_us"],
                    "mean_us": row["mean_us"],
                    "min_us": row["min_us"],
                    "max_us": row["max_us"],
                    "stddev_us": row["stddev_us"] or 0,
                }
                for row in trace.ours("annotation_breakdown")
                if row[f"{place}_us"] is not None
            },
            {
                f"{place} {row['name']}": {
                    "total_us": row["sum (us)"],
                    "mean_us": row["mean (us)"],
                    "min_us": row["min (us)"],
                    "max_us": row["max (us)"],
                    "stddev_us": row["stddev"],
                }
                for row in trace.theirs(section)
            },
        )


def sequences(trace: Trace) -> Iterator[Table]:
    """Of two operators, as it was asked: names that contain the word, and sequences of any length."""
    for number in (0, 1):
        asked = trace.said.get(f"frequent_cuda_kernel_sequences_{number}")
        if not asked:
            continue
        [of_rank] = asked["ranks"].values()
        yield Table(
            "kernel_sequences",
            {
                f"{asked['operator']}: {'|'.join(row['pattern'])}": {
                    figure: row[figure] for figure in ("calls", "device_us", "host_us")
                }
                for row in trace.ours(
                    "kernel_sequences", operator=f"%{asked['operator']}%", min_length=1
                )
            },
            {
                f"{asked['operator']}: {row['pattern']}": {
                    "calls": row["count"],
                    "device_us": row["GPU kernel duration (us)"],
                    "host_us": row["CPU op duration (us)"],
                }
                for row in of_rank["data"]
            },
        )


#: What compares the figures of one trace.
SECTIONS = [
    overlap,
    device_time,
    kernel_types,
    idle_streams,
    user_annotations,
    sequences,
    launches,
    queues,
    bandwidths,
]


@pytest.mark.parametrize("name", TRACES)
def test_of_a_trace_nothing_differs_but_what_is_listed(
    name: str, shared: Path, corpus: tracewh.Warehouse
) -> None:
    text = (shared / "expected" / f"{name}.hta.json").read_text("utf-8")
    trace = Trace(corpus, name, json.loads(text)["data"])
    tables = [table for section in SECTIONS for table in section(trace)]
    tables += critical_paths(corpus, trace.keys["run"], trace.said)
    assert problems(f"hta {name}", tables) == []


def test_of_two_ranks_it_says_what_it_says_of_each(shared: Path) -> None:
    """Kinds of kernels are added up over the ranks; all else has the rows of both."""
    folder = shared / "expected" / "two_ranks_nccl_2023"
    both, *each = (
        json.loads((folder / f"{name}.hta.json").read_text("utf-8"))["data"]
        for name in ("RUNDIR", "sampled_rank-0", "sampled_rank-1")
    )
    for section in ("comm_comp_overlap", "temporal_breakdown", "idle_time_breakdown"):
        rows = [row for said in each for row in said[section]["data"]]
        assert both[section]["data"] == rows
    sums: Counter[str] = Counter()
    for said in each:
        for row in said["gpu_kernel_breakdown"]["kernel_type"]["data"]:
            sums[row["kernel_type"]] += row["sum"]
    kinds = both["gpu_kernel_breakdown"]["kernel_type"]["data"]
    assert {row["kernel_type"]: row["sum"] for row in kinds} == sums
