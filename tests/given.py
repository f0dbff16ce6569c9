"""The tables of a .test file; tests/conftest.py says what such a file looks like."""

from __future__ import annotations

import re
from collections.abc import Iterator

import duckdb

from tests.settled import STEP_ROLES
from tracewh.views.registry import installed

#: Filled in for every `given` that does not say.
KEYS = {"run": "r", "worker": "w", "span": "default"}


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
        self.created: set[str] = set()
        for spec in (*self.registry.tables(), *self.registry.slices()):
            self.prepare(spec.name)
        self.prepare(STEP_ROLES)

    def prepare(self, sql: str) -> None:
        """Create what a piece of SQL names, where that is not there yet."""
        for name in self.registry.needs(sql):
            if name not in self.created:
                self.registry.create(self.con, [name])
                self.created.add(name)

    def insert(self, given: str) -> None:
        """Add the rows of one `given` paragraph."""
        first, header, *rows = given.splitlines()
        table = first.split()[1]
        names = header.split()
        columns = {
            c.name for spec in self.registry.tables() if spec.name == table for c in spec.columns
        }
        keys = [name for name in KEYS if name in columns and name not in names]
        marks = ", ".join("?" for _ in (*keys, *names))
        for row in rows:
            values = [_value(field) for field in re.split(r"\s{2,}", row.strip())]
            if len(values) != len(names):
                raise Mismatch(given, f"{len(values)} fields, expected {len(names)}: {row}")
            self.con.execute(
                f"INSERT INTO {table} ({', '.join((*keys, *names))}) VALUES ({marks})",
                [*(KEYS[key] for key in keys), *values],
            )


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
