"""Read files with delimited rows into tables of DuckDB: a row that is damaged is left out and named."""

from __future__ import annotations

import csv
from dataclasses import dataclass, field
from pathlib import Path

import duckdb

from tracewh.errors import RefusedError
from tracewh.files import File
from tracewh.ingest.read.decompress import CutError, decompress
from tracewh.quoting import quote_file

#: The most damaged rows that are named; all are counted.
MOST_NAMED = 10
#: The longest row, in bytes.
ROW_BYTES = 8 << 20
_CAUSES = {
    "MISSING COLUMNS": "it has fewer columns than the header",
    "TOO MANY COLUMNS": "it has more columns than the header",
    "UNQUOTED VALUE": "a quote is missing",
    "INVALID ENCODING": "it is not UTF-8",
    "LINE SIZE OVER MAXIMUM": "it is too long",
}


@dataclass(slots=True)
class Damage:
    """Rows and files that could not be read.

    Attributes:
        rows: The number of rows.
        named: One line for each of the first ones: file, line and cause.
    """

    rows: int = 0
    named: list[str] = field(default_factory=list)

    def add(self, said: str) -> None:
        """Count a row or a file, and keep what is said about it if it is one of the first."""
        self.rows += 1
        if len(self.named) < MOST_NAMED:
            self.named.append(said)


def local_copy(file: File, folder: Path) -> Path:
    """The path of a decompressed copy of a file: the file itself if it is local and not compressed.

    Raises:
        RefusedError: The compressed data is damaged.
    """
    with file.open("rb") as opened:
        start = opened.read(4)
    if isinstance(file, Path) and start[:2] != b"\x1f\x8b" and start != b"\x28\xb5\x2f\xfd":
        return file
    # DuckDB decompresses what has such a suffix.
    path = folder / file.name.removesuffix(".gz").removesuffix(".zst")
    try:
        with path.open("wb") as copy:
            for part in decompress(lambda: file.open("rb"), lambda _: None):
                copy.write(part)
    except CutError as error:
        raise RefusedError(f"{error}: {error.remedy or 'copy it again'}") from None
    return path


def read_rows(
    con: duckdb.DuckDBPyConnection,
    path: Path,
    table: str,
    damage: Damage,
    skip: int = 0,
    ragged: bool = False,
) -> None:
    """Create a table with the rows of a CSV file: `place`, from 0, and `fields`, a JSON object of texts.

    Args:
        con: Connection to the database.
        path: The file. N/A and n/a count as missing.
        table: Name of the new table.
        damage: Where damaged rows are added.
        skip: Number of lines before the header.
        ragged: Whether rows may end early: the missing columns are NULL.
    """
    columns = _header(path, skip)
    if not columns:
        damage.add(f"{path.name} is empty")
        columns = ["empty"]
    types = "{" + ", ".join(f"{_quoted(name)}: 'VARCHAR'" for name in columns) + "}"
    con.execute(
        f"CREATE TABLE {table} AS SELECT row_number() OVER () - 1 AS place, to_json(r)::JSON AS fields"
        f" FROM read_csv({quote_file(path)}, auto_detect = false, columns = {types}, skip = {skip},"
        " hive_partitioning = false, header = true, delim = ',', quote = '\"', escape = '\"', nullstr = ['N/A', 'n/a', ''],"
        f" null_padding = {ragged}, parallel = {not ragged}, max_line_size = {ROW_BYTES},"
        f" buffer_size = {4 * ROW_BYTES}, store_rejects = true, rejects_table = '{table}_rejects',"
        f" rejects_scan = '{table}_scans') AS r"
    )
    found = con.execute(
        f"SELECT r.line, r.error_type::VARCHAR FROM {table}_rejects AS r"
        " QUALIFY row_number() OVER (PARTITION BY r.line) = 1 ORDER BY r.line"
    ).fetchall()
    if (cut := _cut_line(path)) and cut not in [line for line, _ in found]:
        found.append((cut, "UNQUOTED VALUE"))
    for line, kind in found:
        damage.add(f"{path.name}, line {line}: {_CAUSES.get(kind, kind.lower())}")


def read_lines(con: duckdb.DuckDBPyConnection, path: Path, table: str) -> None:
    """Create a table with the lines of a text file that are not blank: `line`, from 1, and `text`.

    Raises:
        RefusedError: The file is not UTF-8.
    """
    try:
        con.execute(
            f"CREATE TABLE {table} AS SELECT s.line, trim(s.texts[s.line], E' \\r\\t') AS text FROM ("
            "SELECT string_split(t.content, chr(10)) AS texts,"
            " unnest(range(1, 1 + len(string_split(t.content, chr(10))))) AS line"
            f" FROM read_text({quote_file(path)}) AS t) AS s"
            " WHERE trim(s.texts[s.line], E' \\r\\t') <> ''"
        )
    except duckdb.InvalidInputException:
        raise RefusedError(f"{path.name} is not UTF-8: copy it again, as a binary file") from None


def _header(path: Path, skip: int) -> list[str]:
    """The names of the columns; one that is missing or occurs again, in whichever case, gets a number.

    To DuckDB, names that differ by case alone are the same name.
    """
    with path.open(encoding="utf-8-sig", errors="replace", newline="") as file:
        for _ in range(skip):
            file.readline()
        names = next(csv.reader([file.readline()]), [])
    found: list[str] = []
    known: set[str] = set()
    for number, name in enumerate(name.strip() for name in names):
        unique = name or f"column {number}"
        while unique.casefold() in known:
            unique += f" {number}"
        found.append(unique)
        known.add(unique.casefold())
    return found


def _cut_line(path: Path) -> int:
    """The number of the last line if the file ends within quotes there, which DuckDB does not report; else 0."""
    lines, rest = 0, b""
    with path.open("rb") as file:
        while part := file.read(1 << 20):
            lines += part.count(b"\n")
            rest = part if b"\n" in part else rest + part
    last = rest.rpartition(b"\n")[2]
    return lines + 1 if last.count(b'"') % 2 else 0


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
