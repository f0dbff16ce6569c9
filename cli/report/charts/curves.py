"""Curves over time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tracewh.cli.report.charts.columns import ChartColumn, filled, scale_of
from tracewh.cli.report.charts.parts import (
    ACROSS,
    COLORS,
    Specification,
    amount,
    axis,
    chart_of,
    colors,
    select,
    titles,
)


def curve(
    columns: Mapping[str, ChartColumn], x: str, by: str, values: Sequence[str]
) -> Specification | None:
    """Return lines over time, of one device at a time. The parameter `brush` is a range of time."""
    parts = filled(columns, values)
    if not parts:
        return None
    most: dict[Any, float] = {}
    numbers = zip(*(part.numbers for part in parts), strict=True)
    for device, here in zip(columns[by].values, numbers, strict=True):
        most[device] = max(most.get(device, 0.0), *here)
    devices = sorted(most, key=lambda device: -most[device])
    size, word = scale_of(parts[0].unit, most.values())
    device = {"name": "device", "value": devices[0]}
    if len(devices) > 1:
        device["bind"] = select(by.capitalize(), devices)
    return chart_of(
        params=[device],
        height=280,
        transform=[
            {"filter": f"datum['{by}'] === device"},
            {"fold": [part.name for part in parts], "as": ["_column", "_value"]},
            {"filter": "isValid(datum._value)"},
            {"calculate": f"datum._value / {size:.0f}", "as": "_size"},
            {"calculate": f"{titles(parts)}[datum._column]", "as": "_part"},
        ],
        encoding={
            "x": {
                "field": x,
                "type": "quantitative",
                "title": None,
                "axis": axis(columns[x].unit, ACROSS),
                "scale": {"nice": False},
            },
        },
        layer=[
            {
                "params": [{"name": "brush", "select": {"type": "interval", "encodings": ["x"]}}],
                "mark": {"type": "line", "interpolate": "step-after", "strokeWidth": 1.5},
                "encoding": {
                    "y": {
                        "field": "_size",
                        "type": "quantitative",
                        "title": None,
                        "axis": axis(word),
                    },
                    "color": colors([part.title for part in parts]),
                },
            },
            {  # the values at the mouse, from each point to the next
                "transform": [
                    {"pivot": "_part", "value": "_size", "groupby": [x]},
                    {
                        "window": [{"op": "lead", "field": x, "as": "_until"}],
                        "sort": [{"field": x}],
                    },
                    {"calculate": amount(f"datum['{x}']", columns[x].unit), "as": "_when"},
                    *(
                        {"calculate": amount(f"datum['{part.title}']", word), "as": part.title}
                        for part in parts
                    ),
                ],
                "params": [
                    {
                        "name": "near",
                        "select": {"type": "point", "on": "pointerover", "clear": "pointerout"},
                    }
                ],
                "mark": {"type": "rect", "color": COLORS["runtime"]},
                "encoding": {
                    "x2": {"field": "_until"},
                    "opacity": {"condition": {"param": "near", "empty": False, "value": 0.3}}
                    | {"value": 0},
                    "tooltip": [
                        {"field": "_when", "title": "since"},
                        *({"field": part.title} for part in parts),
                    ],
                },
            },
        ],
    )
