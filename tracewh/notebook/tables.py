"""The rows of a relation as an HTML table, with what `tracewh show` prints around it."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING, Any

from tracewh.cli.output import cell_format
from tracewh.cli.output.column_types import NUMERIC
from tracewh.cli.output.empty_result import SOURCE, reasons

if TYPE_CHECKING:
    import duckdb

    from tracewh.views.warehouse import Origin

#: Rows that are shown.
MOST_ROWS = 40
#: Texts of that many characters, as the names of GPUs, stay on one line.
SHORT = 32


def as_html(relation: duckdb.DuckDBPyRelation, made: Origin | None) -> str:
    """Return a table of the first rows; of a view, with the meaning of each column and its SQL.

    A run, worker or span that all rows share stands above the table. Columns without values are listed
    below it. A view without rows says why.
    """
    rows = relation.limit(MOST_ROWS + 1).fetchall()
    sql = f"<details><summary>SQL</summary><pre>{_text(made.sql)}</pre></details>" if made else ""
    if not rows:
        return f"<p>{_text(_why(made))}</p>{sql}"
    meanings = {column.name: column.meaning for column in made.view.columns} if made else {}
    columns = [
        cell_format.column(
            name,
            [row[number] for row in rows[:MOST_ROWS]],
            numeric=NUMERIC.fullmatch(str(kind)) is not None,
            dates=True,
        )
        for number, (name, kind) in enumerate(zip(relation.columns, relation.types, strict=True))
    ]
    shared = [each for each in columns if each.name in SOURCE and len(set(each.cells)) == 1]
    filled = [
        each for each in columns if each not in shared and any(c is not None for c in each.cells)
    ]
    empty = [each.name for each in columns if each not in shared and each not in filled]
    head = "".join(
        f'<th scope="col" title="{_text(meanings.get(each.name, ""))}">{_text(each.name)}</th>'
        for each in filled
    )
    body = "".join(
        f"<tr>{''.join(_cell(each, row) for each in filled)}</tr>"
        for row in range(min(len(rows), MOST_ROWS))
    )
    above = " · ".join(f"{each.name} <b>{_text(each.cells[0] or '-')}</b>" for each in shared)
    below = []
    if len(rows) > MOST_ROWS:
        below.append(f"The first {MOST_ROWS} rows; .df() has all.")
    if empty:
        below.append(f"Without a value: {', '.join(empty)}.")
    return (
        (f"<p>{above}</p>" if above else "")
        + '<div style="overflow-x: auto">'
        + f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
        + (f"<p>{_text(' '.join(below))}</p>" if below else "")
        + sql
    )


def _cell(column: cell_format.ColumnFormat, row: int) -> str:
    value = "-" if column.cells[row] is None else str(column.cells[row])
    style = f"text-align: {'right' if column.numeric else 'left'}"
    # Jupyter breaks the name of a GPU into three lines rather than let a table scroll.
    if column.numeric or len(value) <= SHORT:
        style += "; white-space: nowrap"
    return f'<td style="{style}">{_text(value)}</td>'


def _why(made: Origin | None) -> str:
    """Return why there are no rows."""
    if made is None:
        return "No rows."
    traces = [
        keys for keys in made.warehouse.names() if made.arguments.get("run") in (None, keys[0])
    ]
    found = reasons(made.warehouse.view, traces, made.view, made.arguments)
    messages = dict.fromkeys(message for each in found.values() for message in each)
    return " ".join([f"{made.view.name} has no rows for these parameters.", *messages])


def _text(value: Any) -> str:
    return html.escape(str(value))
