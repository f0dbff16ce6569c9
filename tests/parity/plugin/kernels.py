"""The plugin's tables of kernels."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from tests.parity.differences import Row, Table, close

if TYPE_CHECKING:
    from tests.parity.plugin.trace import Trace

#: The plugin's words for our figures, by name and by launch.
BY_NAME = {
    "count": "calls",
    "sum": "total_us",
    "mean": "mean_us",
    "min": "min_us",
    "max": "max_us",
    "tc_used": "uses_tensor_cores",
    "mean_blocks_per_sm": "mean_blocks_per_sm",
    "mean_est_occupancy": "mean_est_achieved_occupancy_pct",
}
BY_LAUNCH = {"calls": "calls", **BY_NAME, "op_tc_eligible": "operator_eligible"}

#: What tells launches apart, in our words and the plugin's.
LAUNCH = {
    "operator": "op",
    "name": "name",
    "grid": "grid",
    "block": "block",
    "registers_per_thread": "regs",
    "shared_memory_bytes": "smem",
}


def kernels(trace: Trace) -> Iterator[Table]:
    """By name, and by operator and launch."""

    def tolerance(figure: str, row: Row) -> float:
        if figure == "total_us" and trace.has_coarse_times:
            return max(1.0, 0.25 * int(row.get("calls") or 0))
        if figure.startswith("mean_") and not figure.endswith("_us"):
            return 0.001 * float(row[figure] or 0)
        return close(figure, row)

    yield Table(
        "kernel_stats",
        {row["name"]: _figures(row, BY_NAME) for row in trace.rows("kernel_stats")},
        {row["name"]: _said(row, BY_NAME, ["name"]) for row in trace.said["kernels_by_name"] or []},
        tolerance,
    )
    eligible: dict[str, bool] = {}
    for row in trace.rows("operator_stats"):
        eligible[row["name"]] = bool(row["tensor_core_eligible"])
    ours = {
        _launch(row[column] for column in LAUNCH): _figures(row, BY_LAUNCH)
        | {"operator_eligible": eligible.get(row["operator"], False)}
        for row in trace.rows("kernel_stats", group_by="launch")
    }
    theirs = {
        _launch(row[word] for word in LAUNCH.values()): _said(row, BY_LAUNCH, LAUNCH.values())
        for row in trace.said["kernels_by_name_op"]
    }
    assert len(theirs) == len(trace.said["kernels_by_name_op"])
    yield Table("kernel_stats", ours, theirs, tolerance)


def _figures(row: dict[str, Any], words: dict[str, str]) -> dict[str, Any]:
    """NULL as the 0 that the plugin writes where nothing is recorded, or took any time."""
    return {figure: row.get(figure) or 0 for figure in words.values()}


def _said(said: Any, words: dict[str, str], key: Any) -> dict[str, Any]:
    figures = {words[word]: value or 0 for word, value in said.items() if word not in key}
    return {figure: figures[figure] for figure in words.values() if figure in figures}


def _launch(values: Iterable[Any]) -> str:
    """The plugin writes 0 for numbers that are missing."""
    operator, name, grid, block, registers, shared = values
    return f"{operator}: {name} {grid} {block} {int(registers or 0)} {int(shared or 0)}"
