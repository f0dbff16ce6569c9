"""The plugin's charts of a GPU over time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from tests.parity.differences import Row, Table

if TYPE_CHECKING:
    from tests.parity.plugin.trace import Trace

#: How far figures may be apart: floats hold times to 0.25 us, and values to 4 digits.
TOLERANCES = {
    "start_us": 0.3,
    "duration_us": 0.5,
    "busy_us": 0.2,
    "pct_sum": 0.5,
    "value_pct": 0.02,
}


def series(trace: Trace) -> Iterator[Table]:
    """Every bucket and piece as sums, and the first 20 of each one by one."""
    gpus = trace.said["gpu"]["gpus"].items()
    for view, length in (
        ("utilization_series", "util_buckets_len"),
        ("sm_efficiency_series", "sm_efficiency_ranges_len"),
    ):
        yield Table(
            view,
            {f"GPU {row['device_id']}": {"charted": True} for row in trace.rows(view)},
            {f"GPU {device}": {"charted": True} for device, said in gpus if said[length]},
        )
    for device, said in gpus:
        utilization = _of_device(trace, "utilization_series", device)
        # The plugin's ends with a point that closes the curve.
        ours = {
            f"{device}, all": {
                "buckets": len(utilization),
                "pct_sum": sum(row["value_pct"] for row in utilization),
            }
        }
        theirs: dict[str, dict[str, Any]] = {
            f"{device}, all": {
                "buckets": said["util_buckets_len"] - 1,
                "pct_sum": 100 * said["util_buckets_value_sum"],
            }
        }
        for number, (start, value) in enumerate(said["util_buckets_first20"][: len(utilization)]):
            row = utilization[number]
            ours[f"{device}, {number}"] = _point(trace, row)
            theirs[f"{device}, {number}"] = {"start_us": start, "value_pct": 100 * value}
        yield Table("utilization_series", ours, theirs, _tolerance)

        efficiency = _of_device(trace, "sm_efficiency_series", device)
        pieces = [piece for piece in said["sm_efficiency_ranges_first20"] if piece[2] > 1e-9]
        assert len(efficiency) >= len(pieces)
        ours = {
            f"{device}, all": {
                "pieces": len(efficiency),
                "busy_us": sum(row["duration_us"] * row["value_pct"] / 100 for row in efficiency),
            }
        }
        theirs = {
            f"{device}, all": {
                "pieces": said["sm_efficiency_ranges_len"],
                "busy_us": said["sm_efficiency_weighted_sum"],
            }
        }
        for number, (start, end, value) in enumerate(pieces):
            row = efficiency[number]
            ours[f"{device}, {number}"] = _point(trace, row) | {"duration_us": row["duration_us"]}
            theirs[f"{device}, {number}"] = {
                "start_us": start,
                "value_pct": 100 * value,
                "duration_us": end - start,
            }
        yield Table("sm_efficiency_series", ours, theirs, _finer)


def _of_device(trace: Trace, view: str, device: str) -> list[dict[str, Any]]:
    return [row for row in trace.rows(view) if str(row["device_id"]) == device]


def _point(trace: Trace, row: dict[str, Any]) -> dict[str, Any]:
    return {"start_us": trace.us(row["start_ns"]), "value_pct": row["value_pct"]}


def _tolerance(figure: str, row: Row) -> float:
    return TOLERANCES.get(figure, 0.0)


def _finer(figure: str, row: Row) -> float:
    return 1e-6 if figure == "value_pct" else _tolerance(figure, row)
