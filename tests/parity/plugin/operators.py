"""The plugin's tables of operators and of modules."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

from tests.parity.differences import Row, Table, close

if TYPE_CHECKING:
    from tests.parity.plugin.trace import Trace

#: The plugin's word for each of our figures.
OF_OPERATOR = {
    "calls": "calls",
    "host_self_us": "host_self",
    "host_total_us": "host_total",
    "device_self_us": "device_self",
    "device_total_us": "device_total",
    "tensor_core_eligible": "tc_eligible",
    "tensor_core_self_pct": "tc_self_ratio",
    "tensor_core_total_pct": "tc_total_ratio",
    "call_stacks": "call_stacks",
}

#: The same for modules. Its tree also says the mean of one of them, which is no figure of its own.
OF_MODULE = {
    "module_id": "id",
    "occurrences": "occurences",
    "operators": "operators",
    "host_self_us": "host_self",
    "host_total_us": "host_total",
    "device_self_us": "device_self",
    "device_total_us": "device_total",
    "mean_us": "avg",
}


def operators(trace: Trace) -> Iterator[Table]:
    """By name, by name and shape, and how many call stacks each has."""

    def tolerance(figure: str, row: Row) -> float:
        if figure.endswith("_pct"):
            return 0.001
        if trace.has_coarse_times and figure.endswith("_us"):
            return max(1.0, 0.25 * int(row.get("calls") or 0))
        return close(figure, row)

    for group_by, section in (("name", "ops_by_name"), ("input_shape", "ops_by_name_input")):
        by_stack = f"{'' if group_by == 'name' else 'input_shape_'}call_stack"
        stacks = Counter(
            _key(row, group_by) for row in trace.rows("operator_stats", group_by=by_stack)
        )
        ours = {
            _key(row, group_by): _figures(row) | {"call_stacks": stacks[_key(row, group_by)]}
            for row in trace.rows("operator_stats", group_by=group_by)
        }
        theirs = {
            _key(row, group_by, shape="input_shape"): _said(row) for row in trace.said[section]
        }
        assert len(theirs) == len(trace.said[section])
        yield Table("operator_stats", ours, theirs, tolerance)
        counts = trace.said["op_call_stacks"][section.replace("ops_", "")]
        yield Table(
            "operator_stats",
            {f"stacks of {key}": {"count": count} for key, count in stacks.items()},
            {f"stacks of {_stacked(key)}": {"count": count} for key, count in counts.items()},
        )


def modules(trace: Trace) -> Iterator[Table]:
    """Every module at every place where it is called, which repeats its figures."""
    said = dict(_flat(trace.said["module_stats"] or []))
    figures = {row["module"]: row for row in trace.rows("module_stats")}
    paths = {row["path"] for row in trace.rows("module_tree")}
    ours = {}
    for path in sorted(paths):
        row = figures[path.rpartition(";")[2]]
        of_device = row["device_total_us"] > 0
        total = row["device_total_us"] if of_device else row["host_total_us"]
        ours[path] = {**row, "mean_us": total / row["occurrences"]}
        ours[path] = {figure: ours[path][figure] for figure in OF_MODULE}
    yield Table("module_stats", ours, said, lambda figure, row: 0.1 if "_us" in figure else 0.0)
    depths = {
        path.rpartition(";")[2]: {"depth": path.count(";")} for path in sorted(said, key=_depth)
    }
    yield Table(
        "module_stats",
        {f"depth of {name}": {"depth": row["depth"]} for name, row in figures.items()},
        {f"depth of {name}": row for name, row in reversed(list(depths.items()))},
    )


def lightning(trace: Trace) -> Iterator[Table]:
    """No trace of the corpus is of Lightning; a recorded one has its own test."""
    rows = {row["module"]: row for row in trace.rows("lightning_stats")}
    assert trace.said["pl_module_stats"] is None
    yield Table("lightning_stats", rows, {})


def _figures(row: dict[str, Any]) -> dict[str, Any]:
    """NULL as the 0 that the plugin writes."""
    return {figure: row.get(figure) or 0 for figure in OF_OPERATOR}


def _said(said: Any) -> dict[str, Any]:
    for which in ("self", "total"):  # what it makes the shares of
        share = said[f"tc_{which}_ratio"] * said[f"device_{which}"]
        assert said[f"tc_{which}"] == pytest.approx(share, abs=0.01)
    figures = {figure: said[word] for figure, word in OF_OPERATOR.items()}
    return {f: 100 * x if f.endswith("_pct") else x for f, x in figures.items()}


def _key(row: dict[str, Any], group_by: str, shape: str = "input_dims") -> str:
    return str(row["name"]) if group_by == "name" else f"{row['name']} {_shape(row[shape])}"


def _stacked(key: str) -> str:
    name, with_shape, shape = key.partition("###")
    return f"{name} {_shape(shape)}" if with_shape else name


def _shape(text: str | None) -> str:
    """The text of a shape without the ways in which peers write the same one."""
    return (text or "[]").replace(" ", "") or "[]"


def _flat(modules: list[Any], above: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    words = {word: figure for figure, word in OF_MODULE.items()}
    for module in modules:
        path = above + module["name"]
        yield (
            path,
            {
                words[word]: value
                for word, value in module.items()
                if word not in ("name", "children")
            },
        )
        yield from _flat(module["children"], f"{path};")


def _depth(path: str) -> int:
    return -path.count(";")
