"""Bars: the largest rows, shares of a whole, and parts of each step."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from tracewh.cli.report.charts.columns import ChartColumn, filled, scale_of
from tracewh.cli.report.charts.parts import (
    ACROSS,
    COLORS,
    PLAIN,
    TOP,
    Specification,
    amount,
    axis,
    bar_range,
    chart_of,
    choice,
    colors,
    named,
    names,
    quoted,
    ranked,
    scaled,
    select,
    shortened,
    titles,
    tooltip,
    unit_words,
)


def stacked(
    columns: Mapping[str, ChartColumn], x: str, values: Sequence[str], by: str | None = None
) -> Specification | None:
    """Return a stacked bar for each row, e.g. for each step."""
    parts = filled(columns, values)
    if not parts:
        return None
    # The row of the whole trace has no step. It is left out because it would dwarf the steps.
    has_steps = any(value is not None for value in columns[x].values)
    rows = [n for n, value in enumerate(columns[x].values) if value is not None or not has_steps]
    totals = [sum(part.numbers[n] for part in parts) for n in rows]
    size, word = scale_of(parts[0].unit, totals)
    is_many = by is not None and len(set(columns[by].values)) > 1
    place = (
        f"isValid(datum['{x}']) ? {quoted('' if not is_many else 'step ')} + datum['{x}'] : 'all'"
    )
    if is_many:
        place = f"datum['{by}'] + ', ' + ({place})"
    params, keep = bar_range(len(rows))
    return chart_of(
        params=params,
        height=280,
        transform=[
            {"filter": f"{json.dumps(not has_steps)} || isValid(datum['{x}'])"},
            {"window": [{"op": "row_number", "as": "_row"}]},
            # Lightning numbers the steps of each stage from 1, so a trace may have a number twice. Blanks after
            # it keep the bars apart.
            {"calculate": place, "as": "_place"},
            {"window": [{"op": "row_number", "as": "_nth"}], "groupby": ["_place"]},
            {"calculate": "datum._place + pad('', datum._nth - 1, ' ')", "as": "_place"},
            *keep,
            {"fold": [part.name for part in parts], "as": ["_column", "_value"]},
            {"calculate": f"datum._value / {size:.0f}", "as": "_size"},
            {"calculate": f"{titles(parts)}[datum._column]", "as": "_part"},
            {"calculate": f"indexof({names(parts)}, datum._column)", "as": "_order"},
            {"calculate": amount("datum._size", word), "as": "_said"},
        ],
        mark={"type": "bar", "tooltip": True, "width": {"expr": "min(96, bandwidth('x'))"}},
        encoding={
            "x": {
                "field": "_place",
                "type": "ordinal",
                "sort": None,
                "title": None if is_many else x,
                "axis": {
                    # On a phone, slanted names would push the bars and the legend out of the chart.
                    "labelAngle": {"expr": "letters < 24 ? -90 : -40"} if is_many else 0,
                    "labelOverlap": True,
                },
                "scale": {"paddingInner": 0.2},
            },
            "y": {"field": "_size", "type": "quantitative", "title": None, "axis": axis(word)},
            "color": colors([part.title for part in parts]),
            "order": {"field": "_order", "type": "quantitative"},
            "tooltip": [
                {"field": "_place", "title": x},
                {"field": "_part", "title": "part"},
                {"field": "_said", "title": "time" if parts[0].unit == "us" else "value"},
            ],
        },
    )


def shares(columns: Mapping[str, ChartColumn], label: str, value: str) -> Specification | None:
    """Return a bar for each row with its share of the sum."""
    if not filled(columns, (value,)):
        return None
    size, word = columns[value].scale
    return chart_of(
        height={"step": 22},
        transform=[
            {"calculate": f"datum['{value}'] / {size:.0f}", "as": "_size"},
            {"filter": "datum._size > 0"},
            {"joinaggregate": [{"op": "sum", "field": "_size", "as": "_all"}]},
            {"calculate": "100 * datum._size / datum._all", "as": "_share"},
            ranked("_size"),
            {"calculate": f"datum['{label}']", "as": "_name"},
            *shortened(),
            {
                "calculate": f"{amount('datum._size', word)} + ', ' + {amount('datum._share', '%')}",
                "as": "_said",
            },
        ],
        mark={"type": "bar", "color": PLAIN, "tooltip": True},
        encoding={
            "y": named(),
            "x": {
                "field": "_share",
                "type": "quantitative",
                "title": None,
                "axis": axis("%", ACROSS),
            },
            "tooltip": tooltip(label, columns[value].title),
        },
    )


def top(
    columns: Mapping[str, ChartColumn], label: str, values: Sequence[str], sums: Sequence[str]
) -> Specification | None:
    """Return bars of the largest rows, by a column to choose, and one bar for the others.

    Args:
        columns: The columns of the rows.
        label: The column that names a row.
        values: The columns to choose from.
        sums: Those of them that can be added up, so that the other rows become one bar.
    """
    choices = filled(columns, values)
    if not choices:
        return None
    added = [choice for choice in choices if choice.name in sums]
    rows = len(columns[label].values)
    params = [choice(choices)]
    if rows > TOP[0]:
        params.append({"name": "top", "value": TOP[0], "bind": select("Top", TOP)})
    else:
        params.append({"name": "top", "value": TOP[0]})
    return chart_of(
        params=params,
        height={"step": 22},
        transform=[
            *scaled(choices),
            {"filter": "datum._size > 0"},
            ranked("_size"),
            {"filter": f"datum._rank <= top || indexof({names(added)}, by) >= 0"},
            {"calculate": "datum._rank <= top ? datum._rank : top + 1", "as": "_rank"},
            {"calculate": f"datum._rank <= top ? datum['{label}'] : ''", "as": "_name"},
            {
                "aggregate": [
                    {"op": "sum", "field": "_size", "as": "_size"},
                    {"op": "count", "as": "_count"},
                ],
                "groupby": ["_rank", "_name"],
            },
            {
                "calculate": "datum._rank <= top ? datum._name : datum._count === 1 ? '1 other' "
                ": format(datum._count, ',') + ' others'",
                "as": "_name",
            },
            *shortened(),
            {"calculate": amount("datum._size", f"{unit_words(choices)}[by]"), "as": "_said"},
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
            "color": {"condition": {"test": "datum._rank > top", "value": COLORS["other"]}}
            | {"value": PLAIN},
            "tooltip": tooltip(label, "value"),
        },
    )
