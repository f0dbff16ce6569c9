"""The plugin's overview: steps, their means, GPUs and recommendations."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from tests.parity.differences import Row, Table
from tests.parity.plugin.trace import OF_TRACE

if TYPE_CHECKING:
    from tests.parity.plugin.trace import Trace

#: The plugin's word for each of our figures, in the order in which roles own time.
COSTS = {
    "kernel_us": "Kernel",
    "memcpy_us": "Memcpy",
    "memset_us": "Memset",
    "communication_us": "Communication",
    "runtime_us": "Runtime",
    "dataloader_us": "DataLoader",
    "cpu_exec_us": "CpuOp",
    "other_us": "Other",
    "total_us": "Total",
}

#: The same of what it says of a GPU, and what it takes to be percent.
OF_GPU = {
    "gpu_utilization_pct": ("utilization", 100),
    "est_sm_efficiency_pct": ("sm_efficiency", 100),
    "est_achieved_occupancy_pct": ("occupancy", 1),
    "tensor_core_time_pct": ("tc_ratio", 100),
}

#: What it writes on its page for a GPU.
ON_PAGE = {
    "Name": "name",
    "Memory": "memory_gb",
    "Compute Capability": "compute_capability",
    "GPU Utilization": "gpu_utilization_pct",
    "Est. SM Efficiency": "est_sm_efficiency_pct",
    "Est. Achieved Occupancy": "est_achieved_occupancy_pct",
    "Kernel Time using Tensor Cores": "tensor_core_time_pct",
}

#: What it writes for each of its rules, with the figure in it: of a GPU its number.
RULES = {
    "data_loading": r"input data loading\. ([\d.]+)% of the step",
    "communication": r"communication\. ([\d.]+)% of the step",
    "low_gpu_utilization": r"GPU (.*) (?:has|have) low utilization",
    "tensor_cores_unused": r"Kernels with (\d+)% time are launched by Tensor Cores eligible",
    "data_parallel": r"(DistributedDataParallel) instead of",
    "backend_not_nccl": r"(Nccl) backend",
    "memory_nearly_full": r"Device memory usage is at the limit of device memory capacity \(([\d.]+)%",
}


def steps(trace: Trace) -> Iterator[Table]:
    """Steps, where they start and end, and their means. NULL is the 0 that the plugin writes."""
    breakdown = {row["step"]: row for row in trace.rows("step_breakdown") if not row["is_tail"]}
    extended = {
        row["step"]: {
            "start_us": trace.us(row["extended_start_ns"]),
            "end_us": trace.us(row["extended_end_ns"]),
        }
        for row in trace.sql(f"SELECT t.* FROM steps AS t {OF_TRACE} AND NOT t.is_tail")
    }
    said = trace.said["steps"]
    # It does not know the steps of serving frameworks, and has one step for all of the trace.
    is_one = [step["name"] for step in said] == ["0"] and len(breakdown) == 1
    ours = {
        str(0 if is_one else step or 0): {figure: row[figure] or 0.0 for figure in COSTS}
        | extended[step]
        for step, row in breakdown.items()
    }
    assert list(ours) == [step["name"] for step in said], "their order"
    theirs = {
        step["name"]: _costs(step["costs"]) | {"start_us": step["start"], "end_us": step["end"]}
        for step in said
    }
    yield Table("step_breakdown", ours, theirs)
    means = {
        f"{row['category']}_us": row["mean_us"] or 0.0
        for row in trace.rows("step_breakdown_summary")
    }
    yield Table(
        "step_breakdown_summary", {"mean": means}, {"mean": _costs(trace.said["avg_costs"])}
    )


def gpus(trace: Trace) -> Iterator[Table]:
    """GPUs, as figures and as text."""
    said = trace.said["gpu"]
    summary = {str(row["device_id"]): row for row in trace.rows("gpu_summary")}
    assert [str(device) for device in said["gpu_ids"]] == list(said["gpus"])
    recorded = trace.sql(
        "SELECT t.device_id, count(t.blocks_per_sm) AS blocks_per_sm_count,"
        " count(t.est_achieved_occupancy_pct) AS occupancy_count"
        f" FROM kernels AS t {OF_TRACE} GROUP BY ALL"
    )
    counts = {str(row.pop("device_id")): row for row in recorded}
    yield Table(
        "gpu_summary",
        {
            device: {figure: row[figure] for figure in OF_GPU} | counts.get(device, {})
            for device, row in summary.items()
        },
        {device: _of_gpu(row) for device, row in said["gpus"].items()},
        lambda figure, row: 0.01,
    )
    has = {
        f"has_{figure}": any(row[f"{figure}_count"] for row in recorded)
        for figure in ("blocks_per_sm", "occupancy")
    }
    words = {name: said[name] for name in has}
    yield Table("kernels", {"all": has}, {"all": words})
    yield Table(
        "gpu_summary",
        {f"GPU {device}": _on_page(row) for device, row in summary.items()},
        _page(trace.said["gpu_summary"]),
        lambda figure, row: 0.0101,
    )


def recommendations(trace: Trace) -> Iterator[Table]:
    """Which of the plugin's rules fire, and what they measured; we have others, too."""
    theirs = {
        rule: {"value": _number(found[1])}
        for text in trace.said["recommendations"]
        for rule, pattern in RULES.items()
        if (found := re.search(pattern, text))
    }
    assert len(theirs) == len(trace.said["recommendations"])
    ours = {
        row["rule"]: {"value": _figure(**row)}
        for row in trace.rows("recommendations", every_rule=True)
        if row["rule"] in RULES
    }
    yield Table("recommendations", ours, theirs)


def _costs(said: Any) -> dict[str, float]:
    word = {word: figure for figure, word in COSTS.items()}
    return {word[name]: value for name, value in said.items()}


def _of_gpu(said: Any) -> Row:
    """The series in it are another table's."""
    figures = {
        figure: None if said[word] is None else said[word] * factor
        for figure, (word, factor) in OF_GPU.items()
    }
    return figures | {name: said[name] for name in ("blocks_per_sm_count", "occupancy_count")}


def _on_page(row: dict[str, Any]) -> dict[str, Any]:
    memory = row["memory_bytes"]
    shown = {
        **{figure: row.get(figure) for figure in ON_PAGE.values()},
        "memory_gb": None if memory is None else memory / 2**30,
        "compute_capability": row["compute_capability"] and float(row["compute_capability"]),
    }
    return {figure: value for figure, value in shown.items() if value is not None}


def _page(said: list[Any]) -> dict[str, dict[str, Any]]:
    """The plugin's lines by GPU. It leaves out what it does not know."""
    gpus: dict[str, dict[str, Any]] = {}
    for line in said:
        title, value = line["title"], line["value"]
        if title.endswith(":"):
            figures = gpus.setdefault(title[:-1], {})
        elif title:
            figures[ON_PAGE[title]] = _number(value)
        else:
            assert not value  # between two GPUs
    return gpus


def _figure(*, rule: str, value: float, message: str, **_: Any) -> float | str:
    """The figure as the plugin would write it: of GPUs, their numbers."""
    if rule == "low_gpu_utilization":
        return _number(", ".join(re.findall(r"(\d+) \([\d.]+ %\)", message)))
    return round(value, 0 if rule == "tensor_cores_unused" else 1)


def _number(text: str) -> float | str:
    """Of a figure on the page its number, and a text as it is."""
    number = re.fullmatch(r"(-?[\d.]+)(?: %| GB)?", text)
    return float(number[1]) if number else text
