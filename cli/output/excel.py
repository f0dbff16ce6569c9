"""Write xlsx: one sheet with a bold header row, filters, and all rows.

Excel keeps 15 digits of a number, so integers and decimals with more digits are written as text, e.g. times
in nanoseconds. Nothing is cut: a result that exceeds the limits of a sheet or a cell is an error.
"""

from __future__ import annotations

import math
import shutil
import tempfile
from decimal import Decimal
from typing import IO, TYPE_CHECKING, Any

from tracewh.arrow_batches import read_batches
from tracewh.cli.diagnostics.errors import CliError
from tracewh.cli.output.column_types import NUMERIC
from tracewh.cli.output.text_formats import BATCH_ROWS

if TYPE_CHECKING:
    import duckdb

#: Rows and columns of a sheet, characters of a cell, and of the width of a column: Microsoft, "Excel
#: specifications and limits".
ROWS, COLUMNS, CHARACTERS, WIDTH = 1_048_576, 16_384, 32_767, 255
EXACT = 10**15
_OTHERWISE = "use --format csv or parquet"


def check() -> None:
    """Raise an error if XlsxWriter is not installed."""
    try:
        import xlsxwriter  # noqa: F401
    except ImportError as error:
        raise CliError("--format xlsx needs XlsxWriter: pip install 'tracewh[excel]'") from error


def xlsx(result: duckdb.DuckDBPyRelation, sink: IO[bytes]) -> int:
    """Write an Excel workbook and return its number of rows; NULL is an empty cell."""
    # Via a temporary file: XlsxWriter leaves its archive open if writing to the sink fails.
    with tempfile.TemporaryFile() as file:
        rows = _fill(result, file)
        file.seek(0)
        shutil.copyfileobj(file, sink)
    return rows


def _fill(result: duckdb.DuckDBPyRelation, file: IO[bytes]) -> int:
    from xlsxwriter import Workbook

    if len(result.columns) > COLUMNS:
        raise CliError(
            f"the result has {len(result.columns):,} columns, and an Excel sheet holds {COLUMNS:,}; "
            f"select fewer, or {_OTHERWISE}"
        )
    # Text stays text: a name that begins with '=' is not a formula.
    book = Workbook(file, {"constant_memory": True, "strings_to_formulas": False})
    sheet = book.add_worksheet("tracewh")
    sheet.freeze_panes(1, 0)
    bold = book.add_format({"bold": True})
    for column, name in enumerate(result.columns):
        _write_text(sheet, 0, column, name, bold)
        sheet.set_column(column, column, min(max(10, len(name) + 3), WIDTH))
    row = 0
    try:
        for batch in read_batches(_plain(result).to_arrow_reader(BATCH_ROWS)):
            columns = [column.to_pylist() for column in batch.columns]
            for values in zip(*columns, strict=True):
                row += 1
                if row == ROWS:
                    raise CliError(
                        f"the result has more than {ROWS - 1:,} rows, the limit of an Excel sheet; "
                        f"reduce it with --limit, or {_OTHERWISE}"
                    )
                for column, value in enumerate(values):
                    _write(sheet, row, column, value, result.columns[column])
        sheet.autofilter(0, 0, row, len(result.columns) - 1)
    finally:
        book.close()  # also after an error: it holds files open
    return row


def _plain(result: duckdb.DuckDBPyRelation) -> duckdb.DuckDBPyRelation:
    """Return the result with every type but numbers and booleans converted to text.

    Arrow would turn large values of a UHUGEINT into negative ones, so these become text, too.
    Columns are numbered, because DuckDB takes names that differ only in case for the same.
    """
    return result.project(
        ", ".join(
            f"#{number}"
            if str(kind) == "BOOLEAN" or (NUMERIC.fullmatch(str(kind)) and str(kind) != "UHUGEINT")
            else f"CAST(#{number} AS VARCHAR)"
            for number, kind in enumerate(result.types, 1)
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
        length = len(text.encode("utf-16-le")) // 2  # as Excel counts: an emoji has two
        if length > CHARACTERS:
            raise CliError(
                f"row {row:,}, column {name}: the text has {length:,} characters, and an Excel cell "
                f"holds {CHARACTERS:,}; {_OTHERWISE}"
            )
        _write_text(sheet, row, column, text)


def _write_text(sheet: Any, row: int, column: int, text: str, *style: Any) -> None:
    """Write a text as it is."""
    if text.startswith("<r>") and text.endswith("</r>"):
        # XlsxWriter takes this for its own markup and escapes nothing. It escapes the parts of a rich text.
        sheet.write_rich_string(row, column, text[:1], text[1:2], text[2:], *style)
    else:
        sheet.write_string(row, column, text, *style)


def _fits(number: float | Decimal) -> bool:
    """Whether Excel stores the number exactly: a finite float, or any other number of up to 15 digits."""
    if isinstance(number, float):
        return math.isfinite(number)
    return abs(number) < EXACT and (isinstance(number, int) or Decimal(f"{number:.15g}") == number)
