"""Write results as a table for people, or as csv, json, markdown, parquet or xlsx.

Every format except the table has all rows and columns in full. csv, json and markdown are streamed:
DuckDB formats the lines, and their bytes are written batch by batch. A result of any size needs a few
megabytes, and no Python object is created per row.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from tracewh.arrow_batches import read_batches
from tracewh.cli import diagnostics
from tracewh.cli.diagnostics.errors import CliError
from tracewh.cli.output.column_types import NUMERIC
from tracewh.quoting import quote_identifier

if TYPE_CHECKING:
    import duckdb

    from tracewh.views.warehouse import Warehouse


#: Most digits of a number in an option: a trillion rows or MB. DuckDB takes no memory limit that is much larger.
MOST_DIGITS = 12
#: What Parquet has nothing like, by type: Arrow would refuse it without the column's name, write DuckDB's own bytes or
#: another number, or leave out the time zone.
NOT_IN_PARQUET = {
    "uhugeint": "integer",
    "bignum": "integer",
    "bit": "type",
    "interval": "type",
    "time with time zone": "type",
    "union": "type",
}
#: Warehouses of a process that ends.
_left_open: list[Warehouse] = []


class Format(StrEnum):
    """The output formats."""

    TABLE = "table"
    CSV = "csv"
    JSON = "json"
    MARKDOWN = "markdown"
    PARQUET = "parquet"
    XLSX = "xlsx"


@dataclass(frozen=True, slots=True)
class Output:
    """The output options of a command.

    Attributes:
        limit: Maximum number of rows; 0 for all; None for all, or a screenful on a terminal.
        sort: A column, optionally with ``:asc`` or ``:desc``; None for the order of the result.
        full_names: Whether lines of a table may be wider than the terminal.
        escape_formulas: Whether to escape CSV cells that a spreadsheet would run as a formula.
    """

    format: Format = Format.TABLE
    path: Path | None = None
    limit: int | None = None
    sort: str | None = None
    full_names: bool = False
    escape_formulas: bool = False

    @classmethod
    def parse(
        cls,
        format: str,
        path: Path | None,
        limit: str | None,
        sort: str | None,
        full_names: bool = False,
        escape_formulas: bool = False,
    ) -> Output:
        """Parse the options of a command line."""
        known = [known.value for known in Format]
        if format not in known:
            hint = diagnostics.did_you_mean(format, known) or f"; choose one of {', '.join(known)}"
            diagnostics.usage_error(f"--format: unknown format {format!r}{hint}")
        rows = None if limit is None else parse_integer("--limit", limit, least=0)
        if escape_formulas and format != Format.CSV:
            diagnostics.usage_error("--escape-formulas needs --format csv")
        return cls(Format(format), path, rows, sort, full_names, escape_formulas)

    def write(
        self,
        result: duckdb.DuckDBPyRelation,
        keys: Sequence[str] = (),
        only: Sequence[str] = (),
    ) -> int:
        """Write a result and return its number of rows.

        Args:
            keys: Columns that identify a row; a table that continues in blocks repeats them.
            only: Columns that a table on a terminal shows, one line per row; () for all columns.
        """
        from tracewh.views.warehouse import is_stored

        stored = is_stored(result)
        if len(set(result.columns)) < len(result.columns):
            result = result.project("*")  # makes duplicate names unique
        names = result.columns
        if self.sort:
            result = _renamed(_sorted(result, self.sort), names)
        if self.format is Format.TABLE:
            from tracewh.cli.output.screen import write_table

            with self.sink() as sink:
                return write_table(
                    result,
                    sink,
                    self.limit,
                    keys=keys,
                    only=only,
                    full_names=self.full_names,
                    stored=stored,
                )
        if self.limit:
            result = _renamed(result.limit(self.limit), names)
        from tracewh.cli.output import excel, text_formats

        write: dict[Format, Callable[[duckdb.DuckDBPyRelation, IO[bytes]], int]] = {
            Format.CSV: partial(text_formats.csv, escape_formulas=self.escape_formulas),
            Format.JSON: text_formats.json,
            Format.MARKDOWN: text_formats.markdown,
            Format.PARQUET: write_parquet,
            Format.XLSX: excel.xlsx,
        }
        with self.sink() as sink:
            return write[self.format](result, sink)

    def write_text(self, text: str, what: str) -> None:
        """Write a text that is no table.

        Args:
            text: The text.
            what: What it is, for the message that refuses another format.
        """
        if self.format is not Format.TABLE:
            diagnostics.usage_error(f"{what} is plain text; leave out --format {self.format}")
        with self.sink() as sink:
            sink.write(text.encode())

    def write_with_retry(
        self,
        run: Callable[[], duckdb.DuckDBPyRelation],
        keys: Sequence[str] = (),
        only: Sequence[str] = (),
    ) -> int:
        """Write the result of a query, and run it once more if a file cannot be read.

        A trace may have been replaced while the query read it. If the file is damaged, the second attempt fails, too.
        Text that is streamed to stdout has begun by then, so it is not written again.

        Args:
            run: Lists the traces and returns the result.
            keys: See `write`.
            only: See `write`.
        """
        import duckdb

        try:
            return self.write(run(), keys, only)
        except duckdb.Error as error:
            # Any of these is written only when all rows were read.
            is_whole = self.format is Format.TABLE or (
                self.path is not None and (self.path.is_file() or not self.path.exists())
            )
            if not is_whole or not diagnostics.is_damage(error):
                raise
        return self.write(run(), keys, only)

    def check(self) -> None:
        """Raise errors of the output options before the query runs, and not after it."""
        binary = self.format in (Format.PARQUET, Format.XLSX)
        if binary and self.path is None and sys.stdout.isatty():
            diagnostics.usage_error(
                f"{self.format} cannot be printed on a terminal; write it to a file with -o FILE"
            )
        if self.format is Format.XLSX:
            from tracewh.cli.output import excel

            excel.check()
        if self.path is not None:
            if self.path.is_dir():
                raise CliError(f"{self.path} is a folder; -o takes a file")
            if not self.path.absolute().parent.is_dir():
                raise CliError(f"{self.path}: the parent folder does not exist")

    @contextmanager
    def open_warehouse(self, path: str) -> Iterator[Warehouse]:
        """Open the warehouse that the rows come from.

        An interrupt within this context ends the process even if DuckDB does not notice it, and nothing unfinished
        is left.
        """
        import tracewh

        def tidy() -> None:
            opened.abandon()
            self.discard()

        opened = tracewh.open(path)
        with ExitStack() as stack:
            if diagnostics.process_ends:
                # It takes long to free its memory, which ends with the process.
                _left_open.append(opened)
                stack.callback(opened.abandon)
            else:
                stack.enter_context(opened)
            with diagnostics.killable(tidy):
                yield opened

    def discard(self) -> None:
        """Remove what is written of the file so far, before the process is killed."""
        if self.path is not None:
            _remove(_part(self.path.resolve()))

    @contextmanager
    def sink(self) -> Iterator[IO[bytes]]:
        """Open the output for writing: stdout, or a file that appears when all of it is written."""
        if self.path is None:
            sys.stdout.flush()
            yield sys.stdout.buffer
            sys.stdout.buffer.flush()
        else:
            with atomic_write(self.path) as path, path.open("wb") as sink:
                yield sink


@contextmanager
def atomic_write(path: Path) -> Iterator[Path]:
    """Yield a temporary path and rename it at the end: the file appears whole or not at all."""
    goal = Path(os.path.realpath(path))
    special = path.exists() and not path.is_file()  # e.g. a named pipe or /dev/null
    part = goal if special else _part(goal)
    try:
        if goal.is_file():
            # Whoever may not read the old file may not read the new one either.
            part.touch(0o600)
            shutil.copymode(goal, part)
        yield part
        if not special:
            part.replace(goal)
    except BrokenPipeError:
        raise
    except OSError as error:
        raise CliError(f"{path}: {error.strerror or error}") from error
    finally:
        if not special:
            _remove(part)


def _part(goal: Path) -> Path:
    return goal.with_name(f".{goal.name}.{os.getpid()}.part")


def _remove(part: Path) -> None:
    with suppress(OSError):  # a read-only file system says so of a file that does not exist, too
        part.unlink(missing_ok=True)


def write_parquet(result: duckdb.DuckDBPyRelation, sink: IO[bytes]) -> int:
    """Write Parquet with Arrow: in DuckDB, a query may not write files, and a pipe is not a file."""
    from pyarrow.parquet import ParquetWriter

    for name, kind in zip(result.columns, result.types, strict=True):
        for found in NOT_IN_PARQUET.keys() & _type_ids(kind):
            raise CliError(
                f"column {name}: Parquet has no {NOT_IN_PARQUET[found]} like {found.upper()}; "
                "cast that column to VARCHAR"
            )
    rows = 0
    reader = result.to_arrow_reader()
    try:
        with ParquetWriter(sink, reader.schema, compression="zstd") as writer:
            for batch in read_batches(reader):
                writer.write_batch(batch)
                rows += batch.num_rows
    except NotImplementedError as error:
        raise CliError(f"{error}; cast that column to VARCHAR") from error
    return rows


def _type_ids(kind: Any) -> set[str]:
    """Return the names of a type and of the types in it."""
    inner = kind.children if kind.id in ("list", "array", "map", "struct") else []
    return {kind.id}.union(*(_type_ids(each) for name, each in inner if name != "size"))


def parse_integer(option: str, text: str, *, least: int) -> int:
    """Parse the value of an option that is a whole number."""
    if text.isdecimal() and len(text) > MOST_DIGITS:
        diagnostics.usage_error(f"{option} takes a whole number of at most {MOST_DIGITS} digits")
    if not text.isdecimal() or int(text) < least:
        diagnostics.usage_error(f"{option} takes a whole number of at least {least}, not {text!r}")
    return int(text)


def _sorted(result: duckdb.DuckDBPyRelation, wanted: str) -> duckdb.DuckDBPyRelation:
    """Sort by one column: by default numbers descending, everything else ascending."""
    name, _, direction = wanted.partition(":")
    if name not in result.columns:
        hint = diagnostics.did_you_mean(name, result.columns)
        hint = hint or f"; the columns are {', '.join(result.columns)}"
        diagnostics.usage_error(f"--sort: no column named {name!r}{hint}")
    if direction not in ("", "asc", "desc"):
        diagnostics.usage_error(f"--sort: the direction must be asc or desc, not {direction!r}")
    if not direction:
        kind = str(result.types[result.columns.index(name)])
        direction = "desc" if NUMERIC.fullmatch(kind) else "asc"
    # By its number: DuckDB takes names that differ only in case for the same.
    return result.order(f"#{result.columns.index(name) + 1} {direction} NULLS LAST")


def _renamed(result: duckdb.DuckDBPyRelation, names: Sequence[str]) -> duckdb.DuckDBPyRelation:
    """Return a result with these names: DuckDB changes names that differ only in case when it sorts or limits rows."""
    if result.columns == names:
        return result
    return result.project(
        ", ".join(f"#{number} AS {quote_identifier(name)}" for number, name in enumerate(names, 1))
    )
