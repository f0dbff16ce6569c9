"""xlsx: one sheet, with the names in bold at its top, filters on them, and every row below.

Excel keeps 15 digits of a number, so a whole number that has more is written as text, instants in
nanoseconds among them. Nothing is cut: what a sheet or a cell cannot hold is refused.
"""

from __future__ import annotations

import math
import shutil
import tempfile
from decimal import Decimal
from typing import IO, TYPE_CHECKING, Any

from tracewh.cli.diagnostics.errors import CliError
from tracewh.cli.output.column_types import NUMERIC
from tracewh.cli.output.text_formats import BATCH_ROWS
from tracewh.quoting import quoted_name

if TYPE_CHECKING:
    import duckdb

#: What a sheet and a cell hold: Microsoft, "Excel specifications and limits".
ROWS, CHARACTERS = 1_048_576, 32_767
EXACT = 10**15
_OTHERWISE = "use --format csv or parquet"


def check() -> None:
    """Refuse where the library is missing."""
    try:
        import xlsxwriter  # noqa: F401
    except ImportError as error:
        raise CliError("--format xlsx needs XlsxWriter: pip install 'tracewh[excel]'") from error


def xlsx(result: duckdb.DuckDBPyRelation, sink: IO[bytes]) -> int:
    """An Excel workbook; NULL is an empty cell."""
    # Not to the sink itself: the library leaves an archive open where that takes no more.
    with tempfile.TemporaryFile() as file:
        rows = _fill(result, file)
        file.seek(0)
        shutil.copyfileobj(file, sink)
    return rows


def _fill(result: duckdb.DuckDBPyRelation, file: IO[bytes]) -> int:
    from xlsxwriter import Workbook

    # A text is one, whatever it looks like: a name that begins with '=' is no formula.
    book = Workbook(file, {"constant_memory": True, "strings_to_formulas": False})
    sheet = book.add_worksheet("tracewh")
    sheet.freeze_panes(1, 0)
    bold = book.add_format({"bold": True})
    for column, name in enumerate(result.columns):
        sheet.write_string(0, column, name, bold)
        sheet.set_column(column, column, max(10, len(name) + 3))
    row = 0
    try:
        for batch in _plain(result).to_arrow_reader(BATCH_ROWS):
            columns = [column.to_pylist() for column in batch.columns]
            for values in zip(*columns, strict=True):
                row += 1
                if row == ROWS:
                    raise CliError(
                        f"a sheet of Excel holds {ROWS - 1:,} rows and their names, and there are "
                        f"more; take some with --limit, or {_OTHERWISE}"
                    )
                for column, value in enumerate(values):
                    _write(sheet, row, column, value, result.columns[column])
        sheet.autofilter(0, 0, row, len(result.columns) - 1)
    finally:
        book.close()  # also where it is thrown away: it holds files open
    return row


def _plain(result: duckdb.DuckDBPyRelation) -> duckdb.DuckDBPyRelation:
    """Numbers and booleans as they are, all else as text."""
    return result.project(
        ", ".join(
            quoted_name(name)
            if str(kind) == "BOOLEAN" or NUMERIC.fullmatch(str(kind))
            else f"CAST({quoted_name(name)} AS VARCHAR) AS {quoted_name(name)}"
            for name, kind in zip(result.columns, result.types, strict=True)
        )
    )


def _write(sheet: Any, row: int, column: int, value: Any, name: str) -> None:
    if value is None:
        return
    if isinstance(value, bool):
        sheet.write_boolean(row, column, value)
    elif isinstance(value, int | float | Decimal) and _fits(value):
        sheet.write_number(row, column, value)
    else:
        text = str(value)
        if len(text) > CHARACTERS:
            raise CliError(
                f"row {row:,}, column {name}: {len(text):,} characters, and a cell of Excel holds "
                f"{CHARACTERS:,}; {_OTHERWISE}"
            )
        sheet.write_string(row, column, text)


def _fits(number: float | Decimal) -> bool:
    """Whether Excel keeps the number: a float is no more exact than it, anything else may be."""
    return math.isfinite(number) and (isinstance(number, float) or abs(number) < EXACT)
