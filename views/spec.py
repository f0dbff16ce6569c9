"""Parse the header of a .sql file: the comment at its top.

The header declares the names, types, units and meanings of parameters and columns. Parsing fails if the SQL of
the file does not match its header. No SQL is run.

The header of a table does not list columns: `tracewh.schema` reads them from the CREATE TABLE statement.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from pathlib import PurePosixPath
from typing import Literal, NoReturn

from tracewh.schema import MEASURED, Column, ColumnError, measured_unit, table_columns

__all__ = ["GROUPS", "SIZES", "Column", "HeaderError", "Param", "Spec", "parse", "without_comments"]

Kind = Literal["table", "slice", "function", "block", "view"]
KINDS: tuple[Kind, ...] = ("table", "slice", "function", "block", "view")

#: The folders in views/, in the order of the documentation.
GROUPS = (
    "overview",
    "operators",
    "device",
    "memory",
    "data",
    "distributed",
    "counters",
    "serving",
    "compare",
)

#: Names of the ``name: text`` lines at the start of a header. Any other name is an error.
FACTS = (
    *KINDS,
    *("version", "since", "summary", "grain", "distributes", "combines", "order", "carries"),
    "returns",
    *("uses", "needs", "empty", "notes", "example", "reading", "deprecated"),
)

#: Values of `distributes:`: the group of traces that a row of a view depends on. The view can be run on each
#: group separately, and the rows of all groups together are the rows of the view.
SIZES = {
    "trace": "the rows of a trace depend on that trace alone",
    "worker": "the rows of a worker depend on all of its recordings",
    "run": "the rows of a run depend on all of its traces",
    "warehouse": "a row depends on more than one run",
}

#: Values of `carries:`: SQL dialects to which the SQL of a view can be translated.
DIALECTS = ("spark",)


_OF_VIEWS = ("version", "distributes", "order")


class HeaderError(ValueError):
    """An error in a header. The message starts with ``file:line:``."""


@dataclass(frozen=True, slots=True)
class Param:
    """A parameter of a view, block or function.

    Attributes:
        type: The DuckDB type.
        unit: ``ns``, ``us``, ``bytes``, ``pct``, ..., or ``-``.
        default: An SQL expression, or ``-`` if the parameter is required.
    """

    name: str
    type: str
    unit: str
    default: str
    meaning: str

    @property
    def required(self) -> bool:
        """Whether the caller must pass a value."""
        return self.default == "-"

    @property
    def declaration(self) -> str:
        """The parameter in a CREATE MACRO statement, e.g. ``run VARCHAR := NULL``."""
        text = f"{self.name} {self.type}"
        return text if self.required else f"{text} := {self.default}"


#: Parameters and columns of nearly every view, with their text. A header lists their names on one line:
#: ``run, worker, span``.
SHARED_PARAMS = {
    "run": Param("run", "VARCHAR", "-", "NULL", "Run to report; NULL reports every run."),
    "worker": Param("worker", "VARCHAR", "-", "NULL", "Worker to report; NULL reports all."),
    "span": Param("span", "VARCHAR", "-", "NULL", "Recording to report; NULL reports all."),
    "per_span": Param(
        "per_span",
        "BOOLEAN",
        "-",
        "FALSE",
        "TRUE returns rows for each recording of a worker; FALSE combines its recordings.",
    ),
    "combine_workers": Param(
        "combine_workers",
        "BOOLEAN",
        "-",
        "FALSE",
        "TRUE combines the workers of a run; FALSE returns rows for each worker.",
    ),
}
SHARED_COLUMNS = {
    "run": Column("run", "VARCHAR", "key", "Run that the row belongs to."),
    "worker": Column("worker", "VARCHAR", "key", "Worker that recorded the trace."),
    "span": Column("span", "VARCHAR", "key", "Recording of the worker."),
}
#: Parameter -> the column that is NULL where the parameter combines traces.
COMBINED = {
    "per_span": replace(
        SHARED_COLUMNS["span"],
        meaning="Recording of the worker; NULL if all its recordings are combined.",
    ),
    "combine_workers": replace(
        SHARED_COLUMNS["worker"],
        meaning="Worker that recorded the trace; NULL if the workers of the run are combined.",
    ),
}


@dataclass(frozen=True, slots=True)
class Spec:
    """The header of a .sql file, and the text of the file.

    Attributes:
        group: The folder of a view; otherwise ``''``.
        version: The version of a view; otherwise 0.
        doc: The free text of the header; paragraphs are separated by an empty line.
        uses: Object names of the functions, blocks and pinned views that the SQL calls.
        returns: The type of the value of a function; otherwise ``''``.
        distributes: The size of the group that a row of a view depends on, one of `SIZES`; otherwise ``''``.
        combines: Tables, and calls of blocks and views, that can be computed for each trace separately. The
            view reads nothing else; see tracewh/spark/distributed.py.
        order: The ORDER BY of the rows of a view; otherwise ``''``.
        carries: The SQL dialect to which a view can be translated, one of `DIALECTS`, or ``''``.
        needs: Checks of trace_quality. If a trace fails one, the view has no rows for it.
        notes: Blocks with run, worker, span and message: what the rows leave out, for a trace, and why.
        empty: Why a view has no rows for a trace that passes these checks, and what to change; or ``''``. A
            parameter in braces stands for its value, and `{record operators}` for what `recording_advice` says.
        example: The traces and the options of `tracewh show` for the example on the page of a view.
        reading: An explanation of the example, or ``''``.
        deprecated: What is wrong with a view and what to use instead, or ``''``.
        path: The file, for messages and docs: ``views/overview/step_breakdown_v1.sql``.
        sql: The whole file.
    """

    kind: Kind
    name: str
    group: str
    version: int
    since: str
    summary: str
    grain: str
    returns: str
    distributes: str
    combines: tuple[str, ...]
    order: str
    carries: str
    doc: str = field(repr=False)
    uses: tuple[str, ...]
    needs: tuple[str, ...]
    notes: tuple[str, ...]
    empty: str
    example: str
    reading: str
    deprecated: str
    params: tuple[Param, ...] = field(repr=False)
    columns: tuple[Column, ...] = field(repr=False)
    path: str
    sql: str = field(repr=False)

    @property
    def object_name(self) -> str:
        """The name in DuckDB: ``step_breakdown_v1`` for a view, otherwise the name without a version."""
        return f"{self.name}_v{self.version}" if self.kind == "view" else self.name

    @property
    def keys(self) -> list[str]:
        """The columns that identify a row."""
        return [column.name for column in self.columns if column.unit == "key"]

    @property
    def signature(self) -> str:
        """The start of the CREATE MACRO statement that matches this header."""
        inside = ", ".join(param.declaration for param in self.params)
        opening = "AS" if self.kind == "function" else "AS TABLE"
        return f"CREATE MACRO {self.object_name}({inside}) {opening}"

    @property
    def body(self) -> str:
        """The query of a macro or slice, or the expression of a function, without comments."""
        return re.split(r"\bAS(?: TABLE)?\b", without_comments(self.sql), maxsplit=1)[1].strip()


def parse(text: str, path: str) -> Spec:
    """Parse a file.

    Args:
        text: The contents of the file.
        path: Its path from the root of the package, with forward slashes.

    Raises:
        HeaderError: The header is incomplete, or does not match the SQL.
    """
    header = _Header(text, path)
    kind = next((known for known in KINDS if known in header.facts), None)
    if kind is None:
        header.fail(
            1, "the header must start with 'view:', 'block:', 'function:', 'slice:' or 'table:'"
        )
    for required in ("since", "summary", *(_OF_VIEWS if kind == "view" else [])):
        if required not in header.facts:
            header.fail(1, f"the header of a {kind} has no '{required}:' line")
    facts = header.facts
    if kind == "view" and not re.fullmatch(r"[1-9][0-9]*", facts["version"]):
        header.fail_at_fact(
            "version", f"a version is a whole number from 1, not {facts['version']!r}"
        )
    if not re.fullmatch(r"\d+\.\d+", facts["since"]):
        header.fail_at_fact(
            "since", f"'since:' is a version of tracewh, e.g. 0.1, not {facts['since']!r}"
        )
    if not re.fullmatch(r"[A-Z].*\.", facts["summary"]):
        header.fail_at_fact(
            "summary", "the summary is a sentence: it starts with a capital, ends with a period"
        )
    if kind == "view" and facts["distributes"] not in SIZES:
        header.fail_at_fact(
            "distributes", f"a view distributes by {', '.join(SIZES)}, not {facts['distributes']!r}"
        )
    if (kind == "function") != ("returns" in facts):
        header.fail_at_fact("returns", "a function has a 'returns:' line, and nothing else has one")
    if "carries" in facts and (kind != "view" or facts["carries"] not in DIALECTS):
        header.fail_at_fact(
            "carries", f"'carries:' is one of {', '.join(DIALECTS)}, not {facts['carries']!r}"
        )
    if (why := facts.get("empty")) and not re.fullmatch(r"[A-Z].*\.", why):
        header.fail_at_fact(
            "empty", "'empty:' is a sentence: it starts with a capital, ends with a period"
        )
    spec = Spec(
        kind=kind,
        name=facts[kind],
        group=PurePosixPath(path).parent.name if kind == "view" else "",
        version=int(facts.get("version", 0)),
        since=facts["since"],
        summary=facts["summary"],
        grain=facts.get("grain", ""),
        returns=facts.get("returns", ""),
        distributes=facts.get("distributes", ""),
        combines=tuple(facts["combines"].split("; ")) if "combines" in facts else (),
        carries=facts.get("carries", ""),
        doc="\n".join(header.doc).strip(),
        order=facts.get("order", ""),
        uses=header.names("uses"),
        needs=header.names("needs"),
        notes=header.names("notes"),
        empty=facts.get("empty", ""),
        example=facts.get("example", ""),
        reading=facts.get("reading", ""),
        deprecated=facts.get("deprecated", ""),
        params=tuple(header.params),
        columns=_table_columns(text, header) if kind == "table" else tuple(header.columns),
        path=path,
        sql=text,
    )
    _check_against_sql(spec, header)
    return spec


def without_comments(sql: str) -> str:
    """Remove ``--`` comments from SQL, but not a ``--`` in a quoted string."""
    return re.sub(r"('(?:[^']|'')*')|--[^\n]*", lambda match: match[1] or "", sql)


class _Header:
    """The parts of a header: facts, free text, parameters and columns."""

    def __init__(self, text: str, path: str) -> None:
        self.path = path
        self.facts: dict[str, str] = {}
        #: Line numbers of facts and columns, by name.
        self.fact_lines: dict[str, int] = {}
        self.column_lines: dict[str, int] = {}
        self.doc: list[str] = []
        self.params: list[Param] = []
        self.columns: list[Column] = []
        section = "facts"
        for number, line in enumerate(text.splitlines(), start=1):
            if not line.startswith("--"):
                break
            line = line[2:].removeprefix(" ").rstrip()
            if line in ("params", "columns"):
                section = line
            elif section == "facts" and line:
                self._fact(number, line)
            elif section in ("params", "columns") and line.startswith("  "):
                self._row(number, section, line.strip())
            elif section in ("params", "columns") and line:
                self.fail(number, f"a row of {section} must be indented by two spaces")
            else:
                section = "doc" if section == "facts" else section
                self.doc.append(line)

    def fail(self, number: int, message: str) -> NoReturn:
        raise HeaderError(f"{self.path}:{number}: {message}")

    def fail_at_fact(self, name: str, message: str) -> NoReturn:
        self.fail(self.fact_lines.get(name, 1), message)

    def names(self, fact: str) -> tuple[str, ...]:
        """The names listed in a fact."""
        text = self.facts.get(fact)
        if text is None:
            return ()
        if not re.fullmatch(r"\w+(, \w+)*", text):
            self.fail_at_fact(
                fact, f"'{fact}:' lists names, with a comma and a space between two: {text!r}"
            )
        return tuple(text.split(", "))

    def _fact(self, number: int, line: str) -> None:
        match = re.fullmatch(r"(\w+): (.+)", line)
        if not match or match[1] not in FACTS:
            self.fail(
                number,
                f"unknown line {line!r}: it must be one of {', '.join(FACTS)}; free text follows an empty line",
            )
        self.facts[match[1]] = match[2]
        self.fact_lines[match[1]] = number

    def _row(self, number: int, section: str, line: str) -> None:
        shared = SHARED_PARAMS if section == "params" else SHARED_COLUMNS
        if all(name in shared for name in line.split(", ")):
            names = line.split(", ")
            if section == "params":
                self.params += [SHARED_PARAMS[name] for name in names]
            else:
                params = {p.name for p in self.params if p == SHARED_PARAMS.get(p.name)}
                combined = {
                    COMBINED[name].name: COMBINED[name] for name in COMBINED.keys() & params
                }
                self.columns += [(SHARED_COLUMNS | combined)[name] for name in names]
            return
        want = ["name", "type", "unit", "default", "meaning"]
        if section == "columns":
            want.remove("default")
        row = re.split(r"\s{2,}", line, maxsplit=len(want) - 1)
        if len(row) != len(want):
            self.fail(
                number,
                f"{len(row)} fields in a {section} row, expected {len(want)} "
                f"({', '.join(want)}); put two or more spaces between fields",
            )
        if row == want:  # the titles of the columns
            return
        if section == "params":
            self.params.append(Param(*row))
        else:
            name, kind, unit, meaning = row
            self.columns.append(Column(name, kind, unit, meaning))
            self.column_lines[name] = number


def _table_columns(text: str, header: _Header) -> tuple[Column, ...]:
    try:
        return table_columns(text)
    except ColumnError as error:
        header.fail(error.line, str(error))


def _check_against_sql(spec: Spec, header: _Header) -> None:
    names = {param.name for param in spec.params}
    for name in re.findall(r"\{(\w+)\}", spec.empty):
        if name not in names:
            header.fail_at_fact("empty", f"'empty:' names {{{name}}}, which is not a parameter")
    file = f"{spec.object_name}.sql"
    if PurePosixPath(spec.path).name != file:
        header.fail(1, f"a file that defines {spec.object_name} must be named {file}")
    if spec.kind == "view" and spec.group not in GROUPS:
        header.fail(
            1, f"a view must be in one of {', '.join(f'views/{group}/' for group in GROUPS)}"
        )
    if spec.kind in ("function", "block", "view"):
        # Removing the comments of all of the SQL would take a quarter of reading the files.
        match = re.match(r"(?:--[^\n]*\n|\s+)*(.*?\) AS\b(?: TABLE\b)?)", spec.sql, re.DOTALL)
        opening = _squeeze(without_comments(match[1] if match else spec.sql))
        if opening != spec.signature:
            header.fail(
                1,
                f"the SQL opens with\n  {opening}\nbut the header declares\n  {spec.signature}",
            )
    else:
        word = "TABLE" if spec.kind == "table" else "VIEW"
        if not _squeeze(without_comments(spec.sql)).startswith(f"CREATE {word} {spec.name} "):
            header.fail(1, f"the SQL must open with CREATE {word} {spec.name}")
    for column in () if spec.kind == "table" else spec.columns:
        if column.unit != (measured_unit(column.name) or column.unit) or (
            column.unit in MEASURED and not measured_unit(column.name)
        ):
            header.fail(
                header.column_lines.get(column.name, 1),
                f"column {column.name} has the unit {column.unit}, which does not match its name",
            )


def _squeeze(sql: str) -> str:
    sql = re.sub(r"\s+", " ", sql).strip()
    return sql.replace("( ", "(").replace(" )", ")")
