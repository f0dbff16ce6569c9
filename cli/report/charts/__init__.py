"""The charts of the report: one Vega-Lite specification for each kind of chart.

The page draws a specification with Vega, a notebook with `altair.Chart.from_dict`. It reads the rows of a
query as they are, from the data set named `rows`::

    {**specification(chart, found), "datasets": {"rows": records(found)}}

What a reader can choose, e.g. the column of a bar chart, is a parameter of the specification, which
becomes a field of a form in both places. Values keep the unit of their column; a specification divides
them by the size of the unit that suits the largest one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from tracewh.cli.report.charts.bars import shares, stacked, top
from tracewh.cli.report.charts.columns import ChartColumn, columns_of, filled
from tracewh.cli.report.charts.curves import curve
from tracewh.cli.report.charts.differences import LONGER, SHORTER, blocks, delta
from tracewh.cli.report.charts.flames import FRAME, flame, frames
from tracewh.cli.report.charts.heats import heat
from tracewh.cli.report.charts.parts import COLORS, Specification
from tracewh.cli.report.charts.rooflines import roofline

__all__ = [
    "COLORS",
    "FRAME",
    "KINDS",
    "LONGER",
    "SHORTER",
    "Specification",
    "choices",
    "frames",
    "records",
    "specification",
]

KINDS: dict[str, Callable[..., Specification | None]] = {
    "stacked": stacked,
    "shares": shares,
    "top": top,
    "curve": curve,
    "flame": flame,
    "delta": delta,
    "blocks": blocks,
    "roofline": roofline,
    "heat": heat,
}


def specification(chart: Mapping[str, Any], found: Mapping[str, Any]) -> Specification | None:
    """Return the specification of a chart, or None if it has no value to draw.

    Args:
        chart: The kind of the chart and its columns, as in `panels`.
        found: Rows by column, as `row_json.by_column` returns them.
    """
    given = {name: value for name, value in chart.items() if name not in ("kind", "filters")}
    return KINDS[chart["kind"]](columns_of(found), **given)


def choices(chart: Mapping[str, Any], found: Mapping[str, Any]) -> list[ChartColumn]:
    """Return the columns of a chart that have any value."""
    return filled(columns_of(found), chart["values"])


def records(found: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return rows by column as one dict per row, which is what Vega-Lite reads."""
    names = [column["name"] for column in found["columns"]]
    return [dict(zip(names, row, strict=True)) for row in zip(*found["values"], strict=True)]
