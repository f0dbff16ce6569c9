"""Lay out a table so that it fits the terminal.

A table that is too wide is narrowed in this order: titles wrap at underscores, texts lose parts that they
share, a table of few rows is transposed, and finally the columns continue in blocks below each other.
Numbers are never cut and no column is lost. Without a width, nothing is narrowed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from rich.cells import cell_len

from tracewh.cli.output.cell_format import ColumnFormat
from tracewh.cli.output.cells import wrap
from tracewh.cli.output.labels import distinct

GAP = "  "
#: Minimum width of a text: start and end of a kernel's name must stay recognizable.
SHORTEST_TEXT = 24
#: Minimum width of the other key columns, which are short or differ at their ends.
SHORTEST_KEY = 12
#: Minimum width of wrapped sentences.
NARROWEST_PROSE = 40
#: A table of up to this many rows may be transposed.
FEW_ROWS = 6


def _plain(text: str) -> str:
    return text


@dataclass(frozen=True, slots=True)
class TableStyle:
    """The width and style of a table.

    Attributes:
        width: Width of the terminal in cells; None for no limit.
        title: Applied to titles, e.g. to make them bold.
        faint: Applied to NULL and to rules.
        rule: The character below titles.
        ellipsis: Replaces the part that is cut from a text.
        shortest: Minimum width of texts other than keys; None for the default.
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
    """A column with its width and the lines of its title."""

    column: ColumnFormat
    title: tuple[str, ...]
    width: int


def render(
    columns: Sequence[ColumnFormat], style: TableStyle, *, keys: Sequence[str] = ()
) -> list[str]:
    """Draw a table that fits the width.

    Args:
        columns: At least one.
        style: Width and style.
        keys: Names of the columns that identify a row; each block repeats them. By default the first
            column.
    """
    keys = keys or [columns[0].name]
    fits = [_natural(column, style) for column in columns]
    if style.width is None or _total(fits) <= style.width:
        return [*_draw(fits, style)]
    fits = [_wrapped(fit, style) for fit in fits]
    fits = _shortened(fits, style.width, keys, style.shortest)
    if _total(fits) <= style.width:
        return [*_draw(fits, style)]
    if len(columns[0].cells) <= FEW_ROWS:
        bare = _upright(columns, replace(style, title=_plain))
        if max(map(cell_len, bare)) <= style.width:
            return _upright(columns, style)
    wrapped = [_wrapped(_natural(column, style), style) for column in columns]
    return [*_blocks(wrapped, style, keys)]


def draw_whole(columns: Sequence[ColumnFormat], style: TableStyle) -> Iterator[str]:
    """Draw a table as wide as its cells, line by line: the lines of many rows need more memory than the cells."""
    return _draw([_natural(column, style) for column in columns], style)


def _natural(column: ColumnFormat, style: TableStyle) -> _Fit:
    return _Fit(column, (column.name,), max(cell_len(column.name), _cells_width(column, style)))


def _cells_width(column: ColumnFormat, style: TableStyle) -> int:
    return max((len(style.null) if c is None else cell_len(c) for c in {*column.cells}), default=0)


def _wrapped(fit: _Fit, style: TableStyle) -> _Fit:
    """Return the column with its title wrapped at underscores, as narrow as the cells allow."""
    words = fit.column.name.split("_")
    pieces = [word + "_" for word in words[:-1]] + words[-1:]
    width = max(_cells_width(fit.column, style), *(cell_len(piece) for piece in pieces))
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
    """Narrow the widest text column until the line fits or every text has its minimum width."""
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


def _draw(fits: Sequence[_Fit], style: TableStyle) -> Iterator[str]:
    height = max(len(fit.title) for fit in fits)
    for level in range(-height, 0):  # counted upwards from the rule, because titles align at it
        pieces = [fit.title[level] if -level <= len(fit.title) else "" for fit in fits]
        placed = [_place(piece, fit) for piece, fit in zip(pieces, fits, strict=True)]
        yield style.title(GAP.join(placed).rstrip())
    yield style.faint(GAP.join(style.rule * fit.width for fit in fits))
    for cells in zip(*(_cells(fit, style) for fit in fits), strict=True):
        for level in range(max(map(len, cells))):
            placed = [
                cell[level] if level < len(cell) else " " * fit.width
                for cell, fit in zip(cells, fits, strict=True)
            ]
            yield GAP.join(placed).rstrip()


def _place(text: str, fit: _Fit) -> str:
    space = " " * (fit.width - cell_len(text))
    return space + text if fit.column.numeric else text + space


def _cells(fit: _Fit, style: TableStyle) -> Iterator[Sequence[str]]:
    """Yield the lines of each cell; only prose has more than one."""
    column = fit.column
    null = (_place(style.null, fit).replace(style.null, style.faint(style.null)),)
    if column.numeric:
        return (null if cell is None else (_place(cell, fit),) for cell in column.cells)
    if column.prose:
        return (null if cell is None else _prose(cell, fit) for cell in column.cells)
    texts = (cell for cell in column.cells if cell is not None)
    labels = distinct(texts, fit.width, style.ellipsis)
    placed = {text: (_place(label, fit),) for text, label in labels.items()}
    return (null if cell is None else placed[cell] for cell in column.cells)


def _prose(text: str, fit: _Fit) -> list[str]:
    lines = wrap(text, fit.width) or [""]
    return [_place(line, fit) for line in lines]


def _upright(columns: Sequence[ColumnFormat], style: TableStyle) -> list[str]:
    """Draw the transposed table, with a column per row, for a few wide rows."""
    assert style.width is not None
    names = max(cell_len(column.name) for column in columns)
    rows = len(columns[0].cells)
    room = max((style.width - names) // max(rows, 1) - len(GAP), SHORTEST_TEXT)

    def cells(column: ColumnFormat) -> list[str]:
        texts = [text for text in column.cells if text is not None]
        labels = {} if column.numeric else distinct(texts, room, style.ellipsis)
        return [
            style.null if text is None else labels.get(text, text.rstrip()) for text in column.cells
        ]

    shown = [cells(column) for column in columns]
    widths = [max(cell_len(cells[row]) for cells in shown) for row in range(rows)]
    lines = []
    for column, texts in zip(columns, shown, strict=True):
        name = style.title(column.name) + " " * (names - cell_len(column.name))
        placed = [" " * (w - cell_len(c)) + c for c, w in zip(texts, widths, strict=True)]
        lines.append(GAP.join([name, *placed]).rstrip())
    return lines


def _blocks(fits: Sequence[_Fit], style: TableStyle, keys: Sequence[str]) -> Iterator[str]:
    """Draw blocks below each other: the key columns and as many of the other columns as fit."""
    assert style.width is not None
    left = _left(fits, style, keys)
    repeated = [fit.column for fit in left]
    rest = [fit for fit in fits if fit.column not in repeated]
    # Numbers are never cut, so the names before them are.
    widest = max((fit.width for fit in rest if fit.column.numeric), default=0)
    left = _shortened(left, style.width - widest - len(GAP), keys, SHORTEST_KEY)
    block = left
    for fit in rest:
        if len(block) > len(left) and _total([*block, fit]) > style.width:
            yield from _draw(block, style)
            yield ""
            block = left
        room = style.width - _total(block) - len(GAP)
        if not fit.column.numeric and fit.width > room:
            fit = replace(fit, width=max(room, *map(cell_len, fit.title), 1))
        block = [*block, fit]
    yield from _draw(block, style)


def _left(fits: Sequence[_Fit], style: TableStyle, keys: Sequence[str]) -> list[_Fit]:
    """Return the first columns of each block: the keys that fit, and row numbers if these are not unique."""
    assert style.width is not None
    named = [fit for fit in fits if fit.column.name in keys]
    left = _shortened(named, style.width // 2, keys)
    while len(left) > 1 and _total(left) > style.width * 2 // 3:
        alike = [fit for fit in named if len(set(fit.column.cells)) == 1]
        named.remove(alike[-1] if alike else named[-1])
        left = _shortened(named, style.width // 2, keys)
    rows = [*zip(*(fit.column.cells for fit in left), strict=True)]
    if len(set(rows)) == len(rows):
        return left
    numbers = ColumnFormat("#", [str(number) for number, _ in enumerate(rows, 1)], True)
    return [_natural(numbers, style), *left]
