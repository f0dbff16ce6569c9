"""The charts of the report: one Vega-Lite specification for each kind of chart.

The page draws a specification with Vega, a notebook with `altair.Chart.from_dict`. It reads the rows of a
query as they are, from the data set named `rows`::

    {**specification(chart, found), "datasets": {"rows": records(found)}}

What a reader can choose, e.g. the column of a bar chart, is a parameter of the specification, which
becomes a field of a form in both places. Values keep the unit of their column; a specification divides
them by the size of the unit that suits the largest one.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Specification = dict[str, Any]

SCHEMA = "https://vega.github.io/schema/vega-lite/v6.json"
#: Numbers of bars that a reader can choose.
TOP = (10, 20, 50)
#: A chart with more bars than this side by side has two fields for the first and the last of them.
MOST_BARS = 60
#: Letters of a name at an axis. The page sets it to what fits the screen.
LETTERS = 44
#: A frame of a flame graph that is narrower than this part of the whole is left out.
LEAST_FRAME = 1 / 20_000
FRAME_HEIGHT = 20
#: What `frames` says of a frame.
FRAME = ("name", "depth", "start", "end", "said")

#: A category has the same color on every page.
COLORS = {
    "kernel": "#3267d6",
    "computation": "#3267d6",
    "memcpy": "#8a5cd1",
    "memset": "#4fa3c7",
    "overlap": "#4fa3c7",
    "communication": "#d6417b",
    "transfer": "#d6417b",
    "synchronizing": "#eb94b5",
    "runtime": "#7b8496",
    "dataloader": "#e38b1d",
    "cpu exec": "#2c9c72",
    "other": "#b4bbc7",
    "uncompared": "#b4bbc7",
    "allocated": "#3267d6",
    "reserved": "#7b8496",
}
PLAIN = "#3267d6"
#: Numbers of a horizontal axis: as many as fit.
ACROSS = {"expr": "max(2, floor(width / 110))"}
#: Orange and blue differ for every reader, unlike red and green.
LONGER, SHORTER, NOISE = "#d55e00", "#2f84c6", "#9aa1ad"
#: The view says which differences are within the noise; where it does not, nothing is grey.
DIRECTION = {
    "calculate": "datum.significant === false ? 'within run-to-run noise' : "
    "datum._size > 0 ? 'more than the baseline' : 'less than the baseline'",
    "as": "_direction",
}
FLAMES = ["#f4a261", "#e9c46a", "#f2b98a"]

SCALES: dict[str, tuple[tuple[float, str], ...]] = {
    "us": ((1e6, "s"), (1e3, "ms"), (1, "µs")),
    "ms": ((1e3, "s"), (1, "ms")),
    "ns": ((1e9, "s"), (1e6, "ms"), (1e3, "µs"), (1, "ns")),
    "bytes": ((2**40, "TiB"), (2**30, "GiB"), (2**20, "MiB"), (2**10, "KiB"), (1, "B")),
    "pct": ((1, "%"),),
}


@dataclass(frozen=True, slots=True)
class ChartColumn:
    """A column of the rows of a chart."""

    name: str
    unit: str
    values: Sequence[Any]

    @property
    def title(self) -> str:
        """The name in words; the unit is at the axis."""
        name = self.name
        if self.unit in SCALES:
            name = name.removesuffix(f"_{self.unit}")
        return name.replace("_", " ")

    @property
    def numbers(self) -> list[float]:
        """The values as numbers; 0 for what is missing and for what no chart can show."""
        return [_number(value) for value in self.values]

    @property
    def scale(self) -> tuple[float, str]:
        """Size and name of the unit that suits the largest value."""
        return _scale(self.unit, self.numbers)


def _number(value: Any) -> float:
    found = float(value or 0)
    return found if math.isfinite(found) else 0.0


def _scale(unit: str, numbers: Iterable[float]) -> tuple[float, str]:
    scales = SCALES.get(unit, ((1, ""),))
    largest = max(map(abs, numbers), default=0.0)
    return next((scale for scale in scales if largest >= scale[0]), scales[-1])


def specification(chart: Mapping[str, Any], found: Mapping[str, Any]) -> Specification | None:
    """Return the specification of a chart, or None if all its values are zero or missing.

    Args:
        chart: The kind of the chart and its columns, as in `panels`.
        found: Rows by column, as `row_json.by_column` returns them.
    """
    given = {name: value for name, value in chart.items() if name not in ("kind", "filters")}
    return KINDS[chart["kind"]](_columns(found), **given)


def choices(chart: Mapping[str, Any], found: Mapping[str, Any]) -> list[ChartColumn]:
    """Return the columns of a chart that have any value."""
    return _filled(_columns(found), chart["values"])


def _columns(found: Mapping[str, Any]) -> dict[str, ChartColumn]:
    return {
        column["name"]: ChartColumn(column["name"], column["unit"], values)
        for column, values in zip(found["columns"], found["values"], strict=True)
    }


def records(found: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return rows by column as one dict per row, which is what Vega-Lite reads."""
    names = [column["name"] for column in found["columns"]]
    return [dict(zip(names, row, strict=True)) for row in zip(*found["values"], strict=True)]


def stacked(
    columns: Mapping[str, ChartColumn], x: str, values: Sequence[str], by: str | None = None
) -> Specification | None:
    """Return a stacked bar for each row, e.g. for each step."""
    parts = _filled(columns, values)
    if not parts:
        return None
    # The row of the whole trace has no step. It is left out because it would dwarf the steps.
    has_steps = any(value is not None for value in columns[x].values)
    rows = [n for n, value in enumerate(columns[x].values) if value is not None or not has_steps]
    totals = [sum(part.numbers[n] for part in parts) for n in rows]
    size, word = _scale(parts[0].unit, totals)
    is_many = by is not None and len(set(columns[by].values)) > 1
    place = (
        f"isValid(datum['{x}']) ? {_text('' if not is_many else 'step ')} + datum['{x}'] : 'all'"
    )
    if is_many:
        place = f"datum['{by}'] + ', ' + ({place})"
    params, keep = _range(len(rows))
    return _chart(
        params=params,
        height=280,
        transform=[
            {"filter": f"{json.dumps(not has_steps)} || isValid(datum['{x}'])"},
            {"window": [{"op": "row_number", "as": "_row"}]},
            *keep,
            {"calculate": place, "as": "_place"},
            {"fold": [part.name for part in parts], "as": ["_column", "_value"]},
            {"calculate": f"datum._value / {size:.0f}", "as": "_size"},
            {"calculate": f"{_lookup(parts)}[datum._column]", "as": "_part"},
            {"calculate": f"indexof({_names(parts)}, datum._column)", "as": "_order"},
            {"calculate": _amount("datum._size", word), "as": "_said"},
        ],
        mark={"type": "bar", "tooltip": True, "width": {"expr": "min(96, bandwidth('x'))"}},
        encoding={
            "x": {
                "field": "_place",
                "type": "ordinal",
                "sort": None,
                "title": None if is_many else x,
                "axis": {
                    "labelAngle": -40 if is_many else 0,
                    "labelOverlap": True,
                },
                "scale": {"paddingInner": 0.2},
            },
            "y": {"field": "_size", "type": "quantitative", "title": None, "axis": _axis(word)},
            "color": _colors([part.title for part in parts]),
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
    if not _filled(columns, (value,)):
        return None
    size, word = columns[value].scale
    return _chart(
        height={"step": 22},
        transform=[
            {"calculate": f"datum['{value}'] / {size:.0f}", "as": "_size"},
            {"filter": "datum._size > 0"},
            {"joinaggregate": [{"op": "sum", "field": "_size", "as": "_all"}]},
            {"calculate": "100 * datum._size / datum._all", "as": "_share"},
            _rank("_size"),
            {"calculate": f"datum['{label}']", "as": "_name"},
            *_shortened(),
            {
                "calculate": f"{_amount('datum._size', word)} + ', ' + {_amount('datum._share', '%')}",
                "as": "_said",
            },
        ],
        mark={"type": "bar", "color": PLAIN, "tooltip": True},
        encoding={
            "y": _named(),
            "x": {
                "field": "_share",
                "type": "quantitative",
                "title": None,
                "axis": _axis("%", ACROSS),
            },
            "tooltip": _tooltip(label, columns[value].title),
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
    choices = _filled(columns, values)
    if not choices:
        return None
    added = [choice for choice in choices if choice.name in sums]
    rows = len(columns[label].values)
    params = [_choice(choices)]
    if rows > TOP[0]:
        params.append({"name": "top", "value": TOP[0], "bind": _select("Top", TOP)})
    else:
        params.append({"name": "top", "value": TOP[0]})
    return _chart(
        params=params,
        height={"step": 22},
        transform=[
            *_scaled(choices),
            {"filter": "datum._size > 0"},
            _rank("_size"),
            {"filter": f"datum._rank <= top || indexof({_names(added)}, by) >= 0"},
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
                "calculate": "datum._rank <= top ? datum._name : format(datum._count, ',') + ' others'",
                "as": "_name",
            },
            *_shortened(),
            {"calculate": _amount("datum._size", f"{_words(choices)}[by]"), "as": "_said"},
        ],
        mark={"type": "bar", "tooltip": True},
        encoding={
            "y": _named(),
            "x": {
                "field": "_size",
                "type": "quantitative",
                "title": None,
                "axis": _axis(f"{_words(choices)}[by]", ACROSS),
            },
            "color": {"condition": {"test": "datum._rank > top", "value": COLORS["other"]}}
            | {"value": PLAIN},
            "tooltip": _tooltip(label, "value"),
        },
    )


def curve(
    columns: Mapping[str, ChartColumn], x: str, by: str, values: Sequence[str]
) -> Specification | None:
    """Return lines over time, of one device at a time. The parameter `brush` is a range of time."""
    parts = _filled(columns, values)
    if not parts:
        return None
    most: dict[Any, float] = {}
    for row, device in enumerate(columns[by].values):
        here = max(part.numbers[row] for part in parts)
        most[device] = max(most.get(device, 0.0), here)
    devices = sorted(most, key=lambda device: -most[device])
    size, word = _scale(parts[0].unit, most.values())
    device = {"name": "device", "value": devices[0]}
    if len(devices) > 1:
        device["bind"] = _select(by.capitalize(), devices)
    return _chart(
        params=[device],
        height=280,
        transform=[
            {"filter": f"datum['{by}'] === device"},
            {"fold": [part.name for part in parts], "as": ["_column", "_value"]},
            {"filter": "isValid(datum._value)"},
            {"calculate": f"datum._value / {size:.0f}", "as": "_size"},
            {"calculate": f"{_lookup(parts)}[datum._column]", "as": "_part"},
        ],
        encoding={
            "x": {
                "field": x,
                "type": "quantitative",
                "title": None,
                "axis": _axis(columns[x].unit, ACROSS),
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
                        "axis": _axis(word),
                    },
                    "color": _colors([part.title for part in parts]),
                },
            },
            {  # the values at the mouse, from each point to the next
                "transform": [
                    {"pivot": "_part", "value": "_size", "groupby": [x]},
                    {
                        "window": [{"op": "lead", "field": x, "as": "_until"}],
                        "sort": [{"field": x}],
                    },
                    {"calculate": _amount(f"datum['{x}']", columns[x].unit), "as": "_when"},
                    *(
                        {"calculate": _amount(f"datum['{part.title}']", word), "as": part.title}
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


def flame(
    columns: Mapping[str, ChartColumn], path: str, values: Sequence[str]
) -> Specification | None:
    """Return a flame graph of `frames`. A click on a frame, the parameter `zoom`, makes it fill the width."""
    if not _filled(columns, values):
        return None
    start, end = (
        "(isValid(zoom.start) ? zoom.start[0] : 0)",
        "(isValid(zoom.end) ? zoom.end[0] : 1)",
    )
    return _chart(
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
    by_name = _columns(found)
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
    size, word = _scale(unit, (number,))
    return f"{number / size:,.4g} {word}".rstrip()


def delta(
    columns: Mapping[str, ChartColumn], label: str, values: Sequence[str]
) -> Specification | None:
    """Return bars of the largest differences, in both directions."""
    choices = _filled(columns, values)
    if not choices:
        return None
    return _chart(
        params=[_choice(choices)],
        height={"step": 22},
        transform=[
            *_scaled(choices),
            {"filter": "isValid(datum._size) && datum._size !== 0"},
            {"calculate": "abs(datum._size)", "as": "_absolute"},
            _rank("_absolute"),
            {"filter": f"datum._rank <= {TOP[0]}"},
            {"calculate": f"datum['{label}']", "as": "_name"},
            *_shortened(),
            {"calculate": _signed("datum._size", f"{_words(choices)}[by]"), "as": "_said"},
            DIRECTION,
        ],
        mark={"type": "bar", "tooltip": True},
        encoding={
            "y": _named(),
            "x": {
                "field": "_size",
                "type": "quantitative",
                "title": None,
                "axis": _axis(f"{_words(choices)}[by]", ACROSS),
            },
            "color": _directions(),
            "tooltip": _tooltip(label, "experiment - baseline"),
        },
    )


def blocks(columns: Mapping[str, ChartColumn]) -> Specification | None:
    """Return bars of the blocks inside a block that changed most.

    The parameter `block` is the block to look into: its path and its depth.
    """
    if not _filled(columns, ("delta_us",)):
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
    return _chart(
        params=[{"name": "block", "value": options[0], "bind": _select("Block", options, labels)}],
        height={"step": 22},
        transform=[
            {"filter": f"{inside} && datum.depth === block.depth + 1"},
            {"calculate": f"datum.delta_us / {size:.0f}", "as": "_size"},
            {"calculate": "abs(datum._size)", "as": "_absolute"},
            _rank("_absolute"),
            {"filter": f"datum._rank <= {TOP[1]}"},
            {"calculate": "replace(datum.path, regexp('^.*/'), '')", "as": "_name"},
            {
                "calculate": "datum.kind === 'unknown' "
                "? replace(datum._name, 'unknown', 'outside of blocks') : datum._name",
                "as": "_name",
            },
            *_shortened(),
            {"calculate": _signed("datum._size", word), "as": "_said"},
            {
                "calculate": "datum.matched ? 'both runs' "
                ": isValid(datum.baseline_us) ? 'the baseline only' : 'the experiment only'",
                "as": "_where",
            },
            DIRECTION,
        ],
        mark={"type": "bar", "tooltip": True, "cursor": "pointer"},
        encoding={
            "y": _named(),
            "x": {
                "field": "_size",
                "type": "quantitative",
                "title": None,
                "axis": _axis(word, ACROSS),
            },
            "color": _directions(),
            "tooltip": [
                *_tooltip("block", "experiment - baseline"),
                {"field": "_where", "title": "in"},
            ],
        },
    )


def _chart(**parts: Any) -> Specification:
    """Return a specification as wide as its place, with the parts that differ."""
    params = [{"name": "letters", "value": LETTERS}, *parts.pop("params", [])]
    return {
        "$schema": SCHEMA,
        "data": {"name": "rows"},
        "width": "container",
        "autosize": {"type": "fit-x", "contains": "padding"},
        "params": params,
        **parts,
    }


def _filled(columns: Mapping[str, ChartColumn], names: Sequence[str]) -> list[ChartColumn]:
    """Return those of the columns that have any value."""
    return [columns[name] for name in names if name in columns and any(columns[name].numbers)]


def _select(title: str, options: Sequence[Any], labels: Sequence[str] = ()) -> dict[str, Any]:
    named = {"labels": list(labels)} if labels else {}
    return {"input": "select", "name": f"{title} ", "options": list(options), **named}


def _choice(choices: Sequence[ChartColumn]) -> dict[str, Any]:
    """Return the parameter `by`, the column that a chart shows."""
    names, titles = [each.name for each in choices], [each.title for each in choices]
    chosen: dict[str, Any] = {"name": "by", "value": names[0]}
    if len(choices) > 1:
        chosen["bind"] = _select("By", names, titles)
    return chosen


def _range(count: int) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return parameters for the first and the last of many bars, and the filter that uses them."""
    if count <= MOST_BARS:
        return [], []
    bounds = {"input": "range", "min": 1, "max": count, "step": 1}
    params = [
        {"name": "first", "value": 1, "bind": {**bounds, "name": "First bar "}},
        {"name": "last", "value": count, "bind": {**bounds, "name": "Last bar "}},
    ]
    return params, [{"filter": "datum._row >= first && datum._row <= last"}]


def _scaled(choices: Sequence[ChartColumn]) -> list[dict[str, Any]]:
    """Return the transform that makes `_size`: the chosen column in the unit of its axis."""
    sizes = json.dumps({each.name: each.scale[0] for each in choices})
    return [{"calculate": f"datum[by] / {sizes}[by]", "as": "_size"}]


def _rank(field: str) -> dict[str, Any]:
    return {
        "window": [{"op": "row_number", "as": "_rank"}],
        "sort": [{"field": field, "order": "descending"}],
    }


def _shortened() -> list[dict[str, Any]]:
    """Return transforms that make `_short`: `_name` shortened in the middle, different for each bar."""
    short = (
        "length(datum._name) > letters ? slice(datum._name, 0, ceil(letters * 0.6)) + '…' "
        "+ slice(datum._name, length(datum._name) - floor(letters * 0.4) + 1) : datum._name"
    )
    return [
        {"calculate": short, "as": "_short"},
        {
            "window": [{"op": "row_number", "as": "_again"}],
            "groupby": ["_short"],
            "sort": [{"field": "_rank"}],
        },
        {
            "calculate": "datum._again > 1 ? datum._short + ' (' + datum._again + ')' : datum._short",
            "as": "_short",
        },
    ]


def _named() -> dict[str, Any]:
    """Return the axis of names, the largest bar first."""
    return {
        "field": "_short",
        "type": "nominal",
        "title": None,
        "sort": {"field": "_rank", "op": "min"},
        "axis": {"labelLimit": 420, "ticks": False, "domain": False},
    }


def _axis(word: str, ticks: Any = 6) -> dict[str, Any]:
    """Return an axis that has the unit at each number. The word may be an expression."""
    return {"labelExpr": f"format(datum.value, ',.4~r') + {_unit(word)}", "tickCount": ticks}


def _unit(word: str) -> str:
    """Return an expression for a blank and a unit; a word that is an expression of its own stays one."""
    return f"({word})" if word.startswith("{") else _text(f" {word}".rstrip())


def _amount(value: str, word: str) -> str:
    """Return an expression that formats a value with its unit."""
    return f"format({value}, abs({value}) < 100 ? ',.3~r' : ',.1~f') + {_unit(word)}"


def _signed(value: str, word: str) -> str:
    return f"({value} > 0 ? '+' : '') + {_amount(value, word)}"


def _text(value: str) -> str:
    """Return a text as a literal of an expression."""
    return json.dumps(value, ensure_ascii=False)


def _names(columns: Iterable[ChartColumn]) -> str:
    return json.dumps([column.name for column in columns])


def _lookup(columns: Iterable[ChartColumn]) -> str:
    """Return an expression for the titles of columns by name."""
    return json.dumps({column.name: column.title for column in columns})


def _words(columns: Iterable[ChartColumn]) -> str:
    """Return an expression for the units of columns by name, each after a blank."""
    return json.dumps(
        {column.name: f" {column.scale[1]}".rstrip() for column in columns}, ensure_ascii=False
    )


def _colors(titles: Sequence[str]) -> dict[str, Any]:
    return {
        "field": "_part",
        "type": "nominal",
        "scale": {"domain": list(titles), "range": [COLORS.get(each, PLAIN) for each in titles]},
        "legend": {
            "title": None,
            "orient": "top",
            "columns": {"expr": "letters < 30 ? 2 : 8"},
        },
    }


def _directions() -> dict[str, Any]:
    return {
        "field": "_direction",
        "type": "nominal",
        "scale": {
            "domain": [
                "more than the baseline",
                "less than the baseline",
                "within run-to-run noise",
            ],
            "range": [LONGER, SHORTER, NOISE],
        },
        "legend": {"title": None, "orient": "top", "columns": {"expr": "letters < 24 ? 1 : 3"}},
    }


def _tooltip(label: str, value: str) -> list[dict[str, Any]]:
    return [{"field": "_name", "title": label}, {"field": "_said", "title": value}]


KINDS: dict[str, Callable[..., Specification | None]] = {
    "stacked": stacked,
    "shares": shares,
    "top": top,
    "curve": curve,
    "flame": flame,
    "delta": delta,
    "blocks": blocks,
}
