"""What the specifications of several kinds of chart have in common: axes, colors, tooltips, fields to choose."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

from tracewh.cli.report.charts.columns import ChartColumn

Specification = dict[str, Any]
SCHEMA = "https://vega.github.io/schema/vega-lite/v6.json"
#: Numbers of bars that a reader can choose.
TOP = (10, 20, 50)
#: A chart with more bars than this side by side has two fields for the first and the last of them.
MOST_BARS = 60
#: Letters of a name at an axis. The page sets it to what fits the screen.
LETTERS = 44
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
    "busy": "#3267d6",
    "idle": "#7b8496",
}
PLAIN = "#3267d6"
#: Numbers of a horizontal axis: as many as fit. With less than three, an axis from -4 to 4 has only its 0.
ACROSS = {"expr": "max(3, floor(width / 110))"}


def chart_of(**parts: Any) -> Specification:
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


def select(title: str, options: Sequence[Any], labels: Sequence[str] = ()) -> dict[str, Any]:
    """Return a field for one of some values, which may have labels of their own."""
    named = {"labels": list(labels)} if labels else {}
    return {"input": "select", "name": f"{title} ", "options": list(options), **named}


def choice(choices: Sequence[ChartColumn]) -> dict[str, Any]:
    """Return the parameter `by`, the column that a chart shows."""
    names, titles = [each.name for each in choices], [each.title for each in choices]
    chosen: dict[str, Any] = {"name": "by", "value": names[0]}
    if len(choices) > 1:
        chosen["bind"] = select("By", names, titles)
    return chosen


def bar_range(count: int) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return parameters for the first and the last of many bars, and the filter that uses them."""
    if count <= MOST_BARS:
        return [], []
    bounds = {"input": "range", "min": 1, "max": count, "step": 1}
    params = [
        {"name": "first", "value": 1, "bind": {**bounds, "name": "First bar "}},
        {"name": "last", "value": count, "bind": {**bounds, "name": "Last bar "}},
    ]
    return params, [{"filter": "datum._row >= first && datum._row <= last"}]


def scaled(choices: Sequence[ChartColumn]) -> list[dict[str, Any]]:
    """Return the transform that makes `_size`: the chosen column in the unit of its axis."""
    sizes = json.dumps({each.name: each.scale[0] for each in choices})
    return [{"calculate": f"datum[by] / {sizes}[by]", "as": "_size"}]


def ranked(field: str) -> dict[str, Any]:
    """Return the transform that makes `_rank`: 1 for the largest value of a field."""
    return {
        "window": [{"op": "row_number", "as": "_rank"}],
        "sort": [{"field": field, "order": "descending"}],
    }


def shortened() -> list[dict[str, Any]]:
    """Return transforms that make `_short`: `_name` shortened in the middle, different for each bar.

    It begins with a blank. Vega finds a bar as a property of an object, and each object has some already, such as
    `constructor`.
    """
    short = (
        "length(datum._name) > letters ? slice(datum._name, 0, ceil(letters * 0.6)) + '…' "
        "+ slice(datum._name, length(datum._name) - floor(letters * 0.4) + 1) : datum._name"
    )
    return [
        {"calculate": f"' ' + ({short})", "as": "_short"},
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


def named() -> dict[str, Any]:
    """Return the axis of names, the largest bar first."""
    return {
        "field": "_short",
        "type": "nominal",
        "title": None,
        "sort": {"field": "_rank", "op": "min"},
        "axis": {
            "labelExpr": "slice(datum.label, 1)",
            "labelLimit": 420,
            "ticks": False,
            "domain": False,
        },
    }


def axis(word: str, ticks: Any = 6) -> dict[str, Any]:
    """Return an axis that has the unit at each number. The word may be an expression."""
    said = f"format(datum.value, ',.4~r') + {unit_text(word)}"
    return {"labelExpr": said, "labelSeparation": 6, "tickCount": ticks}


def unit_text(word: str) -> str:
    """Return an expression for a blank and a unit; a word that is an expression of its own stays one."""
    return f"({word})" if word.startswith("{") else quoted(f" {word}".rstrip())


def amount(value: str, word: str) -> str:
    """Return an expression that formats a value with its unit."""
    return f"format({value}, abs({value}) < 100 ? ',.3~r' : ',.1~f') + {unit_text(word)}"


def signed(value: str, word: str) -> str:
    """Return an expression that formats a difference with its sign and unit."""
    return f"({value} > 0 ? '+' : '') + {amount(value, word)}"


def quoted(value: str) -> str:
    """Return a text as a literal of an expression."""
    return json.dumps(value, ensure_ascii=False)


def names(columns: Iterable[ChartColumn]) -> str:
    """Return an expression for the names of columns."""
    return json.dumps([column.name for column in columns])


def titles(columns: Iterable[ChartColumn]) -> str:
    """Return an expression for the titles of columns by name."""
    return json.dumps({column.name: column.title for column in columns})


def unit_words(columns: Iterable[ChartColumn]) -> str:
    """Return an expression for the units of columns by name, each after a blank."""
    return json.dumps(
        {column.name: f" {column.scale[1]}".rstrip() for column in columns}, ensure_ascii=False
    )


def colors(titles: Sequence[str]) -> dict[str, Any]:
    """Return the colors of the parts with these titles, and their legend."""
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


def tooltip(label: str, value: str) -> list[dict[str, Any]]:
    """Return what a bar says: its whole name, and its value."""
    return [{"field": "_name", "title": label}, {"field": "_said", "title": value}]
