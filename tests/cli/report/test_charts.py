"""The specifications of the charts, drawn without the page, as in a notebook."""

from __future__ import annotations

import re
from html import unescape
from pathlib import Path
from typing import Any

import pytest
import vl_convert

import tracewh
from tests.cli.report.conftest import data_of
from tracewh.cli.app import main
from tracewh.cli.report import charts, libraries
from tracewh.cli.report.panels import SECTIONS


def found(units: dict[str, str], *rows: tuple[Any, ...]) -> dict[str, Any]:
    """Rows by column."""
    columns = [{"name": name, "unit": unit} for name, unit in units.items()]
    return {"columns": columns, "values": [list(column) for column in zip(*rows, strict=True)]}


def svg_of(
    specification: charts.Specification | None, rows: list[dict[str, Any]], width: int = 900
) -> str:
    """A chart of this width, with names as long as the page lets them be there."""
    made: dict[str, Any] = dict(specification or {})
    if width < 900:
        letters = {"name": "letters", "value": max(14, round(width * 0.34 / 6.4))}
        others = [known for known in made["params"] if known["name"] != "letters"]
        made["params"] = [letters, *others]
    drawn = {**made, "width": width, "datasets": {"rows": rows}}
    return vl_convert.vegalite_to_svg(drawn)


def texts(specification: charts.Specification | None, rows: list[dict[str, Any]]) -> list[str]:
    """The texts of a chart."""
    svg = svg_of(specification, rows)
    return [unescape(text) for text in re.findall(r"<text[^>]*>([^<]+)</text>", svg)]


def test_each_chart_of_the_page_draws_in_a_notebook(compared: Path) -> None:
    import altair  # takes seconds, and every process of a test run collects this file

    kinds = set()
    for name, panel in data_of(compared).items():
        if not isinstance(panel, dict) or not (panel.get("chart") or {}).get("specification"):
            continue
        chart = panel["chart"]
        rows = charts.records(panel)
        if chart["kind"] == "flame":
            rows = charts.frames(panel, chart["path"], next(iter(chart["frames"])))
        assert texts(chart["specification"], rows), name
        if (
            chart["kind"] not in kinds
        ):  # the same code makes all of a kind, and altair takes its time
            kinds.add(chart["kind"])
            whole = {**chart["specification"], "datasets": {"rows": rows[:20]}}
            assert altair.Chart.from_dict(whole).to_dict()["data"] == {"name": "rows"}, name
    # The runs have no device, and no pipeline operations.
    assert kinds == charts.KINDS.keys() - {"roofline", "heat"}


def test_bars_are_in_the_unit_of_the_largest() -> None:
    rows = found({"name": "-", "time_us": "us", "calls": "-"}, ("a", 250_000, 1), ("b", 50_000, 5))
    made = charts.specification(
        {"kind": "top", "label": "name", "values": ("time_us", "calls"), "sums": ("calls",)}, rows
    )
    assert made is not None
    assert [each for each in made["params"] if each["name"] == "by"] == [
        {"name": "by", "value": "time_us"}
        | {
            "bind": {
                "input": "select",
                "name": "By ",
                "options": ["time_us", "calls"],
                "labels": ["time", "calls"],
            }
        }
    ]
    shown = texts(made, charts.records(rows))
    assert "250 ms" in shown
    assert shown.index("a") < shown.index("b")


@pytest.mark.parametrize(("others", "named"), [(0, None), (1, "1 other"), (2, "2 others")])
def test_what_is_not_among_the_largest_is_counted(others: int, named: str | None) -> None:
    rows = found({"name": "-", "time_us": "us"}, *((f"k{n}", 100 - n) for n in range(10 + others)))
    chart = {"kind": "top", "label": "name", "values": ("time_us",), "sums": ("time_us",)}
    shown = texts(charts.specification(chart, rows), charts.records(rows))
    assert [text for text in shown if "other" in text] == ([named] if named else [])


@pytest.mark.parametrize(("width", "numbers"), [(115, [0, 400]), (150, [0, 200, 400])])
def test_numbers_of_a_narrow_axis_have_a_blank_between_them(width: int, numbers: list[int]) -> None:
    """Without one it says '200 ms400 ms'. Numbers that have no room are transparent."""
    rows = found({"name": "-", "time_us": "us"}, ("a", 412_000))
    chart = {"kind": "top", "label": "name", "values": ("time_us",), "sums": ()}
    svg = svg_of(charts.specification(chart, rows), charts.records(rows), width)
    assert [*map(int, re.findall(r'opacity="1">(\d+) ms<', svg))] == numbers


@pytest.mark.parametrize(("width", "angle"), [(258, 90), (328, 90), (600, 40)])
def test_names_of_workers_below_bars_leave_room_for_the_chart(width: int, angle: int) -> None:
    """On a phone they are upright: slanted, the first one would need half of the width."""
    rows = found(
        {"worker": "-", "step": "-", "overlap_us": "us"},
        *((f"sampled_rank-{n}", step, 9000) for n in range(2) for step in (551, 552)),
    )
    chart = {"kind": "stacked", "x": "step", "values": ("overlap_us",), "by": "worker"}
    svg = svg_of(charts.specification(chart, rows), charts.records(rows), width)
    angles = re.findall(r"<text[^>]*rotate\(-(\d+)[^>]*>sampled_rank-\d, step 55", svg)
    assert {*map(int, angles)} == {angle}


@pytest.mark.parametrize(
    ("width", "numbers", "words"),
    [
        (150, ["−4 us", "0 us", "4 us"], ["more", "less", "noise"]),
        (900, ["−4 us", "0 us", "4 us"], ["more than the baseline", "less than the baseline"]),
    ],
)
def test_differences_on_a_phone(width: int, numbers: list[str], words: list[str]) -> None:
    """The axis has a number beside its 0, and the legend fits beside the names."""
    rows = found({"name": "-", "delta_us": "us"}, ("a", -4), ("b", 4))
    chart = {"kind": "delta", "label": "name", "values": ("delta_us",)}
    svg = svg_of(charts.specification(chart, rows), charts.records(rows), width)
    shown = re.findall(r'opacity="1">([^<]+)<', svg.replace("µs", "us"))
    assert [text for text in shown if text in numbers] == numbers
    assert {*words} <= {*shown}


def test_parts_of_a_chart_have_different_colors() -> None:
    """The legend tells them apart by nothing else."""
    panels = [panel for section in SECTIONS for panel in section.panels if panel.chart]
    drawn = 0
    for panel in panels:
        assert panel.chart
        if panel.chart["kind"] not in ("stacked", "curve"):
            continue
        units = {name: name.rpartition("_")[2] for name in panel.chart["values"]}
        made = charts.specification(
            panel.chart,
            found(
                {panel.chart["x"]: "-", panel.chart.get("by", "-"): "-", **units},
                (1,) * (len(units) + 2),
            ),
        )
        [domain] = re.findall(r"'range': \[([^]]*)\]", str(made))
        colors = re.findall(r"#[0-9a-f]{6}", domain)
        assert len(colors) == len(units)
        assert len({*colors}) == len(units), panel.id
        drawn += 1
    assert drawn == 6


@pytest.mark.parametrize(("steps", "widest"), [(1, 96), (3, 96), (40, 22)])
def test_few_bars_are_no_wider_than_many(steps: int, widest: float) -> None:
    """A chart of one step is a bar as well, not a square as wide as the page."""
    rows = found({"step": "-", "kernel_us": "us"}, *((n, 1000) for n in range(steps)))
    made = charts.specification({"kind": "stacked", "x": "step", "values": ("kernel_us",)}, rows)
    drawn = {**(made or {}), "width": 900, "datasets": {"rows": charts.records(rows)}}
    svg = vl_convert.vegalite_to_svg(drawn)
    widths = [
        float(w) for w in re.findall(r'aria-roledescription="bar" d="M[-\d.,]+h([\d.]+)', svg)
    ]
    assert len(widths) == steps
    assert widest / 2 < max(widths) <= widest


def test_steps_of_the_same_number_are_a_bar_each() -> None:
    rows = [{"step": step, "kernel_us": us} for step, us in ((2, 2000), (1, 1000), (2, 3000))]
    values = found({"step": "-", "kernel_us": "us"}, *[tuple(row.values()) for row in rows])
    made = charts.specification({"kind": "stacked", "x": "step", "values": ("kernel_us",)}, values)
    assert texts(made, rows)[:4] == ["2", "1", "2", "step"]


def test_shortened_names_differ() -> None:
    """They are shortened in the middle; names that would be the same are numbered."""
    names = [f"void kernel<{'float, ' * 9}{digit}{', int' * 9}>" for digit in "123"]
    rows = found({"name": "-", "total_us": "us"}, *((name, 9 - n) for n, name in enumerate(names)))
    chart = {"kind": "shares", "label": "name", "value": "total_us"}
    shown = texts(charts.specification(chart, rows), charts.records(rows))
    short = "void kernel<float, float, f…, int, int, int>"
    assert [text for text in shown if "kernel" in text] == [short, f"{short} (2)", f"{short} (3)"]


@pytest.mark.parametrize(
    "kind",
    [
        {"kind": "top", "values": ("total_us",), "sums": ("total_us",)},
        {"kind": "shares", "value": "total_us"},
    ],
)
def test_names_that_every_object_of_javascript_has(kind: dict[str, Any]) -> None:
    names = ["constructor", "__proto__", "aten::mm", "toString"]
    rows = found({"name": "-", "total_us": "us"}, *((name, 9 - n) for n, name in enumerate(names)))
    chart = {**kind, "label": "name"}
    shown = texts(charts.specification(chart, rows), charts.records(rows))
    assert [text for text in shown if text in names] == names


def test_frames_of_a_flame_graph() -> None:
    rows = found(
        {"stack": "-", "value_us": "us"}, ("a;b", 600), ("a b;c", 300), ("a;d", 90), ("a", 10)
    )
    made = charts.frames(rows, "stack", "value_us")
    assert sorted((f["depth"], f["start"], f["end"], f["name"]) for f in made) == [
        (0, 0.0, 0.7, "a"),
        (0, 0.7, 1.0, "a b"),
        (1, 0.01, 0.61, "b"),
        (1, 0.61, 0.7, "d"),
        (1, 0.7, 1.0, "c"),
    ]
    assert {f["name"]: f["said"] for f in made}["a"] == "700 µs, 70 %"


ROOFLINE = {
    "kind": "roofline",
    "label": "name",
    "x": "intensity",
    "y": "tflops",
    "time": "device_us",
}
WORK = {"name": "-", "dtype": "-", "intensity": "-", "tflops": "-", "device_us": "us"} | {
    name: "-" for name in ("peak_tflops", "tensor_peak_tflops", "peak_gbps")
}


def test_a_roofline_has_the_roofs_of_the_types_that_ran() -> None:
    """An A100 does 2,000 GB/s here: its roof of 20 TFLOP/s begins at 10 operations per byte, that of 300 at 150."""
    rows = found(
        WORK,
        ("gemm", "float32", 40.0, 10.0, 9000, 20.0, 150.0, 2000.0),
        ("half", "bfloat16", 100.0, 50.0, 500, None, 300.0, 2000.0),
        ("also half", "float16", 120.0, 60.0, 400, 80.0, 300.0, 2000.0),
        ("no time", "float64", 40.0, None, None, 10.0, None, 2000.0),
        ("no operations", "float32", 0.0, 0.0, 3, 20.0, 150.0, 2000.0),
    )
    made = charts.specification(ROOFLINE, rows)
    assert made is not None
    lines = [
        (each["roof"], each["intensity"], each["tflops"])
        for each in made["layer"][0]["data"]["values"]
    ]
    # Both axes end at powers of ten: three times 450 operations per byte are below 1,000.
    both = "bfloat16 on tensor cores, float16 on tensor cores"
    assert lines == [
        ("memory", 1.0, 2.0),
        ("memory", 150.0, 300.0),
        ("float32", 10.0, 20.0),
        ("float32", 1000.0, 20.0),
        ("float32 on tensor cores", 75.0, 150.0),
        ("float32 on tensor cores", 1000.0, 150.0),
        (both, 150.0, 300.0),
        (both, 1000.0, 300.0),
    ]
    shown = texts(made, charts.records(rows))
    assert {"memory, 2,000 GB/s", "20 TFLOP/s, float32", f"300 TFLOP/s, {both}"} <= set(shown)
    assert {"gemm", "half", "10 TFLOP/s", "1 TFLOP/s", "100"} <= set(shown)
    assert not {"no time", "no operations", "float64"} & set(shown)


def test_a_type_has_the_roofs_of_all_units_that_ran_it() -> None:
    """Each row has the peak of the units that it ran on, as in the roofline of kernels."""
    rows = found(
        WORK,
        ("tf32", "float32", 100.0, 15.0, 900, None, 150.0, 2000.0),
        ("add", "float32", 5.0, 10.0, 90, 20.0, None, 2000.0),
        ("also tf32", "float32", 100.0, 15.0, 9, None, 150.0, 2000.0),
    )
    made = charts.specification(ROOFLINE, rows)
    assert made is not None
    roofs = {each["roof"] for each in made["layer"][0]["data"]["values"]}
    assert roofs == {"memory", "float32", "float32 on tensor cores"}
    svg = vl_convert.vegalite_to_svg(
        {**made, "width": 640, "datasets": {"rows": charts.records(rows)}}
    )
    said = map(unescape, re.findall(r'aria-label="([^"]*)"', svg))
    shares = [re.search("name: ([^;]*);.*share of the roof: ([^;]*)$", each) for each in said]
    assert sorted(match.groups() for match in shares if match) == [
        ("add", "100 %"),
        ("also tf32", "10 %"),
        ("tf32", "10 %"),
    ]


def test_what_a_point_of_a_roofline_says() -> None:
    """gemm does 10 of the 20 TFLOP/s without tensor cores; fast needs them; slow moves 1,000 of 2,000 GB/s."""
    rows = found(
        WORK,
        ("gemm", "float32", 40.0, 10.0, 9000, 20.0, 150.0, 2000.0),
        ("fast", "float32", 100.0, 75.0, 900, 20.0, 150.0, 2000.0),
        ("slow", "bfloat16", 0.1, 0.1, 500, None, 300.0, 2000.0),
        ("other", "int8", 50.0, 1.0, 400, None, None, None),
    )
    drawn = {**(charts.specification(ROOFLINE, rows) or {}), "width": 640}
    svg = vl_convert.vegalite_to_svg({**drawn, "datasets": {"rows": charts.records(rows)}})
    parts = re.compile(
        "name: ([^;]*);.*time: ([^;]*);.*achieved: ([^;]*); share of the roof: ([^;]*)$"
    )
    said = map(parts.search, map(unescape, re.findall(r'aria-label="([^"]*)"', svg)))
    assert sorted(match.groups() for match in said if match) == [
        ("fast", "0.9 ms", "75 TFLOP/s", "50 %"),
        ("gemm", "9 ms", "10 TFLOP/s", "50 %"),
        ("other", "0.4 ms", "1 TFLOP/s", "not known"),
        ("slow", "0.5 ms", "100 GFLOP/s", "50 %"),
    ]


def test_a_roofline_of_an_unknown_device_has_points_only() -> None:
    rows = found(WORK, ("gemm", "float32", 40.0, 10.0, 9000, None, None, None))
    shown = texts(charts.specification(ROOFLINE, rows), charts.records(rows))
    assert "Device limits unknown" in shown and "gemm" in shown
    assert not [text for text in shown if "GB/s" in text]


def test_names_in_a_roofline_do_not_cover_each_other() -> None:
    """Of two points at the same place, the one that took longer has its name."""
    rows = found(
        WORK,
        ("short", "float32", 40.0, 10.0, 10, 20.0, None, 2000.0),
        ("long", "float32", 40.0, 10.1, 9000, 20.0, None, 2000.0),
        ("elsewhere", "float32", 2.0, 1.0, 1, 20.0, None, 2000.0),
    )
    shown = texts(charts.specification(ROOFLINE, rows), charts.records(rows))
    assert {"long", "elsewhere"} <= set(shown) and "short" not in shown


@pytest.mark.parametrize("missing", ["intensity", "tflops"])
def test_no_roofline_without_operations_and_bytes_and_time(missing: str) -> None:
    row = {"intensity": 40.0, "tflops": 10.0} | {missing: None}
    rows = found(WORK, ("gemm", "float32", *row.values(), 9000, 20.0, 150.0, 2000.0))
    assert charts.specification(ROOFLINE, rows) is None


def test_nothing_to_draw_is_no_chart() -> None:
    rows = found({"name": "-", "delta_us": "us"}, ("a", 0), ("b", None))
    chart = {"kind": "delta", "label": "name", "values": ("delta_us",)}
    assert charts.specification(chart, rows) is None


def test_without_the_extra_the_remedy_is_said(
    samples: tracewh.Warehouse, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(libraries, "find_spec", lambda module: None)
    for command in (["report", "ddp_gloo"], ["serve", "--port", "0"]):
        assert main([*command, "-w", str(samples.path)]) == 1
        assert capsys.readouterr().err == (
            "tracewh: the report needs vl-convert-python and itables: pip install 'tracewh[report]'\n"
        )


def test_the_script_of_the_charts_is_put_together_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    made = libraries.vega()
    monkeypatch.setattr(vl_convert, "javascript_bundle", None)
    assert libraries.vega() == made
    assert "</script" not in made


def test_a_home_that_cannot_be_written_does_no_harm(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    monkeypatch.setattr(vl_convert, "javascript_bundle", lambda snippet: "made")
    assert libraries.vega() == libraries.vega() == "(()=>{made\n})();"


HEAT = {"kind": "heat", "x": "stage", "y": "dp_rank", "value": "slowdown"}
HEAT_UNITS = {"dp_rank": "key", "stage": "key", "rank": "-", "slowdown": "-"}


def test_a_heat_map_has_a_cell_with_a_number_for_each_worker() -> None:
    """The darkest cell has a white number."""
    rows = found(HEAT_UNITS, (0, 0, 0, 0.98), (0, 1, 1, 1.25), (1, 0, 2, 1.5), (1, 10, 3, None))
    made = charts.specification(HEAT, rows)
    shown = texts(made, charts.records(rows))
    assert {text for text in shown if text.endswith("0")} >= {"0.980", "1.250", "1.500"}
    assert "10" not in shown
    svg = vl_convert.vegalite_to_svg(
        {**(made or {}), "width": 900, "datasets": {"rows": charts.records(rows)}}
    )
    assert re.findall(r'fill="#ffffff"[^>]*>([^<]+)</text>', svg) == ["1.500"]


@pytest.mark.parametrize(("ranks", "has_numbers"), [(40, True), (41, False)])
def test_a_heat_map_of_many_workers_has_no_numbers(ranks: int, has_numbers: bool) -> None:
    rows = found(HEAT_UNITS, *((rank, 0, rank, 1 + rank / 1000) for rank in range(ranks)))
    made = charts.specification(HEAT, rows)
    assert made is not None
    assert made["height"] <= 560
    assert ("1.007" in texts(made, charts.records(rows))) == has_numbers


def test_a_heat_map_without_slowdowns_is_not_drawn() -> None:
    assert charts.specification(HEAT, found(HEAT_UNITS, (0, 0, 0, None))) is None
