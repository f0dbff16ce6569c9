"""The table format: what a person reads.

On a terminal a table is fitted to its width, shows a screenful of rows, names a run, worker or span
that all rows share once above the table, and leaves out columns without any value; each time it
says so. Piped, nothing is shortened or left out.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import IO, TYPE_CHECKING, Any

from tracewh.cli import cells, diagnostics, table
from tracewh.cli.output import NUMERIC

if TYPE_CHECKING:
    import duckdb

#: Rows on a terminal unless --limit says otherwise.
SCREENFUL = 40
#: What says where a row comes from, in nearly every view.
SOURCE = ("run", "worker", "span")


def write_table(result: duckdb.DuckDBPyRelation, sink: IO[bytes], limit: int | None) -> int:
    """Write a table to a terminal or a file and give the number of rows of the whole result.

    Args:
        limit: See `tracewh.cli.output.Output`.
    """
    on_screen = sink.isatty()
    if limit is None:
        limit = SCREENFUL if on_screen else 0
    rows, total = _fetch(result, limit)
    numeric = [NUMERIC.fullmatch(str(kind)) is not None for kind in result.types]
    columns = [
        cells.column(name, [row[number] for row in rows], numeric=numeric[number])
        for number, name in enumerate(result.columns)
    ]
    if rows:
        for line in lines(columns, on_screen=on_screen):
            sink.write(line.encode() + b"\n")
        sink.flush()
    if len(rows) < total:
        diagnostics.note(f"{len(rows):,} of {total:,} rows; --limit 0 shows all, --limit N more")
    return total


def lines(columns: Sequence[cells.Column], *, on_screen: bool, fold: bool = True) -> list[str]:
    """The lines of a table with at least one row.

    Args:
        fold: On a terminal, say once above the table what all rows share.
    """
    if not on_screen:
        return table.render(columns, table.Look())
    look = _look()
    empty = [c for c in columns if all(cell is None for cell in c.cells)]
    shared = [c for c in columns if c.name in SOURCE and c not in empty and len(set(c.cells)) == 1]
    hidden = [*empty, *(shared if fold else [])]
    shown = [c for c in columns if c not in hidden] or columns
    keys = next((i for i, c in enumerate(shown) if c.name not in SOURCE), 0) + 1
    drawn = table.render(shown, look, keys=min(keys, len(shown)))
    if fold and shared:
        drawn = [look.faint("  ".join(f"{c.name} {c.cells[0]}" for c in shared)), "", *drawn]
    if empty and len(shown) < len(columns):
        drawn += ["", look.faint(f"without a value: {', '.join(c.name for c in empty)}")]
    return drawn


def _look() -> table.Look:
    import sys

    styled = diagnostics.colourful(sys.stdout)
    return table.Look(
        width=shutil.get_terminal_size().columns,
        title=_style("1", "22") if styled else str,
        faint=_style("2", "22") if styled else str,
    )


def _style(on: str, off: str) -> Callable[[str], str]:
    return lambda text: f"\x1b[{on}m{text}\x1b[{off}m"


def _fetch(result: duckdb.DuckDBPyRelation, limit: int) -> tuple[list[tuple[Any, ...]], int]:
    """The first rows, and how many there are. What is not a number comes as DuckDB's text."""
    kinds = [str(kind) for kind in result.types]
    picked = ", ".join(
        f"_t.c{n}" if NUMERIC.fullmatch(kind) or kind == "BOOLEAN" else f"CAST(_t.c{n} AS VARCHAR)"
        for n, kind in enumerate(kinds)
    )
    names = ", ".join(f"c{n}" for n in range(len(kinds)))
    texts = result.query("_result", f"SELECT {picked} FROM _result AS _t({names})")
    assert texts is not None
    rows: list[tuple[Any, ...]] = []
    total = 0
    for batch in texts.to_arrow_reader():
        if not limit or total < limit:
            part = batch.slice(0, limit - total) if limit else batch
            values = [[_whole(v) for v in column.to_pylist()] for column in part.columns]
            rows += zip(*values, strict=True)
        total += batch.num_rows
    return rows, total


def _whole(value: Any) -> Any:
    """A HUGEINT, such as any sum of integers is, arrives as a Decimal."""
    if isinstance(value, Decimal) and value.as_tuple().exponent == 0:
        return int(value)
    return value
