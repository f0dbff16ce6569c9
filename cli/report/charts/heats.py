"""A heat map: one cell for each pair of two columns."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tracewh.cli.report.charts.columns import ChartColumn
from tracewh.cli.report.charts.parts import Specification, chart_of

#: Height of a row in pixels: at most, and at least.
ROW, LEAST_ROW = 28, 3
#: Height that the rows share.
HEIGHT = 560
#: A row lower than this has no room for a number, and neither has a narrower cell.
ROOM, WIDE = 14, 38
#: From the least value to the largest. Numbers are dark on the first half of them, and white on the second.
RAMP = ("#fdf1e2", "#f3b067", "#a8400b")


def heat(columns: Mapping[str, ChartColumn], x: str, y: str, value: str) -> Specification | None:
    """Return cells with the value as their color and as a number; values of the other columns are in the tooltip."""
    known = [each for each in columns[value].values if each is not None]
    if not known:
        return None
    across, down = len(set(columns[x].values)), len(set(columns[y].values))
    row = max(LEAST_ROW, min(ROW, HEIGHT // down))
    least, most = min(known), max(known)
    layers: list[dict[str, Any]] = [
        {
            "mark": {"type": "rect", "tooltip": True},
            "encoding": {
                "color": {
                    "field": value,
                    "type": "quantitative",
                    "title": columns[value].title,
                    "scale": {
                        "domain": [least, (least + most) / 2, most],
                        "range": list(RAMP),
                    },
                    "legend": {"orient": "top", "gradientLength": 160, "tickCount": 3},
                },
                "tooltip": [{"field": each.name, "title": each.title} for each in columns.values()],
            },
        }
    ]
    if row >= ROOM:
        layers.append(
            {
                "mark": {
                    "type": "text",
                    "fontSize": 11,
                    "opacity": {"expr": f"width / {across} < {WIDE} ? 0 : 1"},
                },
                "encoding": {
                    "text": {"field": value, "type": "quantitative", "format": ".3f"},
                    "color": {
                        "value": "#1c1c1c",
                        "condition": {
                            "test": f"datum['{value}'] > {least + 0.6 * (most - least)}",
                            "value": "#ffffff",
                        },
                    },
                },
            }
        )
    return chart_of(
        height=row * down,
        transform=[{"filter": f"isValid(datum['{value}'])"}],
        encoding={
            "x": _side(columns[x], labelAngle=0),
            "y": _side(columns[y]),
        },
        layer=layers,
    )


def _side(column: ChartColumn, **axis: Any) -> dict[str, Any]:
    """Return one side of the map: the values of a column, each with a cell."""
    return {
        "field": column.name,
        "type": "ordinal",
        "title": column.title,
        "axis": {"labelOverlap": True, "ticks": False, "domain": False, "grid": False, **axis},
        "scale": {"paddingInner": 0.04},
    }
