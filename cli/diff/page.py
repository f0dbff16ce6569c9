"""The output of `tracewh diff` as text, Markdown or JSON."""

from __future__ import annotations

import json as _json
import sys
import textwrap
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from rich.cells import cell_len

from tracewh.cli.diff.comparison import Change, Comparison, Row
from tracewh.cli.output.cell_format import text as plain
from tracewh.cli.output.cells import pad, wrap
from tracewh.cli.output.labels import distinct

if TYPE_CHECKING:
    from tracewh.cli.output.text_page import Page

#: Maximum number of operators, kernels or blocks in text and in Markdown; the views have all.
FEW, MORE = 3, 10
#: Width of a line of text in a file, and of a name in text, so that lines fit, and in Markdown.
WIDTH, NARROW, WIDE = 100, 36, 80
#: A terminal with less room for a name beside its figures has them on lines of their own.
LEAST_NAME = 18
#: Between two columns, and before the figures below a name.
GAP, INDENT = "  ", "    "
#: The times of an operator, and where each is spent.
PLACES = {"host_self_us": "host", "device_self_us": "device"}
HEADINGS = ("", "baseline", "experiment", "difference", "", "")
#: The name, the change and the unit of a line.
Line = tuple[str, Change, str]


def text(
    comparison: Comparison,
    only_significant: bool,
    failed: Sequence[str],
    screen: Page | None = None,
) -> str:
    """Return the comparison as a dozen lines; failed conditions are printed on stderr.

    Args:
        screen: The terminal that the lines must fit; None for a file.
    """
    sentence, details = _verdict(comparison)
    drawn = _in_columns(_rows(comparison, only_significant, NARROW))
    if screen is None:
        return "\n".join([*textwrap.wrap(sentence, WIDTH), details, "", *drawn, ""])
    if max(map(cell_len, drawn)) > screen.width:
        drawn = _fitted(_rows(comparison, only_significant, sys.maxsize), screen.width)
    return "\n".join([*screen.wrap(sentence), *screen.wrap(details), "", *drawn, ""])


def _rows(comparison: Comparison, only_significant: bool, longest: int) -> list[tuple[str, ...]]:
    """Return the cells of the table, with names of blocks, operators and kernels no longer than that."""
    rows: list[tuple[str, ...]] = [HEADINGS]
    rows += map(_cells, _steps(comparison, FEW, only_significant))
    if blocks := _blocks(comparison, FEW):
        rows += [_cells(blocks[0]), *_shortened(blocks[1:], longest)]
    for title, found in (("operators", _operators), ("kernels", _kernels)):
        lines = _kept(found(comparison), FEW, only_significant)
        rows += [(f"{title}, {_scope(comparison)}", *[""] * 5)] if lines else []
        rows += [(f"  {cells[0]}", *cells[1:]) for cells in _shortened(lines, longest)]
    return rows


def _in_columns(rows: Sequence[tuple[str, ...]]) -> list[str]:
    """Return a line per row."""
    widths = [max(map(cell_len, column)) for column in zip(*rows, strict=True)]
    return [_line(row, widths) for row in rows]


def _line(row: Sequence[str], widths: Sequence[int]) -> str:
    parts = [pad(row[0], widths[0]), *_figures(row[1:5], widths[1:5])]
    return GAP.join([*parts, row[5]]).rstrip()


def _figures(cells: Sequence[str], widths: Sequence[int]) -> list[str]:
    return [cell.rjust(width) for cell, width in zip(cells, widths, strict=True)]


def _fitted(rows: Sequence[tuple[str, ...]], width: int) -> list[str]:
    """Return the lines of a table that is too wide for its terminal, with shorter names.

    If that is not enough, the figures of a row stand below its name, and its significance beside the name.
    """
    _, *widths, last = (max(map(cell_len, column)) for column in zip(*rows, strict=True))
    figures = sum(widths) + len(GAP) * len(widths)
    room = width - figures - (len(GAP) + last if last else 0)
    is_beside = room >= LEAST_NAME
    longest = room if is_beside else width - (len(GAP) + last if last else 0)
    indented = [row[0] for row in rows if row[0].startswith(" ")]
    labels = distinct(indented, longest)
    drawn = []
    for name, *cells in rows:
        *above, label = [labels[name]] if name in labels else wrap(name, width) or [""]
        drawn += above
        if is_beside and cell_len(label) <= room:
            drawn.append(_line((label, *cells), (room, *widths)))
            continue
        # The name has a line of its own.
        beside = "" if is_beside else cells[-1]
        drawn += [pad(label, width - len(beside)) + beside] if label else []
        if any(cells):
            below = ("", *cells[:-1], cells[-1] if is_beside else "")
            if is_beside:
                drawn.append(_line(below, (room, *widths)))
            elif len(INDENT) + figures <= width:
                drawn.append(_line(below, (len(INDENT) - len(GAP), *widths)))
            else:
                drawn.append(" ".join(_figures(cells[:-1], widths)))
    return [line.rstrip() for line in drawn]


def markdown(comparison: Comparison, only_significant: bool, failed: Sequence[str]) -> str:
    """Return the comparison as a short table with folded details, for a pull request comment."""
    sentence, details = map(_escaped, _verdict(comparison))
    lines = [f"**{sentence}**", "", details, ""]
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
        "verdict": comparison.verdict,
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


def _verdict(comparison: Comparison) -> tuple[str, str]:
    """Return the sentence on the two runs, and the names and step times that it is about."""
    [headline] = _part(comparison, "headline")
    baseline, experiment = map(plain, comparison.names)
    names = f"{experiment} against {baseline}"
    return headline["text"], ": ".join(filter(None, (names, plain(headline["detail"] or ""))))


def _part(comparison: Comparison, part: str) -> list[Row]:
    return [row for row in comparison.verdict if row["part"] == part]


def describe(change: Change, unit: str, relative: bool) -> str:
    """Return both values of a change, and the difference: in percent, or in the unit of the figure."""
    if relative:
        difference = "" if change.pct is None else f", {change.pct:+.1f} %"
    else:
        difference = f", {_difference(change, unit)}"
    return f"{amount(change.baseline, unit)} to {amount(change.experiment, unit)}{difference}"


def _difference(change: Change, unit: str) -> str:
    if unit == "pct" and change.delta is not None:
        return f"{change.delta:+.1f} points"
    return ("+" if (change.delta or 0) > 0 else "") + amount(change.delta, unit)


#: Units of memory, as torch and as_bytes have them.
_BINARY = ((2**40, "TiB"), (2**30, "GiB"), (2**20, "MiB"), (2**10, "KiB"))


def amount(value: float | None, unit: str) -> str:
    """Return a figure with three digits and a unit that suits its size."""
    if value is None:
        return "-"
    if unit == "us":
        factor, name = next(
            # What is rounded to 1,000 has the next unit.
            (each for each in ((1e6, "s"), (1e3, "ms")) if abs(value) >= 0.9995 * each[0]),
            (1, "us"),
        )
        scaled = value / factor
        return f"{scaled:.3g} {name}" if abs(scaled) < 999.5 else f"{scaled:,.0f} {name}"
    if unit == "bytes":
        factor, name = next((each for each in _BINARY if abs(value) >= each[0]), (1, "B"))
        scaled = value / factor
        return (
            f"{scaled:.1f} {name}" if factor > 1 and abs(scaled) < 99.95 else f"{scaled:.0f} {name}"
        )
    return f"{value:.1f} %" if unit == "pct" else f"{value:g}"


def counts(comparison: Comparison) -> str:
    """Return the number of steps in both recordings, or '' if they are not compared."""
    if comparison.block is not None or not comparison.has_steps:
        return ""
    counts = [comparison.overview[f"{side}_steps"] for side in ("baseline", "experiment")]
    return " (one step each)" if counts == [1, 1] else f" ({counts[0]} and {counts[1]} steps)"


def _scope(comparison: Comparison) -> str:
    """Return the part of the trace that operators and kernels are counted in."""
    return comparison.block or f"whole recording{counts(comparison)}"


def _blocks(comparison: Comparison, most: int) -> list[Line]:
    """Return the time of the trace or block, and of the blocks in it that changed most."""
    if not comparison.blocks:
        return []
    top, *inside = (
        (
            "outside of blocks" if row["kind"] == "unknown" else plain(row["name"]),
            comparison.block_change(row),
            "us",
        )
        for row in comparison.blocks
    )
    moved = _kept(
        [*inside, ("steps that only one run has", _rest(top[1], inside), "us")], most, False
    )
    name = comparison.block or "time per aligned block (one trace per run)"
    return [(name, *top[1:]), *((f"  {line[0]}", *line[1:]) for line in moved)] if moved else []


def _rest(top: Change, inside: list[Line]) -> Change:
    """Return the time that no block inside has: that of steps without a counterpart in the other run."""

    def left(total: float | None, parts: Iterable[float | None]) -> float:
        return round((total or 0) - sum(part or 0 for part in parts), 3)  # to the nanosecond

    changes = [change for _, change, _ in inside] or [top]
    baseline = left(top.baseline, (change.baseline for change in changes))
    experiment = left(top.experiment, (change.experiment for change in changes))
    pct = 100 * (experiment - baseline) / baseline if baseline else None
    return Change(baseline, experiment, experiment - baseline, pct, False, None, None)


def _steps(comparison: Comparison, most: int, only_significant: bool) -> list[Line]:
    """Return the step time, its categories that changed most, and the figures of the runs."""
    figures = [(row["title"], _change(row), row["unit"]) for row in _part(comparison, "figure")]
    changes = [
        (f"  {row['title']}", _change(row), row["unit"]) for row in _part(comparison, "change")
    ]
    return [
        *figures[:1],
        *_kept(changes, most, only_significant),
        *(line for line in figures[1:] if line[1].delta and not only_significant),
    ]


def _change(row: Row) -> Change:
    """Return a row of the verdict as a change."""
    return Change(
        row["baseline_value"],
        row["experiment_value"],
        row["delta_value"],
        row["delta_pct"],
        row["certainty"] is not None,
        row["p_value"],
        {"significant": True, "not significant": False}.get(row["certainty"]),
    )


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
    return (
        name,
        amount(change.baseline, unit),
        amount(change.experiment, unit),
        _difference(change, unit),
        "" if change.pct is None or unit == "pct" else f"{change.pct:+.1f} %",
        _significance(change) if change.tested else "",
    )


def _significance(change: Change) -> str:
    if change.is_reversed:
        return f"significant, but {'less' if (change.per_step or 0) < 0 else 'more'} per step"
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
