"""What a .sql file promises, read from the comment header at its top.

The header is the one place where names, types, units and meanings are written down. This module
turns it into plain values and refuses a file whose SQL says something else; it never runs SQL.

The columns of a table have no lines in its header: `tracewh.schema` reads them where they are typed.
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

#: The folders under views/, in the order a reader meets them.
GROUPS = ("overview", "operators", "device", "memory", "distributed", "counters", "compare")

#: Names of the ``name: text`` lines that may open a header. Any other name is an error.
FACTS = (
    *KINDS,
    *("version", "since", "summary", "grain", "distributes", "combines", "order", "carries"),
    "returns",
    *("uses", "needs", "empty", "example", "reading", "deprecated"),
)

#: Values of `distributes:`: what the rows of a view depend on. Rows computed for each group of that size,
#: each from the files of the group alone, together are all rows of the view.
SIZES = {
    "trace": "the rows of a trace depend on that trace alone",
    "worker": "the rows of a worker depend on all of its recordings",
    "run": "the rows of a run depend on all of its traces",
    "warehouse": "a row depends on more than one run",
}

#: Values of `carries:`: engines besides DuckDB in whose SQL a view can be written.
DIALECTS = ("spark",)


_OF_VIEWS = ("version", "distributes", "order")


class HeaderError(ValueError):
    """A header that cannot be trusted. The message starts with ``file:line:``."""


@dataclass(frozen=True, slots=True)
class Param:
    """One argument of a view, block or function, in the order it is passed.

    Attributes:
        type: As DuckDB spells it.
        unit: ``ns``, ``us``, ``bytes``, ``pct``, ..., or ``-``.
        default: An SQL expression, or ``-`` when the caller has to pass a value.
    """

    name: str
    type: str
    unit: str
    default: str
    meaning: str

    @property
    def required(self) -> bool:
        """True when the caller has to pass it."""
        return self.default == "-"

    @property
    def declaration(self) -> str:
        """The parameter as CREATE MACRO spells it, e.g. ``run VARCHAR := NULL``."""
        text = f"{self.name} {self.type}"
        return text if self.required else f"{text} := {self.default}"


#: Parameters and columns of nearly every view. A header names them on one line, ``run, worker, span``,
#: and their text is defined here.
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
}
SHARED_COLUMNS = {
    "run": Column("run", "VARCHAR", "key", "Run that the row belongs to."),
    "worker": Column("worker", "VARCHAR", "key", "Worker that recorded the trace."),
    "span": Column("span", "VARCHAR", "key", "Recording of the worker."),
}
#: The column `span` of a view with the parameter per_span.
SPANS_TOGETHER = replace(
    SHARED_COLUMNS["span"],
    meaning="Recording of the worker; NULL if all its recordings are combined.",
)


@dataclass(frozen=True, slots=True)
class Spec:
    """Everything the header of one .sql file says, and the file's text.

    Attributes:
        group: Of a view, the folder it lies in; otherwise ``''``.
        version: Of a view; otherwise 0.
        doc: The free text of the header; paragraphs are separated by an empty line.
        uses: Object names of the functions, blocks and pinned views that the SQL calls.
        returns: Of a function, the type of its value; otherwise ``''``.
        distributes: Of a view, one of `SIZES`; otherwise ``''``.
        combines: Calls of blocks and views, and tables, that can be computed trace by trace and are all
            that the view reads then; see tracewh/spark/distributed.py.
        order: How the rows of a view come, in SQL, by its columns; otherwise ``''``.
        carries: Of a view that other SQL can say as well, one of `DIALECTS`; otherwise ``''``.
        needs: Checks of trace_quality with each of which the view has no rows for a trace.
        empty: Of a view, why it has no rows for a trace if none of these checks found anything, and
            what to change; or ``''``. A parameter in braces stands for its value.
        example: What the page of a view shows: the traces, and the options of `tracewh show`.
        reading: What that says, or ``''``.
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
        """The name inside DuckDB: ``step_breakdown_v1`` for a view, the bare name otherwise."""
        return f"{self.name}_v{self.version}" if self.kind == "view" else self.name

    @property
    def keys(self) -> list[str]:
        """The columns that say what a row is."""
        return [column.name for column in self.columns if column.unit == "key"]

    @property
    def signature(self) -> str:
        """The opening of the CREATE MACRO statement that this header calls for."""
        inside = ", ".join(param.declaration for param in self.params)
        opening = "AS" if self.kind == "function" else "AS TABLE"
        return f"CREATE MACRO {self.object_name}({inside}) {opening}"

    @property
    def body(self) -> str:
        """The query of a macro or slice, or the expression of a function, without comments."""
        return re.split(r"\bAS(?: TABLE)?\b", without_comments(self.sql), maxsplit=1)[1].strip()


def parse(text: str, path: str) -> Spec:
    """Read the header of one file.

    Args:
        text: The whole file.
        path: Where it is, from the root of the package, with forward slashes.

    Raises:
        HeaderError: The header is incomplete, or the SQL below it disagrees with it.
    """
    header = _Header(text, path)
    kind = next((known for known in KINDS if known in header.facts), None)
    if kind is None:
        header.refuse(
            1, "the header must start with 'view:', 'block:', 'function:', 'slice:' or 'table:'"
        )
    for required in ("since", "summary", *(_OF_VIEWS if kind == "view" else [])):
        if required not in header.facts:
            header.refuse(1, f"the header of a {kind} has no '{required}:' line")
    facts = header.facts
    if kind == "view" and not re.fullmatch(r"[1-9][0-9]*", facts["version"]):
        header.refuse_fact(
            "version", f"a version is a whole number from 1, not {facts['version']!r}"
        )
    if not re.fullmatch(r"\d+\.\d+", facts["since"]):
        header.refuse_fact(
            "since", f"'since:' is a version of tracewh, e.g. 0.1, not {facts['since']!r}"
        )
    if not re.fullmatch(r"[A-Z].*\.", facts["summary"]):
        header.refuse_fact(
            "summary", "the summary is a sentence: it starts with a capital, ends with a period"
        )
    if kind == "view" and facts["distributes"] not in SIZES:
        header.refuse_fact(
            "distributes", f"a view distributes by {', '.join(SIZES)}, not {facts['distributes']!r}"
        )
    if (kind == "function") != ("returns" in facts):
        header.refuse_fact("returns", "a function has a 'returns:' line, and nothing else has one")
    if "carries" in facts and (kind != "view" or facts["carries"] not in DIALECTS):
        header.refuse_fact(
            "carries", f"'carries:' is one of {', '.join(DIALECTS)}, not {facts['carries']!r}"
        )
    if (why := facts.get("empty")) and not re.fullmatch(r"[A-Z].*\.", why):
        header.refuse_fact(
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
    """SQL without its ``--`` comments; a ``--`` inside a quoted string stays."""
    return re.sub(r"('(?:[^']|'')*')|--[^\n]*", lambda match: match[1] or "", sql)


class _Header:
    """The comment lines at the top of a file, sorted into facts, free text and two tables."""

    def __init__(self, text: str, path: str) -> None:
        self.path = path
        self.facts: dict[str, str] = {}
        #: Line of each fact, and of each column by its name.
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
                self.refuse(number, f"a row of {section} is indented by two spaces")
            else:
                section = "doc" if section == "facts" else section
                self.doc.append(line)

    def refuse(self, number: int, message: str) -> NoReturn:
        raise HeaderError(f"{self.path}:{number}: {message}")

    def refuse_fact(self, name: str, message: str) -> NoReturn:
        self.refuse(self.fact_lines.get(name, 1), message)

    def names(self, fact: str) -> tuple[str, ...]:
        """The names that a fact lists."""
        text = self.facts.get(fact)
        if text is None:
            return ()
        if not re.fullmatch(r"\w+(, \w+)*", text):
            self.refuse_fact(
                fact, f"'{fact}:' lists names, with a comma and a space between two: {text!r}"
            )
        return tuple(text.split(", "))

    def _fact(self, number: int, line: str) -> None:
        match = re.fullmatch(r"(\w+): (.+)", line)
        if not match or match[1] not in FACTS:
            self.refuse(
                number, f"{line!r} is none of {', '.join(FACTS)}; free text follows an empty line"
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
                together = SHARED_PARAMS["per_span"] in self.params
                self.columns += [
                    SPANS_TOGETHER if together and name == "span" else SHARED_COLUMNS[name]
                    for name in names
                ]
            return
        want = ["name", "type", "unit", "default", "meaning"]
        if section == "columns":
            want.remove("default")
        row = re.split(r"\s{2,}", line, maxsplit=len(want) - 1)
        if len(row) != len(want):
            self.refuse(
                number,
                f"{len(row)} fields in a {section} row, expected {len(want)} "
                f"({', '.join(want)}); put two or more spaces between fields",
            )
        if row == want:  # the line of titles
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
        header.refuse(error.line, str(error))


def _check_against_sql(spec: Spec, header: _Header) -> None:
    names = {param.name for param in spec.params}
    for name in re.findall(r"\{(\w+)\}", spec.empty):
        if name not in names:
            header.refuse_fact("empty", f"'empty:' names {{{name}}}, which is no parameter")
    file = f"{spec.object_name}.sql"
    if PurePosixPath(spec.path).name != file:
        header.refuse(1, f"a file that defines {spec.object_name} is called {file}")
    if spec.kind == "view" and spec.group not in GROUPS:
        header.refuse(
            1, f"a view lies in one of {', '.join(f'views/{group}/' for group in GROUPS)}"
        )
    sql = without_comments(spec.sql)
    if spec.kind in ("function", "block", "view"):
        match = re.match(r".*?\) AS\b( TABLE\b)?", sql, re.DOTALL)
        opening = _squeeze(match[0] if match else sql)
        if opening != spec.signature:
            header.refuse(
                1,
                f"the SQL opens with\n  {opening}\nbut the header calls for\n  {spec.signature}",
            )
    else:
        word = "TABLE" if spec.kind == "table" else "VIEW"
        if not _squeeze(sql).startswith(f"CREATE {word} {spec.name} "):
            header.refuse(1, f"the SQL must open with CREATE {word} {spec.name}")
    for column in () if spec.kind == "table" else spec.columns:
        if column.unit != (measured_unit(column.name) or column.unit) or (
            column.unit in MEASURED and not measured_unit(column.name)
        ):
            header.refuse(
                header.column_lines.get(column.name, 1),
                f"column {column.name} says its unit is {column.unit}, its name says otherwise",
            )


def _squeeze(sql: str) -> str:
    sql = re.sub(r"\s+", " ", sql).strip()
    return sql.replace("( ", "(").replace(" )", ")")
