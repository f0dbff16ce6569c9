"""Bars in both directions: what differs between two runs."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from tracewh.cli.report.charts.columns import ChartColumn, filled
from tracewh.cli.report.charts.parts import (
    ACROSS,
    TOP,
    Specification,
    axis,
    chart_of,
    choice,
    named,
    ranked,
    scaled,
    select,
    shortened,
    signed,
    tooltip,
    unit_words,
)

#: Orange and blue differ for every reader, unlike red and green.
LONGER, SHORTER, NOISE = "#d55e00", "#2f84c6", "#9aa1ad"
#: What a bar is, and a shorter word for it on a phone, where names leave little room for the legend.
DIRECTIONS = {
    "more than the baseline": "more",
    "less than the baseline": "less",
    "within run-to-run noise": "noise",
}
#: The view says which differences are within the noise; where it does not, nothing is grey.
DIRECTION = {
    "calculate": "datum.significant === false ? 'within run-to-run noise' : "
    "datum._size > 0 ? 'more than the baseline' : 'less than the baseline'",
    "as": "_direction",
}


def delta(
    columns: Mapping[str, ChartColumn], label: str, values: Sequence[str]
) -> Specification | None:
    """Return bars of the largest differences, in both directions."""
    choices = filled(columns, values)
    if not choices:
        return None
    return chart_of(
        params=[choice(choices)],
        height={"step": 22},
        transform=[
            *scaled(choices),
            {"filter": "isValid(datum._size) && datum._size !== 0"},
            {"calculate": "abs(datum._size)", "as": "_absolute"},
            ranked("_absolute"),
            {"filter": f"datum._rank <= {TOP[0]}"},
            {"calculate": f"datum['{label}']", "as": "_name"},
            *shortened(),
            {"calculate": signed("datum._size", f"{unit_words(choices)}[by]"), "as": "_said"},
            DIRECTION,
        ],
        mark={"type": "bar", "tooltip": True},
        encoding={
            "y": named(),
            "x": {
                "field": "_size",
                "type": "quantitative",
                "title": None,
                "axis": axis(f"{unit_words(choices)}[by]", ACROSS),
            },
            "color": _directions(),
            "tooltip": tooltip(label, "experiment - baseline"),
        },
    )


def blocks(columns: Mapping[str, ChartColumn]) -> Specification | None:
    """Return bars of the blocks inside a block that changed most.

    The parameter `block` is the block to look into: its path and its depth.
    """
    if not filled(columns, ("delta_us",)):
        return None
    rows = sorted(
        zip(
            columns["position"].values,
            columns["path"].values,
            columns["depth"].values,
            strict=True,
        )
    )
    has_inner = {str(path).rpartition("/")[0] or "/" for _, path, _ in rows if path != "/"}
    options = [{"path": path, "depth": depth} for _, path, depth in rows if path in has_inner]
    if not options:
        return None
    size, word = columns["delta_us"].scale
    inside = (
        "(block.path === '/' ? datum.path !== '/' : indexof(datum.path, block.path + '/') === 0)"
    )
    labels = [str(option["path"]) for option in options]
    return chart_of(
        params=[{"name": "block", "value": options[0], "bind": select("Block", options, labels)}],
        height={"step": 22},
        transform=[
            {"filter": f"{inside} && datum.depth === block.depth + 1"},
            {"calculate": f"datum.delta_us / {size:.0f}", "as": "_size"},
            {"calculate": "abs(datum._size)", "as": "_absolute"},
            ranked("_absolute"),
            {"filter": f"datum._rank <= {TOP[1]}"},
            {"calculate": "replace(datum.path, regexp('^.*/'), '')", "as": "_name"},
            {
                "calculate": "datum.kind === 'unknown' "
                "? replace(datum._name, 'unknown', 'outside of blocks') : datum._name",
                "as": "_name",
            },
            *shortened(),
            {"calculate": signed("datum._size", word), "as": "_said"},
            {
                "calculate": "datum.matched ? 'both runs' "
                ": isValid(datum.baseline_us) ? 'the baseline only' : 'the experiment only'",
                "as": "_where",
            },
            DIRECTION,
        ],
        mark={"type": "bar", "tooltip": True, "cursor": "pointer"},
        encoding={
            "y": named(),
            "x": {
                "field": "_size",
                "type": "quantitative",
                "title": None,
                "axis": axis(word, ACROSS),
            },
            "color": _directions(),
            "tooltip": [
                *tooltip("block", "experiment - baseline"),
                {"field": "_where", "title": "in"},
            ],
        },
    )


def _directions() -> dict[str, Any]:
    return {
        "field": "_direction",
        "type": "nominal",
        "scale": {
            "domain": list(DIRECTIONS),
            "range": [LONGER, SHORTER, NOISE],
        },
        "legend": {
            "title": None,
            "orient": "top",
            "columns": {"expr": "letters < 24 ? 2 : letters < 39 ? 1 : 3"},
            "labelExpr": f"letters < 24 ? {json.dumps(DIRECTIONS)}[datum.label] : datum.label",
        },
    }
