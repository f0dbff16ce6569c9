"""Rooflines: what was achieved, beside what the memory and the compute units of the device allow."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tracewh.cli.report.charts.columns import ChartColumn
from tracewh.cli.report.charts.parts import Specification, amount, chart_of

#: A type has the same color on every page.
TYPES = {
    "float32": "#3267d6",
    "bfloat16": "#2c9c72",
    "float16": "#8a5cd1",
    "float64": "#e38b1d",
    "other": "#7b8496",
}
ROOF = "#7b8496"
HEIGHT = 340
#: Sizes of a plot in pixels, letters of a name in it, and names in it: on a phone and on a desk.
PHONE, DESK = (230, 15, 2), (640, 30, 5)
#: Width and height of a letter.
LETTER, LINE = 6.3, 15
UNKNOWN = "Device limits unknown"


@dataclass(frozen=True, slots=True)
class _Roof:
    """A limit of compute in 10^12 operations per second, and what it is the limit of."""

    tflops: float
    name: str


@dataclass(frozen=True, slots=True)
class _Plane:
    """The ranges of both axes, each a power of ten at either end."""

    x: tuple[float, float]
    y: tuple[float, float]

    def at(self, x: float, y: float, width: float) -> tuple[float, float]:
        """Return the place of a point in pixels, from the left and from the top."""
        (left, right), (low, high) = self.x, self.y
        across = math.log(x / left) / math.log(right / left)
        up = math.log(y / low) / math.log(high / low)
        return across * width, (1 - up) * HEIGHT


def roofline(
    columns: Mapping[str, ChartColumn], label: str, x: str, y: str, time: str
) -> Specification | None:
    """Return points for the rows, sized by time, below the roofs of their device.

    The roofs come from the columns `dtype`, `peak_gbps`, `peak_tflops` and `tensor_peak_tflops`; without them there
    are only points.

    Args:
        columns: The columns of the rows.
        label: The column that names a row.
        x: The column of operations per byte.
        y: The column of 10^12 operations per second.
        time: The column of the time that the work took.
    """
    points = [
        (each_x, each_y, each_time, str(name), row)
        for row, (each_x, each_y, each_time, name) in enumerate(
            zip(
                columns[x].numbers,
                columns[y].numbers,
                columns[time].numbers,
                columns[label].values,
                strict=True,
            )
        )
        if each_x > 0 and each_y > 0
    ]
    if not points:
        return None
    rows = [row for *_, row in points]
    roofs = _roofs(columns, rows)
    gbps = next((value for value in _numbers(columns, "peak_gbps", rows) if value), 0.0)
    plane = _plane(points, roofs, gbps)
    size, word = columns[time].scale
    kinds = list(dict.fromkeys(_types(columns, rows)))
    return chart_of(
        height=HEIGHT,
        encoding={
            "x": _scale(x, plane.x, "floating-point operations per byte", _count),
            "y": _scale(y, plane.y, None, _throughput),
        },
        layer=[
            *(_limits(roofs, gbps, plane, x, y) if roofs and gbps else _unknown(plane, x, y)),
            {
                "transform": [
                    {"filter": f"datum['{x}'] > 0 && datum['{y}'] > 0"},
                    {
                        "calculate": f"indexof({list(TYPES)}, datum.dtype) >= 0 ? datum.dtype : 'other'",
                        "as": "_type",
                    },
                    {"calculate": f"datum['{time}'] / {size:.0f}", "as": "_time"},
                    {"calculate": amount("datum._time", word), "as": "_took"},
                    {
                        "calculate": f"datum['{y}'] >= 1 ? format(datum['{y}'], ',.3~r') + ' TFLOP/s' : "
                        f"format(1000 * datum['{y}'], ',.3~r') + ' GFLOP/s'",
                        "as": "_achieved",
                    },
                    {"calculate": f"format(datum['{x}'], ',.3~r')", "as": "_per_byte"},
                    {"calculate": _share(x, y), "as": "_share"},
                ],
                "mark": {"type": "point", "filled": True, "opacity": 0.75, "stroke": "#fff"},
                "encoding": {
                    "size": {
                        "field": "_time",
                        "type": "quantitative",
                        "legend": None,
                        "scale": {"domainMin": 0, "range": [25, 700]},
                    },
                    "order": {"field": "_time", "type": "quantitative", "sort": "descending"},
                    "color": {
                        "field": "_type",
                        "type": "nominal",
                        "scale": {"domain": kinds, "range": [TYPES[kind] for kind in kinds]},
                        "legend": {"title": None, "orient": "top"} if len(kinds) > 1 else None,
                    },
                    "tooltip": [
                        {"field": label, "title": label},
                        *(
                            {"field": name, "title": name.replace("_", " ")}
                            for name in ("input_dims", "dtype", "calls", "bound")
                            if name in columns
                        ),
                        {"field": "_took", "title": "time"},
                        {"field": "_per_byte", "title": "operations per byte"},
                        {"field": "_achieved", "title": "achieved"},
                        {"field": "_share", "title": "share of the roof"},
                    ],
                },
            },
            *_labels(points, roofs, plane, x, y),
        ],
    )


def _numbers(columns: Mapping[str, ChartColumn], name: str, rows: Iterable[int]) -> list[float]:
    if name not in columns:
        return []
    values = columns[name].numbers
    return [values[row] for row in rows]


def _types(columns: Mapping[str, ChartColumn], rows: Iterable[int]) -> list[str]:
    values = columns["dtype"].values
    return [values[row] if values[row] in TYPES else "other" for row in rows]


def _roofs(columns: Mapping[str, ChartColumn], rows: Sequence[int]) -> list[_Roof]:
    """Return the limits of the types that ran. Types with the same limit have one roof.

    Of float16 only the limit with tensor cores counts. PyTorch uses them for float32 only if it is told to.
    """
    names: dict[float, list[str]] = {}
    plain = _peaks(columns, "peak_tflops", rows)
    tensor = _peaks(columns, "tensor_peak_tflops", rows)
    for kind, limit in plain.items():
        if kind == "float32" or kind not in tensor:
            names.setdefault(limit, []).append(kind)
    for kind, limit in tensor.items():
        if limit != plain.get(kind):
            names.setdefault(limit, []).append(f"{kind} on tensor cores")
    return [_Roof(limit, ", ".join(sorted(names[limit]))) for limit in sorted(names)]


def _peaks(columns: Mapping[str, ChartColumn], name: str, rows: Sequence[int]) -> dict[str, float]:
    """Return the peak of each type. Rows that do not have one say nothing about their type."""
    peaks = zip(_types(columns, rows), _numbers(columns, name, rows), strict=False)
    return {kind: peak for kind, peak in peaks if peak}


def _plane(
    points: Sequence[tuple[float, float, float, str, int]], roofs: Sequence[_Roof], gbps: float
) -> _Plane:
    # The names of the roofs are at the right, where no point should be.
    most = max(x for x, *_ in points)
    across = [*(x for x, *_ in points), 3 * most]
    least = min(y for _, y, *_ in points)
    up = [*(y for _, y, *_ in points), least / 1.5, *(roof.tflops for roof in roofs)]
    if gbps:
        ridges = [1000 * roof.tflops / gbps for roof in roofs]
        across += [3 * ridge for ridge in ridges] + [ridge / 3 for ridge in ridges]
    return _Plane(_decades(across), _decades([*up, 1.3 * max(up)]))


def _decades(values: Sequence[float]) -> tuple[float, float]:
    """Return the powers of ten around the values."""
    low, high = (math.log10(value) for value in (min(values), max(values)))
    return 10.0 ** math.floor(low), 10.0 ** max(math.ceil(high), math.floor(low) + 1)


def _scale(name: str, ends: tuple[float, float], title: str | None, said: Any) -> dict[str, Any]:
    """Return a logarithmic axis with a number at every power of ten, or at every second one."""
    low, high = (round(math.log10(end)) for end in ends)
    every = 1 if high - low <= 7 else 2
    values = [10.0**power for power in range(low, high + 1, every)]
    words = [said(value) for value in values]
    return {
        "field": name,
        "type": "quantitative",
        "title": title,
        "scale": {"type": "log", "domain": list(ends), "nice": False},
        "axis": {
            "values": values,
            "labelExpr": f"{words}[round(log(datum.value) / LN10 - {low}) / {every}]",
            "labelOverlap": True,
        },
    }


def _count(value: float) -> str:
    return f"{value:,.10g}"


def _throughput(tflops: float) -> str:
    for size, word in ((1e3, "PFLOP/s"), (1, "TFLOP/s"), (1e-3, "GFLOP/s"), (1e-6, "MFLOP/s")):
        if tflops >= size * 0.999:
            return f"{tflops / size:,.4g} {word}"
    return f"{tflops * 1e9:,.4g} kFLOP/s"


def _share(x: str, y: str) -> str:
    """Return an expression for the share of a point in the roof above it."""
    has_plain = f"isValid(datum.peak_tflops) && datum['{y}'] <= datum.peak_tflops"
    peak = (
        f"datum.dtype === 'float32' && {has_plain} || !isValid(datum.tensor_peak_tflops)"
        " ? datum.peak_tflops : datum.tensor_peak_tflops"
    )
    limit = f"min({peak}, datum['{x}'] * datum.peak_gbps / 1000)"
    is_known = "isValid(datum.peak_gbps) && (isValid(datum.peak_tflops) || isValid(datum.tensor_peak_tflops))"
    return f"{is_known} ? format(100 * datum['{y}'] / ({limit}), ',.2~r') + ' %' : 'not known'"


def _limits(
    roofs: Sequence[_Roof], gbps: float, plane: _Plane, x: str, y: str
) -> list[dict[str, Any]]:
    """Return the roofs: a line that rises as far as memory allows, and a flat one for each limit of compute."""
    left, right = plane.x
    # The line of memory starts where it comes into view.
    start = max(left, 1000 * plane.y[0] / gbps)
    lines: list[dict[str, Any]] = [
        {"roof": "memory", x: start, y: start * gbps / 1000},
        {"roof": "memory", x: 1000 * roofs[-1].tflops / gbps, y: roofs[-1].tflops},
    ]
    low = start * (lines[1][x] / start) ** 0.15  # where its name begins
    texts = []
    for roof in roofs:
        lines += [
            {"roof": roof.name, x: 1000 * roof.tflops / gbps, y: roof.tflops},
            {"roof": roof.name, x: right, y: roof.tflops},
        ]
        texts.append({"text": f"{_throughput(roof.tflops)}, {roof.name}", x: right, y: roof.tflops})
    text = {"type": "text", "fontSize": 11}
    return [
        {
            "data": {"values": lines},
            "mark": {"type": "line", "color": ROOF, "strokeWidth": 1.5, "clip": True},
            "encoding": {"detail": {"field": "roof", "type": "nominal"}},
        },
        {
            "data": {"values": texts},
            "mark": {**text, "align": "right", "dy": -7, "limit": {"expr": "width * 0.9"}},
            "encoding": {"text": {"field": "text", "type": "nominal"}},
        },
        {
            "data": {
                "values": [{"text": f"memory, {gbps:,.4g} GB/s", x: low, y: low * gbps / 1000}]
            },
            "mark": {**text, "align": "left", "dx": 4, "dy": 10, "baseline": "middle"},
            "encoding": {"text": {"field": "text", "type": "nominal"}},
        },
    ]


def _unknown(plane: _Plane, x: str, y: str) -> list[dict[str, Any]]:
    """Return a text in the place of the roofs."""
    return [
        {
            "data": {"values": [{"text": UNKNOWN, x: plane.x[0], y: plane.y[1]}]},
            "mark": {"type": "text", "align": "left", "dx": 6, "dy": 12},
            "encoding": {"text": {"field": "text", "type": "nominal"}},
        }
    ]


def _labels(
    points: Sequence[tuple[float, float, float, str, int]],
    roofs: Sequence[_Roof],
    plane: _Plane,
    x: str,
    y: str,
) -> list[dict[str, Any]]:
    """Return the names of the points that took longest, as far as they do not cover each other."""
    layers = []
    for (width, letters, most), is_shown in ((PHONE, "letters < 24"), (DESK, "letters >= 24")):
        taken: list[tuple[float, float, float]] = [
            (width - LETTER * 30, plane.at(1, roof.tflops, width)[1] - LINE, width)
            for roof in roofs
        ]
        found: list[dict[str, Any]] = []
        for each_x, each_y, _, name, _ in sorted(points, key=lambda point: -point[2]):
            if len(found) == most:
                break
            short = _short(name, letters)
            left, top = plane.at(each_x, each_y, width)
            is_left = left + 14 + LETTER * len(short) > width
            start = left - 14 - LETTER * len(short) if is_left else left + 14
            box = (start, top - LINE / 2, start + LETTER * len(short))
            if start < 0 or any(_covers(box, other) for other in taken):
                continue
            taken.append(box)
            found.append(
                {"text": short, "_side": "left" if is_left else "right", x: each_x, y: each_y}
            )
        layers += [
            {
                "data": {"values": [each for each in found if each["_side"] == side]},
                "mark": {
                    "type": "text",
                    "fontSize": 11,
                    "align": "left" if side == "right" else "right",
                    "baseline": "middle",
                    "dx": 14 if side == "right" else -14,
                    "opacity": {"expr": f"{is_shown} ? 1 : 0"},
                    "tooltip": None,
                },
                "encoding": {"text": {"field": "text", "type": "nominal"}},
            }
            for side in ("left", "right")
            if any(each["_side"] == side for each in found)
        ]
    return layers


def _covers(one: tuple[float, float, float], other: tuple[float, float, float]) -> bool:
    """Return whether two texts cover each other; each has its left end, its top and its right end."""
    return one[0] < other[2] and other[0] < one[2] and abs(one[1] - other[1]) < LINE


def _short(name: str, letters: int) -> str:
    if len(name) <= letters:
        return name
    return f"{name[: math.ceil(letters * 0.6)]}…{name[len(name) - math.floor(letters * 0.4) + 1 :]}"
