"""Results as bytes: a table for people, csv, json, markdown or parquet for everything else.

Every format but the table holds every row and column in full. csv, json and markdown are streamed:
DuckDB writes the lines as text, batch by batch, and the bytes of a batch go out as they are, so a
result of any size passes through a few megabytes and no Python object is made per row.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import IO, TYPE_CHECKING

from tracewh.cli import diagnostics

if TYPE_CHECKING:
    import duckdb

NUMERIC = re.compile(r"(U?(TINYINT|SMALLINT|INTEGER|BIGINT|HUGEINT)|FLOAT|DOUBLE|DECIMAL\(.*\))")


class Format(StrEnum):
    """What a result is written as."""

    TABLE = "table"
    CSV = "csv"
    JSON = "json"
    MARKDOWN = "markdown"
    PARQUET = "parquet"


@dataclass(frozen=True, slots=True)
class Output:
    """What the caller wants a result to look like, and where.

    Attributes:
        limit: So many rows at most; 0 for all; None for all, but a screenful on a terminal.
        sort: A column, perhaps with ``:asc`` or ``:desc``, or None for the result's own order.
    """

    format: Format = Format.TABLE
    path: Path | None = None
    limit: int | None = None
    sort: str | None = None

    def write(self, result: duckdb.DuckDBPyRelation) -> int:
        """Write a result and give its number of rows."""
        if self.sort:
            result = _sorted(result, self.sort)
        if self.format is Format.TABLE:
            from tracewh.cli.screen import write_table

            with self._sink() as sink:
                return write_table(result, sink, self.limit)
        if self.limit:
            result = result.limit(self.limit)
        if self.format is Format.PARQUET:
            return self._write_parquet(result)
        from tracewh.cli import lines

        make = {Format.CSV: lines.csv, Format.JSON: lines.json, Format.MARKDOWN: lines.markdown}
        with self._sink() as sink:
            return make[self.format](result, sink)

    def check(self) -> None:
        """Refuse before the query runs what could only fail after it."""
        if self.format is Format.PARQUET and self.path is None and sys.stdout.isatty():
            diagnostics.refuse("parquet is not for a terminal; name a file with -o FILE")
        if self.path is not None:
            if self.path.is_dir():
                raise diagnostics.CliError(f"{self.path} is a folder; -o takes a file")
            if not self.path.absolute().parent.is_dir():
                raise diagnostics.CliError(f"{self.path}: the folder to write it in does not exist")

    def _write_parquet(self, result: duckdb.DuckDBPyRelation) -> int:
        from pyarrow.parquet import read_metadata

        if self.path is not None:
            with _whole(self.path) as file:
                result.write_parquet(str(file))
                return int(read_metadata(file).num_rows)
        with tempfile.TemporaryDirectory() as folder, self._sink() as sink:
            file = Path(folder) / "result.parquet"
            result.write_parquet(str(file))
            with file.open("rb") as source:
                shutil.copyfileobj(source, sink)
            return int(read_metadata(file).num_rows)

    @contextmanager
    def _sink(self) -> Iterator[IO[bytes]]:
        if self.path is None:
            sys.stdout.flush()
            yield sys.stdout.buffer
            sys.stdout.buffer.flush()
        else:
            with _whole(self.path) as path, path.open("wb") as sink:
                yield sink


@contextmanager
def _whole(path: Path) -> Iterator[Path]:
    """A path to write at, so that the file appears when all of it is written, or not at all."""
    if path.exists() and not path.is_file():  # a named pipe, /dev/null
        yield path
        return
    part = path.resolve().with_name(f".{path.name}.{os.getpid()}.part")
    try:
        yield part
        part.replace(path.resolve())
    except OSError as error:
        raise diagnostics.CliError(f"{path}: {error.strerror}") from error
    finally:
        part.unlink(missing_ok=True)


def _sorted(result: duckdb.DuckDBPyRelation, wanted: str) -> duckdb.DuckDBPyRelation:
    """Order by one column: numbers largest first, all else from A to Z, unless it says otherwise."""
    name, _, direction = wanted.partition(":")
    if name not in result.columns:
        hint = diagnostics.did_you_mean(name, result.columns)
        hint = hint or f"; there is {', '.join(result.columns)}"
        diagnostics.refuse(f"--sort: no column named {name!r}{hint}")
    if direction not in ("", "asc", "desc"):
        diagnostics.refuse(f"--sort: after the colon comes asc or desc, not {direction!r}")
    if not direction:
        kind = str(result.types[result.columns.index(name)])
        direction = "desc" if NUMERIC.fullmatch(kind) else "asc"
    return result.order(f"{quoted(name)} {direction} NULLS LAST")


def quoted(name: str) -> str:
    """A column's name as SQL writes it."""
    return '"' + name.replace('"', '""') + '"'
