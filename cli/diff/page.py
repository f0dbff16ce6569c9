"""The output of `tracewh diff` as text, Markdown or JSON."""

from __future__ import annotations

import json as _json
from collections.abc import Callable, Sequence

from tracewh.cli.diff.comparison import Change, Comparison, Row, unit_of
from tracewh.cli.output import format_bytes
from tracewh.cli.output.cell_format import text as plain
from tracewh.cli.output.labels import distinct

#: Maximum number of operators, kernels or blocks in text and in Markdown; the views have all.
FEW, MORE = 3, 10
#: Width of a name in text, so that lines fit into 100 columns, and in Markdown.
NARROW, WIDE = 36, 80
#: The times of an operator, and where each is spent.
PLACES = {"host_self_us": "host", "device_self_us": "device"}
OVERVIEW = {
    "gpu_utilization_pct": "GPU utilization",
    "peak_memory_bytes": "peak memory",
    "peak_host_memory_bytes": "peak host memory",
}
HEADINGS = ("", "baseline", "experiment", "difference", "", "")
#: The name, the change and the unit of a line.
Line = tuple[str, Change, str]


def text(comparison: Comparison, only_significant: bool, failed: Sequence[str]) -> str:
    """Return the comparison as a dozen lines; failed conditions are printed on stderr."""
    rows: list[tuple[str, ...]] = [HEADINGS]
    rows += map(_cells, _steps(comparison, FEW, only_significant))
    rows += map(_cells, _blocks(comparison, FEW))
    for title, found in (("operators", _operators), ("kernels", _kernels)):
        lines = _kept(found(comparison), FEW, only_significant)
        rows += [(f"{title}, {_scope(comparison)}", *[""] * 5)] if lines else []
        rows += [(f"  {cells[0]}", *cells[1:]) for cells in _shortened(lines, NARROW)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    drawn = []
    for row in rows:
        parts = [row[0].ljust(widths[0])]
        parts += [cell.rjust(width) for cell, width in zip(row[1:5], widths[1:5], strict=True)]
        drawn.append("  ".join([*parts, row[5]]).rstrip())
    return "\n".join([verdict(comparison), "", *drawn, ""])


def markdown(comparison: Comparison, only_significant: bool, failed: Sequence[str]) -> str:
    """Return the comparison as a short table with folded details, for a pull request comment."""
    lines = [f"**{_escaped(verdict(comparison))}**", ""]
    lines += [f"- :x: `{condition}`" for condition in failed]
    lines += [""] if failed else []
    lines += _table("", _steps(comparison, 8, only_significant))
    if blocks := _blocks(comparison, MORE):
        lines += ["", "<details><summary>Timeline blocks</summary>", ""]
        lines += [*_table("block", blocks), "", "</details>"]
    for title, found in (("operators", _operators), ("kernels", _kernels)):
        rows = _kept(found(comparison), MORE, only_significant)
        if rows:
            summary = f"{title.capitalize()} that changed most, {_scope(comparison)}"
            lines += ["", f"<details><summary>{summary}</summary>", ""]
            lines += [*_table(title, rows), "", "</details>"]
    return "\n".join([*lines, ""])


def json(comparison: Comparison, only_significant: bool, failed: Sequence[str]) -> str:
    """Return all rows of the diff views as one JSON object."""

    def kept(rows: list[Row]) -> list[Row]:
        return [row for row in rows if row["significant"] or not only_significant]

    found = {
        "baseline": comparison.baseline,
        "experiment": comparison.experiment,
        "failed": list(failed),
        "overview": comparison.overview,
        "steps": kept(comparison.steps),
        "operators": kept(comparison.operators),
        "kernels": kept(comparison.kernels),
        "blocks": comparison.blocks,
    }
    return _json.dumps(found, ensure_ascii=False, indent=1) + "\n"


FORMATS: dict[str, Callable[[Comparison, bool, Sequence[str]], str]] = {
    "text": text,
    "markdown": markdown,
    "json": json,
}


def verdict(comparison: Comparison) -> str:
    """Return whether the experiment is slower, by how much, and whether that is significant."""
    names = plain(comparison.experiment), plain(comparison.baseline)
    step = comparison.change("step_us")
    if step.delta is None:
        return f"{names[0]} and {names[1]} have no steps in common"
    if step.pct is None or step.delta == 0:
        return f"{names[0]} takes as long per step as {names[1]}"
    word = "slower" if step.delta > 0 else "faster"
    p = "" if step.p_value is None else f", p = {step.p_value:.2g}"
    return (
        f"{names[0]} is {abs(step.pct):.1f} % {word} per step than {names[1]}: {_significance(step)}"
        f" ({_counts(comparison)}{p})"
    )


def describe(change: Change, unit: str) -> str:
    """Return both values of a change and the difference in percent."""
    share = "" if change.pct is None else f", {change.pct:+.1f} %"
    return f"{amount(change.baseline, unit)} to {amount(change.experiment, unit)}{share}"


def amount(value: float | None, unit: str) -> str:
    """Return a figure with three digits and a unit that suits its size."""
    if value is None:
        return "-"
    if unit == "us":
        factor, name = next(
            (each for each in ((1e6, "s"), (1e3, "ms")) if abs(value) >= each[0]), (1, "us")
        )
        scaled = value / factor
        return f"{scaled:.3g} {name}" if abs(scaled) < 1000 else f"{scaled:,.0f} {name}"
    if unit == "bytes":
        return ("-" if value < 0 else "") + format_bytes(abs(value))
    return f"{value:.1f} %" if unit == "pct" else f"{value:g}"


def _counts(comparison: Comparison) -> str:
    counts = [comparison.overview[f"{side}_steps"] for side in ("baseline", "experiment")]
    return f"{counts[0]} and {counts[1]} steps"


def _scope(comparison: Comparison) -> str:
    """Return the part of the trace that operators and kernels are counted in."""
    return comparison.block or f"whole recording ({_counts(comparison)})"


def _blocks(comparison: Comparison, most: int) -> list[Line]:
    """Return the time of the trace or block, and of the blocks in it that changed most."""
    if not comparison.blocks:
        return []
    top, *inside = (
        (plain(row["name"]), comparison.block_change(row), "us") for row in comparison.blocks
    )
    moved = _kept(inside, most, False)
    name = comparison.block or "time per aligned block (one trace per run)"
    return [(name, *top[1:]), *((f"  {line[0]}", *line[1:]) for line in moved)] if moved else []


def _steps(comparison: Comparison, most: int, only_significant: bool) -> list[Line]:
    categories: list[Line] = [
        (f"  {row['category']}", comparison.change(f"{row['category']}_us"), "us")
        for row in comparison.steps
        if row["category"] != "total"
    ]
    rest = [(name, comparison.change(figure), unit_of(figure)) for figure, name in OVERVIEW.items()]
    return [
        ("step", comparison.change("step_us"), "us"),
        *_kept(categories, most, only_significant),
        *_kept(rest, len(rest), only_significant),
    ]


def _operators(comparison: Comparison) -> list[Line]:
    """Return the operators with their host or device time, whichever changed more."""
    return [
        max(
            (
                (f"{plain(row['name'])} ({place})", comparison.part(row, figure), "us")
                for figure, place in PLACES.items()
            ),
            key=_size,
        )
        for row in comparison.operators
    ]


def _kernels(comparison: Comparison) -> list[Line]:
    return [
        (plain(row["name"]), comparison.part(row, "total_us"), "us") for row in comparison.kernels
    ]


def _kept(lines: list[Line], most: int, only_significant: bool) -> list[Line]:
    """Return the lines that changed most."""
    moved = [
        line for line in lines if line[1].delta and (line[1].significant or not only_significant)
    ]
    return sorted(moved, key=_size, reverse=True)[:most]


def _size(line: Line) -> float:
    return abs(line[1].delta or 0)


def _cells(line: Line) -> tuple[str, ...]:
    name, change, unit = line
    if unit == "pct" and change.delta is not None:
        delta = f"{change.delta:+.1f} points"
    else:
        delta = ("+" if (change.delta or 0) > 0 else "") + amount(change.delta, unit)
    return (
        name,
        amount(change.baseline, unit),
        amount(change.experiment, unit),
        delta,
        "" if change.pct is None or unit == "pct" else f"{change.pct:+.1f} %",
        _significance(change) if change.tested else "",
    )


def _significance(change: Change) -> str:
    return {True: "significant", False: "not significant", None: "too few steps to tell"}[
        change.significant
    ]


def _table(title: str, lines: list[Line]) -> list[str]:
    rows: list[tuple[str, ...]] = [
        (title or "per step", *HEADINGS[1:]),
        ("---", "---:", "---:", "---:", "---:", "---"),
    ]
    rows += [
        (_code(cells[0]) if title else cells[0].strip(), *cells[1:])
        for cells in _shortened(lines, WIDE)
    ]
    return [f"| {' | '.join(row)} |" for row in rows]


def _shortened(lines: list[Line], width: int) -> list[tuple[str, ...]]:
    """Return the cells of lines, with names shortened so that they stay different."""
    labels = distinct([line[0] for line in lines], width)
    return [(labels[cells[0]], *cells[1:]) for cells in map(_cells, lines)]


def _code(name: str) -> str:
    return f"`{name.replace('`', chr(39)).replace('|', chr(92) + '|')}`"


def _escaped(line: str) -> str:
    return "".join(f"\\{char}" if char in "*_`|<>[]" else char for char in line)
