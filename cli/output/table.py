"""Tables that fit the terminal.

What does not fit is made narrower in this order: titles break at their underscores, texts lose
what they have in common, a few rows stand up as columns, and at last the columns continue in another block
below. Numbers are never cut and no column goes missing. Without a width nothing is made narrower.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from textwrap import wrap

from rich.cells import cell_len

from tracewh.cli.output.cell_format import ColumnFormat
from tracewh.cli.output.labels import distinct

GAP = "  "
#: A text is not shortened below this: head and tail of a kernel's name must stay recognisable.
SHORTEST_TEXT = 24
#: The same for what else says which row it is; these are short, or differ at their ends.
SHORTEST_KEY = 12
#: Prose is not wrapped narrower than this.
NARROWEST_PROSE = 40
#: Up to so many rows may stand up as columns.
FEW_ROWS = 6


def _plain(text: str) -> str:
    return text


@dataclass(frozen=True, slots=True)
class Look:
    """How a table is drawn.

    Attributes:
        width: Of the terminal, in cells; None for no limit.
        title: Applied to titles, e.g. to make them bold.
        faint: Applied to NULL and to rules.
        rule: The character below titles.
        ellipsis: What stands for the missing middle of a text.
        shortest: Texts other than keys may become as short as this before columns continue below; None
            for the usual.
    """

    width: int | None = None
    title: Callable[[str], str] = _plain
    faint: Callable[[str], str] = _plain
    rule: str = "─"
    ellipsis: str = "…"
    shortest: int | None = None
    null: str = "-"


@dataclass(frozen=True, slots=True)
class _Fit:
    """A column with the width and the title lines it gets."""

    column: ColumnFormat
    title: tuple[str, ...]
    width: int


def render(columns: Sequence[ColumnFormat], look: Look, *, keys: Sequence[str] = ()) -> list[str]:
    """Draw a table.

    Args:
        columns: At least one.
        look: See `Look`.
        keys: Names of the columns that say what a row is, which each block repeats; by default the
            first.
    """
    keys = keys or [columns[0].name]
    fits = [_natural(column, look) for column in columns]
    if look.width is None or _total(fits) <= look.width:
        return _draw(fits, look)
    fits = [_wrapped(fit, look) for fit in fits]
    fits = _shortened(fits, look.width, keys, look.shortest)
    if _total(fits) <= look.width:
        return _draw(fits, look)
    if len(columns[0].cells) <= FEW_ROWS:
        bare = _upright(columns, replace(look, title=_plain))
        if max(map(cell_len, bare)) <= look.width:
            return _upright(columns, look)
    return _blocks([_wrapped(_natural(column, look), look) for column in columns], look, keys)


def _natural(column: ColumnFormat, look: Look) -> _Fit:
    return _Fit(column, (column.name,), max(cell_len(column.name), _cells_width(column, look)))


def _cells_width(column: ColumnFormat, look: Look) -> int:
    return max((len(look.null) if c is None else cell_len(c) for c in column.cells), default=0)


def _wrapped(fit: _Fit, look: Look) -> _Fit:
    """The same with its title broken at underscores, as narrow as the cells allow."""
    words = fit.column.name.split("_")
    pieces = [word + "_" for word in words[:-1]] + words[-1:]
    width = max(_cells_width(fit.column, look), *(cell_len(piece) for piece in pieces))
    title = [pieces[0]]
    for piece in pieces[1:]:
        if cell_len(title[-1] + piece) <= width:
            title[-1] += piece
        else:
            title.append(piece)
    return replace(fit, title=tuple(title), width=width)


def _shortened(
    fits: Sequence[_Fit], width: int, keys: Sequence[str], shortest: int | None = None
) -> list[_Fit]:
    """Take from the widest text until the line fits or no text may lose more."""
    fits = list(fits)
    named = [fit for fit in fits if fit.column.name in keys and not fit.column.numeric]
    longest = max(named, key=lambda fit: fit.width, default=None)
    floor = {
        i: max(
            NARROWEST_PROSE
            if fit.column.prose
            else SHORTEST_KEY
            if fit in named and (shortest or fit is not longest)
            else shortest or SHORTEST_TEXT,
            *map(cell_len, fit.title),
        )
        for i, fit in enumerate(fits)
        if not fit.column.numeric
    }
    while (excess := _total(fits) - width) > 0:
        wide = sorted((i for i in floor if fits[i].width > floor[i]), key=lambda i: -fits[i].width)
        if not wide:
            break
        widest, *others = wide
        step = fits[widest].width - max([floor[widest], *(fits[i].width for i in others[:1])])
        fits[widest] = replace(fits[widest], width=fits[widest].width - max(1, min(step, excess)))
    return fits


def _total(fits: Sequence[_Fit]) -> int:
    return sum(fit.width for fit in fits) + len(GAP) * (len(fits) - 1)


def _draw(fits: Sequence[_Fit], look: Look) -> list[str]:
    height = max(len(fit.title) for fit in fits)
    lines = []
    for level in range(-height, 0):  # counted from the rule upwards: titles stand on it
        pieces = [fit.title[level] if -level <= len(fit.title) else "" for fit in fits]
        placed = [_place(piece, fit) for piece, fit in zip(pieces, fits, strict=True)]
        lines.append(look.title(GAP.join(placed).rstrip()))
    lines.append(look.faint(GAP.join(look.rule * fit.width for fit in fits)))
    labels = [_labels(fit.column, fit.width, look) for fit in fits]
    for row in range(len(fits[0].column.cells)):
        cells = [_cell(fit, row, look, shown) for fit, shown in zip(fits, labels, strict=True)]
        for level in range(max(map(len, cells))):
            placed = [
                cell[level] if level < len(cell) else _place("", fit)
                for cell, fit in zip(cells, fits, strict=True)
            ]
            lines.append(GAP.join(placed).rstrip())
    return lines


def _place(text: str, fit: _Fit) -> str:
    space = " " * (fit.width - cell_len(text))
    return space + text if fit.column.numeric else text + space


def _labels(column: ColumnFormat, width: int, look: Look) -> dict[str, str]:
    """What stands for each text of a column of names."""
    is_names = not column.numeric and not column.prose
    texts = [cell for cell in column.cells if cell is not None] if is_names else []
    return distinct(texts, width, look.ellipsis)


def _cell(fit: _Fit, row: int, look: Look, labels: Mapping[str, str]) -> list[str]:
    """The lines of one cell: one, but for prose."""
    cell = fit.column.cells[row]
    if cell is None:
        return [_place(look.null, fit).replace(look.null, look.faint(look.null))]
    if fit.column.numeric:
        return [_place(cell, fit)]
    if fit.column.prose:
        return [_place(line, fit) for line in wrap(cell, fit.width, break_on_hyphens=False)] or [
            _place("", fit)
        ]
    return [_place(labels[cell], fit)]


def _upright(columns: Sequence[ColumnFormat], look: Look) -> list[str]:
    """Every row as a column: for a few wide rows."""
    assert look.width is not None
    names = max(cell_len(column.name) for column in columns)
    rows = len(columns[0].cells)
    room = max((look.width - names) // max(rows, 1) - len(GAP), SHORTEST_TEXT)

    def cells(column: ColumnFormat) -> list[str]:
        texts = [text for text in column.cells if text is not None]
        labels = {} if column.numeric else distinct(texts, room, look.ellipsis)
        return [
            look.null if text is None else labels.get(text, text.rstrip()) for text in column.cells
        ]

    shown = [cells(column) for column in columns]
    widths = [max(cell_len(cells[row]) for cells in shown) for row in range(rows)]
    lines = []
    for column, texts in zip(columns, shown, strict=True):
        name = look.title(column.name) + " " * (names - cell_len(column.name))
        placed = [" " * (w - cell_len(c)) + c for c, w in zip(texts, widths, strict=True)]
        lines.append(GAP.join([name, *placed]).rstrip())
    return lines


def _blocks(fits: Sequence[_Fit], look: Look, keys: Sequence[str]) -> list[str]:
    """As many columns as fit, then the next ones below, each time beside those that name the row."""
    assert look.width is not None
    left = _left(fits, look, keys)
    repeated = [fit.column for fit in left]
    rest = [fit for fit in fits if fit.column not in repeated]
    lines: list[str] = []
    block = left
    for fit in rest:
        if len(block) > len(left) and _total([*block, fit]) > look.width:
            lines += [*_draw(block, look), ""]
            block = left
        room = look.width - _total(block) - len(GAP)
        if not fit.column.numeric and fit.width > room:
            fit = replace(fit, width=max(room, *map(cell_len, fit.title), 1))
        block = [*block, fit]
    return [*lines, *_draw(block, look)]


def _left(fits: Sequence[_Fit], look: Look, keys: Sequence[str]) -> list[_Fit]:
    """What each block begins with: the keys, as far as they have room; else a number for each row."""
    assert look.width is not None
    named = [fit for fit in fits if fit.column.name in keys]
    left = _shortened(named, look.width // 2, keys)
    while len(left) > 1 and _total(left) > look.width * 2 // 3:
        alike = [fit for fit in named if len(set(fit.column.cells)) == 1]
        named.remove(alike[-1] if alike else named[-1])
        left = _shortened(named, look.width // 2, keys)
    rows = [*zip(*(fit.column.cells for fit in left), strict=True)]
    if len(set(rows)) == len(rows):
        return left
    numbers = ColumnFormat("#", [str(number) for number, _ in enumerate(rows, 1)], True)
    return [_natural(numbers, look), *left]
