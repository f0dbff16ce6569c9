"""The plugin's tables and curve of memory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from tests.parity.differences import Row, Table
from tests.parity.plugin.trace import OF_TRACE

if TYPE_CHECKING:
    from tests.parity.plugin.trace import Trace

#: The plugin's devices in our words. It knows no others: 'None' is HIP.
DEVICES = {"CPU": "cpu", "GPU0": "cuda:0", "None": "hip:0"}
PEAKS = {"0:-1": "cpu", "1:0": "cuda:0", "None:0": "hip:0"}

#: The plugin's word for each of our figures.
OF_OPERATOR = {
    "calls": "calls",
    "size_increase_bytes": "increase",
    "self_size_increase_bytes": "self_increase",
    "allocations": "alloc_count",
    "self_allocations": "self_alloc_count",
    "allocated_bytes": "alloc_size",
    "self_allocated_bytes": "self_alloc_size",
}


def memory(trace: Trace) -> Iterator[Table]:
    """Of the devices that the plugin knows: records, operators, blocks and the curve."""
    failed = [name for name, section in trace.said["sections"].items() if not section["ok"]]
    if failed:  # what it says of the devices that it knows was asked for separately
        assert failed == ["memory_events", "memory_curve"]
        assert [trace.said[name] for name in failed] == [None, None]
    of_known = "_known_devices" if failed else ""
    if "memory_records" in trace.said:
        yield from _records(trace)
        yield from _operators(trace)
        events = dict(trace.said[f"memory_events{of_known}"].items())
        curve = dict(trace.said[f"memory_curve{of_known}"].items())
        for known in (events, curve):
            dropped = known.pop("dropped_records", None)
            if dropped is not None:
                assert dropped == trace.said["memory_records"]["by_device"]["None"]
        yield from _blocks(trace, events, curve["metadata"]["first_ts"])
        yield from _curve(trace, curve)
    else:
        yield Table("memory_stats", {row["device"]: row for row in trace.rows("memory_stats")}, {})


def _records(trace: Trace) -> Iterator[Table]:
    """Sums of the records, from memory_stats; records, addresses and peaks where no view has them."""
    said = trace.said["memory_records"]
    of_device = trace.sql(
        "SELECT concat_ws(':', t.device_type, t.device_id) AS device, count(*) AS records,"
        " count(t.address) AS with_address, max(t.total_allocated_bytes) AS peak_bytes"
        f" FROM memory_records AS t {OF_TRACE} GROUP BY ALL"
    )
    summed: dict[str, int] = {}
    for row in trace.rows("memory_stats"):
        summed[row["device"]] = summed.get(row["device"], 0) + row["self_size_increase_bytes"]
    ours: dict[str, dict[str, Any]] = {
        row["device"]: {
            "records": row["records"],
            "increase_bytes": summed[row["device"]],
            "peak_bytes": row["peak_bytes"],
        }
        for row in of_device
    }
    peaks = {PEAKS[device]: peak for device, peak in said["peak"].items()}
    theirs: dict[str, dict[str, Any]] = {
        DEVICES[device]: {
            "records": records,
            "increase_bytes": said["sum_bytes"][device],
            "peak_bytes": peaks.get(DEVICES[device]),
        }
        for device, records in said["by_device"].items()
    }
    ours["all"] = {
        "records": sum(row["records"] for row in of_device),
        "with_address": sum(row["with_address"] for row in of_device),
        "with_operator": sum(
            row["self_allocations"] for row in trace.rows("memory_stats") if row["operator"]
        )
        # Releases take the operator of their allocation.
        + sum(_has_operator(row) for row in trace.rows("memory_events")),
    }
    theirs["all"] = {
        "records": said["count"],
        "with_address": said["with_addr"],
        "with_operator": said["with_op"],
    }
    yield Table("memory_records", ours, theirs)


def _operators(trace: Trace) -> Iterator[Table]:
    """But for the row of what lies in no operator, and for HIP, which the plugin leaves out."""
    words = {word: figure for figure, word in OF_OPERATOR.items()}
    said = trace.said["memory_stats"]
    theirs = {
        f"{DEVICES[device]} {row['op']}": {
            words[word]: value for word, value in row.items() if word != "op"
        }
        for device, rows in said.items()
        for row in rows
    }
    ours = {
        f"{row['device']} {row['operator']}": {figure: row[figure] for figure in OF_OPERATOR}
        for row in trace.rows("memory_stats")
        if row["operator"] is not None and row["device"] != DEVICES["None"]
    }
    yield Table("memory_stats", ours, theirs)


def _blocks(trace: Trace, said: dict[str, Any], zero: float) -> Iterator[Table]:
    """All of them as sums, and the first 200 one by one; times count from the first event."""
    yield _devices(trace, "memory_events", said)
    for device, figures in said.items():
        blocks = trace.rows("memory_events", device=DEVICES[device])
        both, allocated, released = (
            [
                row
                for row in blocks
                if (row["allocated_ns"] is not None, row["released_ns"] is not None) == sides
            ]
            for sides in ((True, True), (True, False), (False, True))
        )
        ours: dict[str, dict[str, Any]] = {
            f"{device}, all": {
                "count": len(blocks),
                "paired": len(both),
                "alloc_only": len(allocated),
                "free_only": len(released),
                "sum_size": sum(row["size_bytes"] for row in both),
                "sum_size_alloc_only": sum(row["size_bytes"] for row in allocated),
                "sum_size_free_only": sum(row["size_bytes"] for row in released),
                "lifetime_us": sum(row["lifetime_us"] for row in both),
            }
        }
        theirs: dict[str, dict[str, Any]] = {
            f"{device}, all": {
                {"sum_duration": "lifetime_us"}.get(word, word): value
                for word, value in figures.items()
                if word != "first200"
            }
        }
        blocks.sort(key=lambda row: row["allocated_ns"])
        shown = figures["first200"]
        assert len(shown) == min(200, len(blocks))
        for number, (row, block) in enumerate(zip(blocks, shown, strict=False)):
            ours[f"{device}, {number}"] = {
                "operator": row["operator"],
                "size_bytes": row["size_bytes"],
                "allocated_at": _since(trace, row["allocated_ns"], zero),
                "released_at": _since(trace, row["released_ns"], zero),
                "lifetime": row["lifetime_us"],
            }
            theirs[f"{device}, {number}"] = {
                "operator": block["op"],
                "size_bytes": block["size"],
                "allocated_at": block["alloc_ts"],
                "released_at": block["release_ts"],
                "lifetime": block["duration"],
            }
        yield Table("memory_events", ours, theirs, _tolerance)


def _curve(trace: Trace, said: dict[str, Any]) -> Iterator[Table]:
    """Peaks and ends, and the first 20 points one by one."""
    metadata = said.pop("metadata")
    peaks, zero = metadata["peaks"], metadata["first_ts"]
    yield _devices(trace, "memory_curve", metadata["devices"])
    for device, figures in said.items():
        points = trace.rows("memory_curve", device=DEVICES[device])
        peak = max(row["allocated_bytes"] for row in points)
        ours: dict[str, dict[str, Any]] = {
            f"{device}, all": {
                "points": len(points),
                "peak_allocated": peak,
                "peak_reserved": max(row["reserved_bytes"] for row in points),
                "first_at": _since(trace, points[0]["time_ns"], zero),
                "last_at": _since(trace, points[-1]["time_ns"], zero),
                "first_allocated": points[0]["allocated_bytes"],
                "last_allocated": points[-1]["allocated_bytes"],
                "on_page": f"Peak Memory Usage: {peak:.1f}B",
            }
        }
        theirs: dict[str, dict[str, Any]] = {
            f"{device}, all": {
                {"first_ts": "first_at", "last_ts": "last_at"}.get(word, word): value
                for word, value in figures.items()
                if word != "first20"
            }
            | {"on_page": peaks[device]}
        }
        shown = figures["first20"]
        assert len(shown) == min(20, len(points))
        for number, (row, point) in enumerate(zip(points, shown, strict=False)):
            ours[f"{device}, {number}"] = {
                "time_at": _since(trace, row["time_ns"], zero),
                "allocated_bytes": row["allocated_bytes"],
                "reserved_bytes": row["reserved_bytes"],
            }
            names = ("time_at", "allocated_bytes", "reserved_bytes")
            theirs[f"{device}, {number}"] = dict(zip(names, point, strict=True))
        yield Table("memory_curve", ours, theirs, _tolerance)


def _devices(trace: Trace, view: str, said: Iterable[str]) -> Table:
    """The devices of a view, but for HIP."""
    recorded = {row["device"] for row in trace.rows(view)} - {DEVICES["None"]}
    return Table(
        view,
        {device: {"recorded": True} for device in recorded},
        {DEVICES[device]: {"recorded": True} for device in said},
    )


def _has_operator(block: dict[str, Any]) -> bool:
    """Whether a block that was released was allocated in an operator, and not just in a step."""
    operator = block["operator"] or "ProfilerStep#"
    return block["released_ns"] is not None and not operator.startswith("ProfilerStep#")


def _since(trace: Trace, time_ns: int | None, zero: float) -> float | None:
    """An instant as the plugin counts it."""
    us = trace.us(time_ns)
    return None if us is None else us - zero


def _tolerance(figure: str, row: Row) -> float:
    """Floats hold instants to 1/4096 us."""
    return {"lifetime_us": 1.0}.get(
        figure, 0.001 if figure.endswith("_at") or figure == "lifetime" else 0.0
    )
