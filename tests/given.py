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
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path

import duckdb

from tests.derived_tables import DERIVED, GRAPHS, NODES, STEP_ROLES, fill_derived_tables
from tracewh.quoting import quote_literal
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
        self._answers: dict[tuple[tuple[str, ...], str], str] = {}
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

    def answer(self, given: tuple[str, ...], call: str) -> str:
        """The name of a table with the rows of a call of a view, which is asked once.

        Args:
            given: The paragraphs with the rows of all tables.
            call: The call.
        """
        if (given, call) not in self._answers:
            self.fill(given, call)
            self.prepare(call, self.rare(call))
            name = f"answer_{len(self._answers)}"
            self.con.execute(f"CREATE TEMP TABLE {name} AS FROM {call}")
            self._answers[given, call] = name
        return self._answers[given, call]

    def insert(self, given: str) -> None:
        """Add the rows of one `given` paragraph."""
        table, names, rows = _head(given)
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


#: Views that take long to plan. Their rows of a run depend on this run alone (tests/views/test_distributes.py), and
#: those of all runs are those of each (tests/views/test_every_view.py). So the cases of a file share an answer for all
#: runs that they ask for, of which each reads its own.
ASKED_TOGETHER = ("recommendations_v1", "trace_quality_v1", "verdict_v1")


@dataclass(frozen=True, slots=True)
class Case:
    """One query or error of a file.

    Attributes:
        title: What stands behind its first word.
        given: The paragraphs of tables in front of it.
        line: Of its first word, from 0.
        together: The paragraphs with the rows of all runs whose answer it shares with other cases of the file; empty if
            it is asked by itself.
    """

    title: str
    query: str
    expected: str
    is_error: bool
    given: tuple[str, ...]
    line: int
    together: tuple[str, ...] = ()

    def run(self, tables: Tables) -> None:
        """Ask it.

        Raises:
            Mismatch: It gives other rows than the file says, or another message.
        """
        if self.together:
            query = _CALL.sub(lambda call: _from_answer(call, tables, self), self.query)
        else:
            query = self.query
            tables.fill(self.given, query)
            tables.prepare(query, tables.rare(query))
        self._compare(tables.con, query)

    def _compare(self, con: duckdb.DuckDBPyConnection, query: str) -> None:
        query = query.rstrip(";")
        if self.is_error:
            try:
                got = [str(row) for row in con.execute(query).fetchall()]
            except duckdb.Error as error:
                got = [str(error)]
                if self.expected in got[0]:
                    return
            raise Mismatch(
                self.query.rstrip(";"), f"- {self.expected}", *(f"+ {line}" for line in got)
            )
        rows = con.execute(f"SELECT CAST(COLUMNS(*) AS VARCHAR) FROM (\n{query}\n)").fetchall()
        have = [[_shown(value) for value in row] for row in rows]
        want = [re.split(r"\s{2,}", line.strip()) for line in self.expected.splitlines()]
        if have != want:
            raise Mismatch(self.query.rstrip(";"), *_difference(want, have))


#: A call of such a view: its name, the run, and other arguments.
_CALL = re.compile(
    rf"\b({'|'.join(ASKED_TOGETHER)})\((?:run := '([^']*)')?(?:, )?"
    r"((?:(?:every_rule|per_span) := TRUE(?:, )?)*)\)"
)


def _from_answer(call: re.Match[str], tables: Tables, case: Case) -> str:
    """What a query reads instead of a call of a view."""
    view, run, more = call.groups()
    runs = [run] if run else _rows_of_runs(case.given)
    of_runs = f"run IN ({', '.join(map(quote_literal, runs))})"
    return f"(FROM {tables.answer(case.together, f'{view}({more})')} WHERE {of_runs})"


def cases_together(found: Sequence[Case]) -> list[Case]:
    """The cases of a file, each with the rows of all runs whose answer it shares.

    Where a file has several sets of rows for a run, the cases with the first of each run share an answer, those with
    the second another one, and so on.
    """
    rows_of = {case.given: _rows_of_runs(case.given) for case in found}
    sets: dict[str, list[list[tuple[str, int]]]] = {}
    for rows_by_run in rows_of.values():
        for run, rows in rows_by_run.items():
            if rows not in sets.setdefault(run, []):
                sets[run].append(rows)
    places: dict[int, int] = {}
    wanted: dict[int, dict[str, set[int]]] = {}  # by place and paragraph
    for number, case in enumerate(found):
        rows_by_run = rows_of[case.given]
        named = {call[1] or run for call in _calls(case) for run in rows_by_run}
        # With the captures of its graphs, which are runs below it.
        names = [run for run in rows_by_run if {run, run.rpartition("/")[0]} & named]
        numbers = {sets[run].index(rows_by_run[run]) for run in names}
        if named.issubset(names) and len(numbers) == 1:
            [places[number]] = numbers
            for paragraph, row in chain.from_iterable(rows_by_run[run] for run in names):
                wanted.setdefault(places[number], {}).setdefault(paragraph, set()).add(row)
    given = {
        place: tuple(_with_rows(paragraph, rows) for paragraph, rows in paragraphs.items())
        for place, paragraphs in wanted.items()
    }
    return [
        replace(case, together=given[places[number]]) if number in places else case
        for number, case in enumerate(found)
    ]


def _calls(case: Case) -> list[tuple[str, ...]]:
    """The call of a view that a case may have answered together with others, if it reads nothing else."""
    calls = _CALL.findall(case.query)
    is_sole = len(calls) == 1 and not installed().needs(_CALL.sub("", case.query))
    is_sole = is_sole and not case.is_error and len(set(case.given)) == len(case.given)
    return calls if is_sole else []


def _rows_of_runs(given: tuple[str, ...]) -> dict[str, list[tuple[str, int]]]:
    """The rows of each run: the paragraph that they are in, and their place in it."""
    found: dict[str, list[tuple[str, int]]] = {}
    for paragraph in given:
        _, names, rows = _head(paragraph)
        for place, row in enumerate(rows):
            fields = re.split(r"\s{2,}", row.strip())
            run = fields[names.index("run")] if "run" in names else KEYS["run"]
            found.setdefault(run, []).append((paragraph, place))
    return found


def _with_rows(paragraph: str, places: set[int]) -> str:
    """A paragraph with some of its rows."""
    first, header, *rows = paragraph.splitlines()
    return "\n".join([first, header, *(rows[place] for place in sorted(places))])


def _head(given: str) -> tuple[str, list[str], list[str]]:
    """The table of a `given` paragraph, the names of its columns, and its rows."""
    first, header, *rows = given.splitlines()
    return first.split()[1], header.split(), rows


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
