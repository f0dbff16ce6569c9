"""The registry of all SQL objects: it finds a view, checks the arguments of a call, and creates objects in DuckDB.

    views/overview/step_breakdown_v1.sql --parse--> Spec --create--> step_breakdown_v1(...)
                                                         --create--> step_breakdown(...)   # newest

The registry reads the .sql files and contains no trace data. To add a view, add one .sql file and its test: the
command line, the reference pages and the contract tests all iterate over the registry.
"""

from __future__ import annotations

import difflib
import functools
import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from graphlib import TopologicalSorter
from pathlib import Path
from typing import Any

import duckdb

from tracewh.quoting import quote_literal
from tracewh.views.empty_blocks import empty_macro
from tracewh.views.spec import GROUPS, Column, Param, Spec, without_comments
from tracewh.views.sql_file import SqlFile, sql_files
from tracewh.views.values import ConversionError, convert, literal

#: The folder of the package, in a checkout and in a wheel. In an editable install, importlib.resources cannot
#: find tracewh/sql, because it contains no Python.
PACKAGE = Path(__file__).parents[1]

#: The macro that lists the views. It is generated from the headers.
LISTING = "views"

#: The parameter of all views that test differences. It is a probability.
LEVEL = "alpha"

#: What the values of a parameter are, in words.
_WORDS = {
    "BIGINT": "a whole number",
    "INTEGER": "a whole number",
    "DOUBLE": "a number",
    "BOOLEAN": "TRUE or FALSE",
    "VARCHAR": "a text",
}

__all__ = ["ArgumentError", "Call", "Registry", "UnknownViewError", "ViewError", "installed"]


class ViewError(Exception):
    """Base of the errors in a call of a view. The message is meant for the user."""


class UnknownViewError(ViewError):
    """The view, or this version of it, does not exist."""


class ArgumentError(ViewError):
    """The view has no such parameter, or the value does not fit it."""


@dataclass(frozen=True, slots=True)
class Call:
    """A call of a view with checked arguments.

    Attributes:
        view: The view.
        sql: The query, with the arguments as literals.
        values: The arguments, converted to the types of the parameters.
    """

    view: Spec
    sql: str
    values: Mapping[str, Any]

    @property
    def distributes(self) -> str:
        """The group of traces that a row depends on, one of `SIZES`: the view's, or larger by an argument."""
        combined = self.view.distributes == "worker" and self.values.get("combine_workers")
        return "run" if combined else self.view.distributes


class Registry:
    """All tables, slices, functions, blocks and views that the .sql files define.

    Args:
        files: The files, in any order.

    Raises:
        ViewError: Two files define the same object.
    """

    def __init__(self, files: Iterable[SqlFile]) -> None:
        self._by_object: dict[str, SqlFile] = {}
        for file in sorted(files, key=lambda file: file.path):
            if (other := self._by_object.setdefault(file.object_name, file)) is not file:
                raise ViewError(f"{file.path} and {other.path} both define {file.object_name}")
        views = (file for file in self._by_object.values() if file.kind == "view")
        self._views = sorted(views, key=lambda v: (GROUPS.index(v.group), v.name, v.version))
        self._newest = {view.name: view for view in self._views}
        for name in {LISTING, *self._newest} & self._by_object.keys():
            raise ViewError(f"{self._by_object[name].path} has the name of a view")
        #: What an object needs. A file is searched when somebody needs it: searching all would take a fifth of the
        #: start of a command.
        self._needs = {name: {view.object_name} for name, view in self._newest.items()}
        self._needs[LISTING] = set()
        tables = (file.name for file in self._by_object.values() if file.kind in ("table", "slice"))
        self._read = re.compile(
            rf"--[^\n]*|'(?:[^']|'')*'|\b(?:FROM|JOIN)\s+(?=(?:{'|'.join(tables) or '$'})\b)"
        )

    @classmethod
    def load(cls, package: Path = PACKAGE) -> Registry:
        """Find the .sql files of a package folder, by default those of tracewh."""
        return cls(sql_files(package))

    @classmethod
    def of(cls, specs: Iterable[Spec]) -> Registry:
        """Make a registry of files that are parsed."""
        return cls(map(SqlFile.of, specs))

    @functools.cached_property
    def hash(self) -> str:
        """A hash of the contents of the files of tracewh: reading them takes less time than parsing them."""
        found = hashlib.sha256()
        for file in self._by_object.values():
            found.update(PACKAGE.joinpath(file.path).read_bytes() + b"\0")
        return found.hexdigest()

    def __iter__(self) -> Iterator[Spec]:
        """All versions of all views, sorted by group, name and version."""
        return (view.spec for view in self._views)

    def newest(self) -> list[Spec]:
        """The newest version of each view, by group and name."""
        return [view.spec for view in self._newest.values()]

    def all(self) -> list[Spec]:
        """Tables, slices, functions, blocks and views, by file name."""
        return [file.spec for file in self._by_object.values()]

    def tables(self) -> list[Spec]:
        """The tables."""
        return [file.spec for file in self._by_object.values() if file.kind == "table"]

    def slices(self) -> list[Spec]:
        """The slices: views on a part of a table, e.g. ``kernels``."""
        return [file.spec for file in self._by_object.values() if file.kind == "slice"]

    def macros(self) -> list[str]:
        """Names of everything but tables and slices."""
        every = [*self._by_object, *self._newest, LISTING]
        return [name for name in every if self._type(name) not in ("TABLE", "VIEW")]

    def get(self, name: str, version: int | None = None) -> Spec:
        """Return a view.

        Args:
            name: The name, e.g. ``step_breakdown``, or the name with a version, ``step_breakdown_v1``.
            version: The version; None for the newest.

        Raises:
            UnknownViewError: The view or the version does not exist.
        """
        if version is None and (pinned := re.fullmatch(r"(\w+?)_v(\d+)", name)):
            name, version = pinned[1], int(pinned[2])
        versions = {view.version: view for view in self._views if view.name == name}
        if not versions:
            hint = did_you_mean(name, self._newest) or "; `tracewh views` lists the views"
            raise UnknownViewError(f"no view named {name!r}{hint}")
        wanted = max(versions) if version is None else version
        if wanted not in versions:
            have = ", ".join(f"v{number}" for number in sorted(versions))
            asked = f"v{wanted}" if isinstance(wanted, int) else f"version {wanted!r}"
            raise UnknownViewError(f"{name} has no {asked}; there is {have}")
        return versions[wanted].spec

    def named(self, object_name: str) -> Spec:
        """Return a table, slice, function, block or pinned view by its object name.

        Raises:
            KeyError: It does not exist.
        """
        return self._by_object[object_name].spec

    def needs(self, sql: str | None = None, given: Iterable[str] = ()) -> list[str]:
        """Return the objects that a piece of SQL needs, in the order in which to create them.

        Args:
            sql: Any SQL; None for all objects.
            given: Objects that already exist. They are left out, as are objects that only they need.

        Returns:
            Names of tables, slices, functions, blocks, pinned views, unversioned views, and ``views``.

        Raises:
            ViewError: The `uses:` line of a file does not match its SQL.
        """
        every = [*self._by_object, *self._newest, LISTING]
        todo = every if sql is None else list(self._named_in(sql))
        graph: dict[str, set[str]] = {}
        existing = set(given)
        while todo:
            name = todo.pop()
            if name not in graph and name not in existing:
                if name not in self._needs:
                    self._needs[name] = self._mentioned(self.named(name))
                graph[name] = self._needs[name] - existing
                todo += graph[name]
        return list(TopologicalSorter(graph).static_order())

    def calls(self, name: str) -> set[str]:
        """Return what an object that `needs` returned names itself: tables, slices, functions, blocks and views."""
        return self._needs[name]

    def qualified(self, spec: Spec) -> str:
        """Return the SQL of a file, with the schema before the tables and slices that a macro reads.

        Without it, DuckDB would read a CTE of the query that calls the macro instead of a table of the same name.
        """
        if spec.kind in ("table", "slice"):
            return spec.sql
        return self._read.sub(
            lambda found: found[0] if found[0][0] in "-'" else f"{found[0]}main.", spec.sql
        )

    def create(self, con: duckdb.DuckDBPyConnection, names: Iterable[str]) -> None:
        """Create objects and their comments in the main schema of a connection, or replace them.

        DuckDB binds a macro when it creates it, with all the macros in it. So each macro is first created
        over macros without rows, which are replaced afterwards. All of them together take a tenth of
        the time that way.

        Args:
            con: The connection.
            names: Names from `needs`, in its order. Tables are created empty.

        Raises:
            ViewError: DuckDB rejects the SQL of a file. Some macros may have no rows then: create all again.
        """
        macros = []
        for name in names:
            if self._type(name) == "MACRO TABLE":
                macros.append(name)
            else:
                self._create(con, name)
        # Also by those that are there already, and are bound again with a macro that calls them.
        parsed = (file.spec for file in self._by_object.values() if file.is_parsed)
        mentioned = {name for spec in parsed for name in spec.uses}
        mentioned |= {view.object_name for view in self._newest.values()}
        for name in mentioned.intersection(macros):
            con.execute(_or_replace(empty_macro(self.named(name))))
        for name in reversed(macros):
            self._create(con, name)

    def drop(self, con: duckdb.DuckDBPyConnection, names: Iterable[str]) -> None:
        """Drop objects from the main schema of a connection, as far as they are there.

        Args:
            con: The connection.
            names: Names of slices, functions, blocks and views.
        """
        for name in names:
            con.execute(f"DROP {self._type(name)} IF EXISTS {name}")

    def _create(self, con: duckdb.DuckDBPyConnection, name: str) -> None:
        if name == LISTING:
            sql, comment = self._listing(), "Every view, one row per version."
        elif newest := self._newest.get(name):
            view = newest.spec
            sql, comment = _alias(view), f"{view.summary} (alias of {view.object_name})"
        else:
            spec = self.named(name)
            sql, comment = self.qualified(spec), spec.summary
        try:
            con.execute(_or_replace(sql))
        except duckdb.Error as error:
            file = self._by_object.get(name) or self._newest.get(name)
            raise ViewError(f"{file.path if file else name}: {error}") from error
        con.execute(f"COMMENT ON {self._type(name)} {name} IS {quote_literal(comment)}")

    def call(self, name: str, version: int | None = None, /, **arguments: Any) -> Call:
        """Check the arguments of one view and build the SQL that calls it.

        The values are written into the SQL as literals of their type, which prevents SQL injection. They are
        not bound, because DuckDB cannot join two relations that both bind `$run`.

        Raises:
            UnknownViewError: See `get`.
            ArgumentError: An argument is unknown, missing, of the wrong type, or no probability where it is one.
        """
        view = self.get(name, version)
        types = {param.name: param.type for param in view.params}
        for given in arguments:
            if given not in types:
                hint = did_you_mean(given, types) or f"; it takes {', '.join(types) or 'none'}"
                raise ArgumentError(f"{view.object_name} has no parameter {given!r}{hint}")
        for param in view.params:
            if param.required and param.name not in arguments:
                raise ArgumentError(f"{view.object_name} needs {param.name}: {param.meaning}")
        values = {}
        for given, value in arguments.items():
            try:
                values[given] = convert(value, types[given])
            except ConversionError:
                words = (
                    f"{_WORDS[types[given]]} ({types[given]})"
                    if types[given] in _WORDS
                    else types[given]
                )
                message = f"{view.object_name}: {given} takes {words}, got {value!r}"
                raise ArgumentError(message) from None
            level = values[given]
            if given == LEVEL and level is not None and not 0 < level < 1:
                message = f"{view.object_name}: {given} lies between 0 and 1, got {value!r}"
                raise ArgumentError(message)
        inside = ", ".join(f"{name} := {literal(v, types[name])}" for name, v in values.items())
        return Call(view, f"FROM {view.object_name}({inside})", values)

    def _named_in(self, sql: str) -> set[str]:
        """Return the tables and slices whose names are words of the SQL, and the macros that it calls."""
        sql = without_comments(sql).lower()
        called = set(re.findall(r"\b(\w+)\"?\s*\(", sql))
        found = called & {LISTING, *self._newest}
        for word in set(re.findall(r"\w+", sql)) & self._by_object.keys():
            if word in called or self._by_object[word].kind in ("table", "slice"):
                found.add(word)
        return found

    def _mentioned(self, spec: Spec) -> set[str]:
        """Return the objects that a file needs. Check that its `uses:` line lists the macros that it calls."""
        if spec.kind == "table":
            return set()
        named = self._named_in(spec.body) - {spec.object_name}
        for name in named & {LISTING, *self._newest}:
            raise ViewError(f"{spec.path} calls {name}(), which changes; pin a version of it")
        called = {name for name in named if self._by_object[name].kind not in ("table", "slice")}
        if called != set(spec.uses):
            raise ViewError(
                f"{spec.path} calls {', '.join(sorted(called)) or 'nothing'} "
                f"but its 'uses:' line has {', '.join(sorted(spec.uses)) or 'nothing'}"
            )
        return named

    def _type(self, name: str) -> str:
        file = self._by_object.get(name)
        kind = file.kind if file else "view"
        return {"table": "TABLE", "slice": "VIEW", "function": "MACRO"}.get(kind, "MACRO TABLE")

    def _listing(self) -> str:
        newest = self.newest()
        rows = ",\n".join(f"({_listed(view, view in newest)})" for view in self)
        names = ", ".join(_LISTED)
        columns = ", ".join(f"CAST(v.{name} AS {type}) AS {name}" for name, type in _LISTED.items())
        source = f"(VALUES\n{rows}) AS v({names})"
        if not rows:  # VALUES takes at least one row
            source = f"(SELECT {', '.join(f'NULL AS {name}' for name in _LISTED)}) AS v WHERE false"
        return f"CREATE MACRO {LISTING}() AS TABLE SELECT {columns} FROM {source}"


@functools.cache
def installed() -> Registry:
    """The registry of the files of tracewh. They are found and parsed once, because that is slow."""
    return Registry.load()


_LISTED = {
    "name": "VARCHAR",
    "object_name": "VARCHAR",
    "version": "INTEGER",
    "latest": "BOOLEAN",
    "view_group": "VARCHAR",
    "summary": "VARCHAR",
    "parameters": (
        'STRUCT(name VARCHAR, type VARCHAR, "default" VARCHAR, unit VARCHAR, meaning VARCHAR)[]'
    ),
    "columns": "STRUCT(name VARCHAR, type VARCHAR, unit VARCHAR, meaning VARCHAR)[]",
    "deprecated": "VARCHAR",
    "documentation": "VARCHAR",
    "distributes": "VARCHAR",
}


def _listed(view: Spec, latest: bool) -> str:
    """Return one row of `views()`."""

    def fields(items: Iterable[Param | Column], *names: str) -> str:
        rows = (
            "{" + ", ".join(f"'{name}': {quote_literal(getattr(i, name))}" for name in names) + "}"
            for i in items
        )
        return f"[{', '.join(rows)}]"

    return ", ".join(
        (
            quote_literal(view.name),
            quote_literal(view.object_name),
            str(view.version),
            str(latest),
            quote_literal(view.group),
            quote_literal(view.summary),
            fields(view.params, "name", "type", "default", "unit", "meaning"),
            fields(view.columns, "name", "type", "unit", "meaning"),
            quote_literal(view.deprecated) if view.deprecated else "NULL",
            quote_literal(view.doc),
            quote_literal(view.distributes),
        )
    )


def _or_replace(sql: str) -> str:
    return re.sub(r"^CREATE (?=MACRO|VIEW)", "CREATE OR REPLACE ", sql, count=1, flags=re.MULTILINE)


def _alias(view: Spec) -> str:
    declared = ", ".join(param.declaration for param in view.params)
    passed = ", ".join(f"{param.name} := {param.name}" for param in view.params)
    return f"CREATE MACRO {view.name}({declared}) AS TABLE FROM {view.object_name}({passed})"


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Return ``; did you mean 'step'?``, or an empty text if no name is similar."""
    close = difflib.get_close_matches(word, list(known), n=1)
    return f"; did you mean {close[0]!r}?" if close else ""
