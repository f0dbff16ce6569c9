"""Write csv, json and markdown: DuckDB formats the lines, this module writes their bytes.

SQL turns each row of a result into one text. The texts of a batch are contiguous in memory and are
written without a copy.
"""

from __future__ import annotations

import re
from typing import IO, TYPE_CHECKING

from tracewh.arrow_batches import read_batches
from tracewh.cli.output.column_types import NUMERIC

if TYPE_CHECKING:
    from collections.abc import Iterator

    import duckdb

BATCH_ROWS = 20_000
#: Starts of cells that a spreadsheet runs as a formula; OWASP lists them under CSV injection.
FORMULA = re.compile(r"^[=+\-@\t\r]")
#: Numbers that JSON does not have. A match inside a text is harmless.
NOT_JSON = re.compile(rb"NaN|Infinity")
#: A text of JSON, or such a number outside of texts.
TEXT_OR_NOT_JSON = re.compile(rb'("[^"\\]*(?:\\.[^"\\]*)*")|-?(?:NaN|Infinity)')


def csv(result: duckdb.DuckDBPyRelation, sink: IO[bytes], escape_formulas: bool = False) -> int:
    """Write CSV (RFC 4180) with a header line; NULL is empty and an empty text is ``""``.

    Args:
        result: The rows to write.
        sink: The stream to write to.
        escape_formulas: Put an apostrophe before each text that a spreadsheet would run.
    """
    names = result.columns
    if escape_formulas:
        names = [f"'{name}" if FORMULA.match(name) else name for name in names]
    sink.write((",".join(map(_csv_field, names)) + "\n").encode())
    cells = [
        f"coalesce({cell}, '')"
        if _is_plain(kind)
        else _csv_cell(_without_formula(cell) if escape_formulas else cell)
        for cell, kind in _cells(result)
    ]
    return _write_lines(result, f"""concat({", ',', ".join(cells)}, chr(10))""", sink)


def markdown(result: duckdb.DuckDBPyRelation, sink: IO[bytes]) -> int:
    """Write a pipe table with numbers aligned right; NULL is an empty cell."""
    names = [re.sub(r"\r?\n", "<br>", name.replace("|", "\\|")) for name in result.columns]
    rules = ["---:" if NUMERIC.fullmatch(str(kind)) else "---" for kind in result.types]
    for line in (names, rules):
        sink.write(f"| {' | '.join(line)} |\n".encode())
    cells = [
        f"coalesce({cell}, '')"
        if _is_plain(kind)
        else f"regexp_replace(replace(coalesce({cell}, ''), '|', '\\|'), '\\r?\\n', '<br>', 'g')"
        for cell, kind in _cells(result)
    ]
    return _write_lines(result, f"""concat('| ', {", ' | ', ".join(cells)}, ' |', chr(10))""", sink)


def json(result: duckdb.DuckDBPyRelation, sink: IO[bytes]) -> int:
    """Write an array with one object per line; NULL, NaN and infinities are null."""
    names = ", ".join(
        f"{_literal(name)}, #{number}" for number, name in enumerate(result.columns, 1)
    )
    rows = 0
    for count, block in _blocks(result, f"concat(',', chr(10), json_object({names}))"):
        sink.write(b"," if rows else b"[")
        rest = block[1:]  # every line begins with the comma after the one before it
        sink.write(_finite(rest) if NOT_JSON.search(rest) else rest)
        rows += count
    sink.write(b"\n]\n" if rows else b"[]\n")
    return rows


def _finite(block: memoryview) -> bytes:
    """Replace NaN and infinities in the lines of a block by null. This is rare, so it may be slow.

    The rest stays as it is: Python would read a DECIMAL as a float, which has fewer digits.
    """
    lines = bytes(block).split(b"\n")
    return b"\n".join(
        TEXT_OR_NOT_JSON.sub(lambda found: found[1] or b"null", line)
        if NOT_JSON.search(line)
        else line
        for line in lines
    )


def _cells(result: duckdb.DuckDBPyRelation) -> Iterator[tuple[str, str]]:
    """Yield each column as text, and its type. Columns are numbered, as two may have the same name."""
    for number, kind in enumerate(result.types, 1):
        yield f"CAST(#{number} AS VARCHAR)", str(kind)


def _is_plain(kind: str) -> bool:
    """Whether the text of a type never needs quotes."""
    return kind in ("BOOLEAN", "DATE") or NUMERIC.fullmatch(kind) is not None


def _write_lines(result: duckdb.DuckDBPyRelation, line: str, sink: IO[bytes]) -> int:
    rows = 0
    for count, block in _blocks(result, line):
        sink.write(block)
        rows += count
    return rows


def _blocks(result: duckdb.DuckDBPyRelation, line: str) -> Iterator[tuple[int, memoryview]]:
    """Yield the lines of a result batch by batch: their number and their bytes."""
    import pyarrow

    texts = result.project(f"{line} AS line")  # `query` would plan the query three times more
    for batch in read_batches(texts.to_arrow_reader(BATCH_ROWS)):
        column = batch.column(0).cast(pyarrow.large_string())
        _, offsets, data = column.buffers()
        ends = memoryview(offsets).cast("q")
        first, last = ends[column.offset], ends[column.offset + len(column)]
        yield len(column), memoryview(data)[first:last]


def _without_formula(cell: str) -> str:
    """Return SQL that escapes a text that a spreadsheet would run; a number stays a number."""
    return (
        f"CASE WHEN regexp_matches({cell}, {_literal(FORMULA.pattern)})"
        f" AND try_cast({cell} AS DOUBLE) IS NULL THEN concat(chr(39), {cell}) ELSE {cell} END"
    )


def _csv_cell(cell: str) -> str:
    return (
        f"CASE WHEN {cell} = '' OR regexp_matches({cell}, '[\",\\r\\n]')"
        f" THEN '\"' || replace({cell}, '\"', '\"\"') || '\"' ELSE coalesce({cell}, '') END"
    )


def _csv_field(text: str) -> str:
    quoted = '"' + text.replace('"', '""') + '"'
    return quoted if re.search(r'[",\r\n]', text) or not text else text


def _literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
