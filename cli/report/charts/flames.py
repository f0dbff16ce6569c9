"""Flame graphs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tracewh.cli.report.charts.columns import ChartColumn, columns_of, filled, scale_of
from tracewh.cli.report.charts.parts import Specification, chart_of

#: A frame of a flame graph that is narrower than this part of the whole is left out.
LEAST_FRAME = 1 / 20_000
FRAME_HEIGHT = 20
#: What `frames` says of a frame.
FRAME = ("name", "depth", "start", "end", "said")
FLAMES = ["#f4a261", "#e9c46a", "#f2b98a"]


def flame(
    columns: Mapping[str, ChartColumn], path: str, values: Sequence[str]
) -> Specification | None:
    """Return a flame graph of `frames`. A click on a frame, the parameter `zoom`, makes it fill the width."""
    if not filled(columns, values):
        return None
    start, end = (
        "(isValid(zoom.start) ? zoom.start[0] : 0)",
        "(isValid(zoom.end) ? zoom.end[0] : 1)",
    )
    return chart_of(
        # The deepest frame decides the height.
        height={"step": FRAME_HEIGHT},
        usermeta={"renderer": "canvas"},  # thousands of frames
        transform=[
            {"filter": f"(datum.end - datum.start) * 1500 > {end} - {start}"},
            {"filter": f"datum.end > {start} && datum.start < {end}"},
            {"calculate": f"max(datum.start, {start})", "as": "_left"},
            {"calculate": f"min(datum.end, {end})", "as": "_right"},
            {"calculate": "length(datum.name) % 3", "as": "_tone"},
        ],
        encoding={
            "x": {
                "field": "_left",
                "type": "quantitative",
                "axis": None,
                "scale": {"domain": [{"expr": start}, {"expr": end}], "nice": False},
            },
            "y": {"field": "depth", "type": "ordinal", "axis": None, "scale": {"padding": 0.04}},
            "tooltip": [{"field": "name"}, {"field": "said", "title": "value"}],
        },
        layer=[
            {
                "params": [
                    {"name": "zoom", "select": {"type": "point", "fields": ["start", "end"]}}
                ],
                "mark": {"type": "rect", "cursor": "pointer", "stroke": "#0000", "strokeWidth": 1},
                "encoding": {
                    "x2": {"field": "_right"},
                    "color": {
                        "field": "_tone",
                        "type": "nominal",
                        "legend": None,
                        "scale": {"domain": [0, 1, 2], "range": FLAMES},
                    },
                },
            },
            {
                "transform": [{"filter": f"(datum._right - datum._left) * 40 > {end} - {start}"}],
                "mark": {
                    "type": "text",
                    "align": "left",
                    "dx": 4,
                    "fontSize": 11,
                    "color": "#1c1d1f",
                    "limit": {"expr": "scale('x', datum._right) - scale('x', datum._left) - 6"},
                },
                "encoding": {"text": {"field": "name"}},
            },
        ],
    )


def frames(found: Mapping[str, Any], path: str, value: str) -> list[dict[str, Any]]:
    """Return the frames of a flame graph of one column: name, depth, and start and end as parts of 1.

    Args:
        found: Rows by column.
        path: The column of paths, whose parts are separated by semicolons.
        value: The column of sizes. A frame is as wide as all rows below it.
    """
    by_name = columns_of(found)
    column = by_name[value]
    rows = sorted(
        (str(each).split(";"), number)
        for each, number in zip(by_name[path].values, column.numbers, strict=True)
    )
    whole = sum(number for _, number in rows) or 1.0
    made: list[dict[str, Any]] = []
    opened: list[tuple[str, float]] = []
    at = 0.0

    def close(depth: int) -> None:
        while len(opened) > depth:
            name, start = opened.pop()
            if at - start > whole * LEAST_FRAME:
                made.append(
                    {
                        "name": name,
                        "depth": len(opened),
                        "start": round(start / whole, 6),
                        "end": round(at / whole, 6),
                        "said": f"{_in_words(at - start, column.unit)}, "
                        f"{100 * (at - start) / whole:.3g} %",
                    }
                )

    for parts, number in rows:
        shared = 0
        while shared < min(len(parts), len(opened)) and parts[shared] == opened[shared][0]:
            shared += 1
        close(shared)
        opened.extend((name, at) for name in parts[shared:])
        at += number
    close(0)
    return made


def _in_words(number: float, unit: str) -> str:
    size, word = scale_of(unit, (number,))
    return f"{number / size:,.4g} {word}".rstrip()
