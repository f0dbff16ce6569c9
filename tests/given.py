"""The .test files: tiny tables in, rows out.

A file is a list of paragraphs. The first word of a paragraph says what it is:

    given TABLE      a header line and one line per row; fields are two or more spaces apart
    query TITLE      SQL, a line of dashes, the rows it must return, in order
    error TITLE      SQL, a line of dashes, a part of the message it must fail with
    clear            empties the tables

Values are compared as the text DuckDB prints, so 0.1 is 0.1, NULL is NULL and the empty text is ''.
A list is written [1, 2], JSON as it is. Columns that a `given` leaves out are NULL, except run,
worker and span, which are then 'r', 'w' and 'default'. Tables persist until `clear` or the end of
the file; a later `given` adds rows. A line that starts with # is a comment.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path

import duckdb

from tests.derived_tables import DERIVED, GRAPHS, NODES, STEP_ROLES, fill_derived_tables
from tracewh.views.empty_blocks import RARE, empty_macro
from tracewh.views.registry import installed
from tracewh.views.warehouse import SLOW_OPTIMIZER

#: Filled in for every `given` that does not say.
KEYS = {"run": "r", "worker": "w", "span": "default"}


def plan_quickly(con: duckdb.DuckDBPyConnection) -> None:
    """Switch off what a Warehouse does without, and what takes a sixth of planning and gains nothing here."""
    con.execute(f"SET disabled_optimizers = '{SLOW_OPTIMIZER},statistics_propagation'")


class Mismatch(Exception):
    """A query that gives other rows than the file says; prints only what differs."""

    def __init__(self, query: str, *lines: str) -> None:
        super().__init__("\n".join([query, "", *lines]))


class Tables:
    """All tables and slices, empty, in one connection; macros appear when SQL first calls them.

    Creating every macro for every query would cost a hundred times what the query does.
    """

    def __init__(self) -> None:
        self.registry = installed()
        self.con = duckdb.connect()
        self.con.execute("SET TimeZone = 'UTC'; SET threads = 1")
        plan_quickly(self.con)
        self.created: set[str] = set()
        self._without_rows: set[str] = set()
        self._filled: tuple[tuple[str, ...], frozenset[str]] = ((), frozenset())
        for spec in (*self.registry.tables(), *self.registry.slices()):
            self.prepare(spec.name)
        self.prepare(f"{STEP_ROLES} {NODES} {GRAPHS}")

    def prepare(self, sql: str | None, empty: Collection[str] = ()) -> None:
        """Create what a piece of SQL names, where that is not there yet; everything for None.

        Args:
            sql: The SQL.
            empty: Blocks that have no rows, however they are made.
        """
        for name in set(empty) - self._without_rows:
            self.con.execute(f"DROP MACRO TABLE IF EXISTS {name}")
            self.con.execute(empty_macro(self.registry.named(name)))
        self._without_rows.update(empty)
        self.created.difference_update(self._without_rows)
        missing = [name for name in self.registry.needs(sql, empty) if name not in self.created]
        self.registry.create(self.con, missing)
        self.created.update(missing)
        self._without_rows.difference_update(missing)

    def rare(self, sql: str, where: str = "TRUE") -> list[str]:
        """The blocks that a Warehouse leaves out of the plan of a query, which takes most of the time.

        What a query calls itself stays.

        Args:
            sql: The query.
            where: The condition on `run` of the traces that it is about.
        """
        needed = set(self.registry.needs(sql))
        self.prepare(" ".join(RARE.values()))
        return [
            name
            for blocks, found in RARE.items()
            if not needed.isdisjoint(blocks)
            and self.con.execute(f"SELECT 1 {found} AND {where} LIMIT 1").fetchone() is None
            for name in needed.intersection(blocks)
            if f"{name}(" not in sql
        ]

    def fill(self, given: tuple[str, ...], query: str) -> None:
        """Have the rows of `given` paragraphs, and what ingest derives from them and a query reads.

        Cases of a file that share all of these find them there: deriving takes longer than most queries.
        """
        wanted = given, frozenset(DERIVED.intersection(self.registry.needs(query)))
        if wanted == self._filled:
            return
        self.empty()
        for paragraph in given:
            self.insert(paragraph)
        fill_derived_tables(self.con, wanted[1])
        self._filled = wanted

    def empty(self) -> None:
        """Have no rows in any table."""
        self._filled = ((), frozenset())
        for table in self.registry.tables():
            self.con.execute(f"DELETE FROM {table.name}")

    def insert(self, given: str) -> None:
        """Add the rows of one `given` paragraph."""
        first, header, *rows = given.splitlines()
        table = first.split()[1]
        names = header.split()
        columns = {
            c.name for spec in self.registry.tables() if spec.name == table for c in spec.columns
        }
        keys = [name for name in KEYS if name in columns and name not in names]
        values: list[object] = []
        for row in rows:
            fields = [_value(field) for field in re.split(r"\s{2,}", row.strip())]
            if len(fields) != len(names):
                raise Mismatch(given, f"{len(fields)} fields, expected {len(names)}: {row}")
            values += [*(KEYS[key] for key in keys), *fields]
        marks = f"({', '.join('?' for _ in (*keys, *names))})"
        self.con.execute(
            f"INSERT INTO {table} ({', '.join((*keys, *names))}) VALUES {', '.join(marks for _ in rows)}",
            values,
        )


@dataclass(frozen=True, slots=True)
class Case:
    """One query or error of a file.

    Attributes:
        title: What stands behind its first word.
        given: The paragraphs of tables in front of it.
        line: Of its first word, from 0.
    """

    title: str
    query: str
    expected: str
    is_error: bool
    given: tuple[str, ...]
    line: int

    def run(self, tables: Tables) -> None:
        """Ask it.

        Raises:
            Mismatch: It gives other rows than the file says, or another message.
        """
        tables.fill(self.given, self.query)
        tables.prepare(self.query, tables.rare(self.query))
        self._compare(tables.con)

    def _compare(self, con: duckdb.DuckDBPyConnection) -> None:
        query = self.query.rstrip(";")
        if self.is_error:
            try:
                got = [str(row) for row in con.execute(query).fetchall()]
            except duckdb.Error as error:
                got = [str(error)]
                if self.expected in got[0]:
                    return
            raise Mismatch(query, f"- {self.expected}", *(f"+ {line}" for line in got))
        rows = con.execute(f"SELECT CAST(COLUMNS(*) AS VARCHAR) FROM (\n{query}\n)").fetchall()
        have = [[_shown(value) for value in row] for row in rows]
        want = [re.split(r"\s{2,}", line.strip()) for line in self.expected.splitlines()]
        if have != want:
            raise Mismatch(query, *_difference(want, have))


def cases(path: Path) -> Iterator[Case]:
    """The queries of a file.

    Raises:
        ValueError: A paragraph is of no kind.
    """
    given: list[str] = []
    for line, paragraph in paragraphs(path.read_text("utf-8")):
        first, _, body = paragraph.partition("\n")
        word, _, title = first.partition(" ")
        if word == "given":
            given.append(paragraph)
        elif paragraph == "clear":
            given = []
        elif word in ("query", "error") and "\n----" in body:
            query, expected = (part.strip() for part in re.split(r"\n-{4,}", body, maxsplit=1))
            yield Case(title, query, expected, word == "error", tuple(given), line)
        else:
            raise ValueError(f"{path}:{line + 1}: not a given, query, error or clear paragraph")


def _shown(value: str | None) -> str:
    return "NULL" if value is None else value or "''"


def _difference(want: list[list[str]], got: list[list[str]]) -> list[str]:
    lines = [f"- {'  '.join(row)}" for row in want if row not in got]
    lines += [f"+ {'  '.join(row)}" for row in got if row not in want]
    same = "same rows, in another order or number; got:"
    return lines or [same, *(f"  {'  '.join(row)}" for row in got)]


def _value(field: str) -> str | None:
    return {"NULL": None, "''": ""}.get(field, field)


def paragraphs(text: str) -> Iterator[tuple[int, str]]:
    """The paragraphs of a file without its comments, each with the number of its line, from 0."""
    lines: list[str] = []
    start = 0
    for number, line in enumerate([*text.splitlines(), ""]):
        if line.startswith("#"):
            continue
        if line.strip():
            start = start if lines else number
            lines.append(line.rstrip())
        elif lines:
            yield start, "\n".join(lines)
            lines = []
