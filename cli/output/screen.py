"""The table format.

On a terminal, a table is as wide as the terminal at most and shows a screenful of rows. A run, worker or
span that all rows share is printed once above the table. Columns without values are omitted and listed
below it. Times since 1970 are shown as dates. In a pipe or file, nothing is shortened or omitted.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import IO, TYPE_CHECKING, Any

from tracewh.cli import diagnostics
from tracewh.cli.output import cell_format, table
from tracewh.cli.output.cells import wrap
from tracewh.cli.output.column_types import NUMERIC
from tracewh.cli.output.empty_result import SOURCE

if TYPE_CHECKING:
    import duckdb

#: Rows on a terminal without --limit.
SCREENFUL = 40
#: Minimum width of a text if each row must stay on one line.
SHORTEST = 6
#: A time that is no more precise than this keeps its date.
MINUTES = "2023-06-07 14:03"
#: Minimum number of rows if the columns of a wide table continue in blocks.
FEWEST = 10


def write_table(
    result: duckdb.DuckDBPyRelation,
    sink: IO[bytes],
    limit: int | None,
    *,
    keys: Sequence[str] = (),
    only: Sequence[str] = (),
    full_names: bool = False,
    stored: bool = False,
) -> int:
    """Write a table to a terminal or a file and return the number of rows of the whole result.

    Args:
        limit: See `tracewh.cli.output.output.Output`.
        keys: See `tracewh.cli.output.output.Output.write`.
        only: See `tracewh.cli.output.output.Output.write`.
        full_names: See `tracewh.cli.output.output.Output`.
        stored: Whether the rows are stored, and can be read twice.
    """
    on_screen = sink.isatty()
    only = only if on_screen else ()
    left_out = [name for name in result.columns if only and name not in only]
    result = result.project(", ".join(only)) if only else result
    most = limit if limit is not None else SCREENFUL if on_screen else 0
    columns, total = _fetch(result, most, stored)
    numeric = [NUMERIC.fullmatch(str(kind)) is not None for kind in result.types]
    rows = len(columns[0])

    def drawn(rows: int) -> Iterable[str]:
        return lines(
            [
                cell_format.column(name, values[:rows], numeric=is_number, dates=on_screen)
                for name, values, is_number in zip(result.columns, columns, numeric, strict=True)
            ],
            on_screen=on_screen,
            keys=keys,
            shortest=SHORTEST if only else None,
            full_names=full_names,
        )

    if rows:
        shown = drawn(rows)
        if on_screen:
            shown = [*shown]
            if limit is None and len(shown) > 2 * SCREENFUL:  # columns continue in blocks
                rows = min(rows, max(rows * SCREENFUL // len(shown), FEWEST))
                shown = drawn(rows)
        sink.writelines(f"{line}\n".encode() for line in shown)
        sink.flush()
    if rows and left_out:
        told = f"--all-columns also shows {', '.join(left_out)}"
        room = shutil.get_terminal_size().columns - len("tracewh: ")
        diagnostics.note("\n".join(wrap(told, max(room, 1), break_long_words=False)))
    if rows < total:
        diagnostics.note(f"{rows:,} of {total:,} rows; --limit 0 shows all, --limit N more")
    return total


def lines(
    columns: Sequence[cell_format.ColumnFormat],
    *,
    on_screen: bool,
    keys: Sequence[str] = (),
    shortest: int | None = None,
    full_names: bool = False,
    share: bool = True,
) -> Iterable[str]:
    """Return the lines of a table with at least one row.

    Args:
        share: Whether to print a run, worker or span that all rows share above the table.
    """
    if not on_screen:
        return table.draw_whole(columns, table.TableStyle())
    style = replace(_table_style(), shortest=shortest)
    empty = [c for c in columns if all(cell is None for cell in c.cells)]
    source = SOURCE if share else ()
    shared = [c for c in columns if c.name in source and c not in empty and len(set(c.cells)) == 1]
    # Few traces replay graphs. Without, these columns are 0 in each row, and say nothing.
    unused = [c for c in columns if "replayed_" in c.name and {None, "0"}.issuperset(c.cells)]
    shown = [c for c in columns if c not in (*empty, *shared, *unused)] or columns
    day, shown = (None, shown) if shortest else _same_day(shown)
    known = [c.name for c in shown if c.name in (*SOURCE, *keys)]
    # Often the first column after the source identifies the row, e.g. by the name of an operator.
    first = [c for c in shown if c.name not in SOURCE][:1]
    known += [c.name for c in first if c.name not in known and (not c.numeric or not known)]
    fitted = replace(style, width=None) if full_names else style
    drawn = table.render(shown, fitted, keys=known)
    above = [f"{c.name} {c.cells[0]}" for c in shared] + [f"date {day} UTC"] * (day is not None)
    if above:
        drawn = [*_aside("  ".join(above), style), "", *drawn]
    # A run, worker or span of NULL means all of them, so it is not listed as a missing value.
    unknown = [c.name for c in empty if c.name not in SOURCE]
    if unknown and len(shown) < len(columns):
        drawn += ["", *_aside(f"without a value: {', '.join(unknown)}", style)]
    return drawn


def _same_day(
    shown: Sequence[cell_format.ColumnFormat],
) -> tuple[str | None, Sequence[cell_format.ColumnFormat]]:
    """If all times are of one day and more precise than minutes, return the date and the columns without it.

    Otherwise return None and the columns unchanged.
    """
    instants = [c for c in shown if cell_format.is_dated(c)]
    days = {cell[:10] for c in instants for cell in c.cells if cell}
    if len(days) != 1 or max(len(cell or "") for c in instants for cell in c.cells) <= len(MINUTES):
        return None, shown
    cut = {c.name: replace(c, cells=[cell and cell[11:] for cell in c.cells]) for c in instants}
    return days.pop(), [cut.get(c.name, c) for c in shown]


def _aside(text: str, style: table.TableStyle) -> list[str]:
    assert style.width is not None
    return [style.faint(line) for line in wrap(text, style.width)]


def _table_style() -> table.TableStyle:
    import sys

    styled = diagnostics.supports_color(sys.stdout)
    return table.TableStyle(
        width=shutil.get_terminal_size().columns,
        title=_escape("1", "22") if styled else str,
        faint=_escape("2", "22") if styled else str,
    )


def _escape(on: str, off: str) -> Callable[[str], str]:
    return lambda text: f"\x1b[{on}m{text}\x1b[{off}m"


def _fetch(
    result: duckdb.DuckDBPyRelation, limit: int, stored: bool
) -> tuple[list[tuple[Any, ...]], int]:
    """Return the first rows, as columns, and the number of all rows; values other than numbers as DuckDB's text."""
    kinds = [str(kind) for kind in result.types]
    picked = ", ".join(
        f"#{n}" if NUMERIC.fullmatch(kind) or kind == "BOOLEAN" else f"CAST(#{n} AS VARCHAR)"
        for n, kind in enumerate(kinds, 1)
    )
    texts = result.project(picked)  # `query` would plan the query three times more
    if not limit:
        rows = texts.fetchall()
        total = len(rows)
    elif stored:
        rows, total = texts.limit(limit).fetchall(), result.shape[0]
    else:
        held = texts.materialize()  # in columns, so rows that are only counted are cheap
        rows, total = held.limit(limit).fetchall(), held.shape[0]
    return [*zip(*rows, strict=True)] or [()] * len(kinds), total
