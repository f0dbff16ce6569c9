"""Say what is wrong with a query where DuckDB does not, or says something else."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

import duckdb

from tracewh.views.registry import ArgumentError, Registry, UnknownViewError
from tracewh.views.spec import Spec

_NO_TABLE = re.compile(r"Catalog Error: Table with name (\w+) does not exist")
_NO_FUNCTION = re.compile(r"Catalog Error: Table Function with name (\w+) does not exist")
_LINE = re.compile(r"^LINE (\d+): (.*)\n( *\^)", re.MULTILINE)
#: Lines that DuckDB writes before the text of a relation, which it puts into a subquery.
_LINES_BEFORE = 2
_NO_COLUMN = re.compile(r'Binder Error: Referenced column ("[^"]+") not found')


def check_named_arguments(sql: str, registry: Registry) -> None:
    """Refuse a call of a view with `=` between a parameter and its value.

    To DuckDB that is a comparison, whose result becomes the first argument: the view then has no rows, or an error
    says that a column of its SQL is ambiguous.

    Raises:
        ArgumentError: There is one.
    """
    tokens = _tokens(sql)
    calls = [""]  # for each open bracket, the word before it
    for number, token in enumerate(tokens):
        before = tokens[number - 1] if number else ""
        if token in ("(", "[", "{"):
            calls.append(before if token == "(" else "")
        elif token in (")", "]", "}") and len(calls) > 1:
            calls.pop()
        elif token in ("=", "==") and number > 1 and tokens[number - 2] in ("(", ","):
            _check(calls[-1], before.lower(), registry)


def explained(error: duckdb.Error, sql: str, registry: Registry) -> Exception:
    """Return the error of a query, or another that says what to write instead."""
    text = str(error)
    if (table := _NO_TABLE.match(text)) and _view(table[1], registry):
        return UnknownViewError(f"{table[1]} is a view, which takes parentheses: FROM {table[1]}()")
    tables = {spec.name for spec in (*registry.tables(), *registry.slices())}
    if (called := _NO_FUNCTION.match(text)) and called[1].lower() in tables:
        return UnknownViewError(f"{called[1]} is a table, without parentheses: FROM {called[1]}")
    if (column := _NO_COLUMN.match(text)) and column[1] in sql:
        hint = f"Double quotes are for names. Write a text in single quotes: '{column[1][1:-1]}'"
        return type(error)(f"{text}\n{hint}")
    return error


@contextmanager
def own_lines(sql: str) -> Iterator[None]:
    """Let an error of a query name the line of its text, not the line of the query that it became a part of."""
    try:
        yield
    except duckdb.Error as error:
        text = _LINE.sub(lambda found: _own_line(found, sql.split("\n")), str(error))
        if text == str(error):
            raise
        raise type(error)(text) from None


def _own_line(found: re.Match[str], lines: list[str]) -> str:
    number, shown, mark = int(found[1]), found[2], found[3]
    part = shown.removeprefix("...").removesuffix("...")
    own = number - _LINES_BEFORE
    is_right = number <= len(lines) and part in lines[number - 1]
    if is_right or not 0 < own <= len(lines) or part not in lines[own - 1]:
        return found[0]
    return f"LINE {own}: {shown}\n{mark[len(found[1]) - len(str(own)) :]}"


def _check(called: str, name: str, registry: Registry) -> None:
    view = _view(called, registry)
    if view and any(param.name == name for param in view.params):
        raise ArgumentError(
            f"{called}: in SQL an argument has := after its name, as in {called}({name} := ...); "
            f"{name} = ... is a comparison"
        )


def _view(name: str, registry: Registry) -> Spec | None:
    try:
        return registry.get(name.lower())
    except UnknownViewError:
        return None


def _tokens(sql: str) -> list[str]:
    """Return the words and operators of an SQL text, without comments and without the quotes of names."""
    text = sql.encode()  # the positions of tokens are bytes
    found = duckdb.tokenize(sql)
    starts = [start for start, _ in found] + [len(text)]
    return [
        text[start:end].decode().strip().strip('"')
        for (start, kind), end in zip(found, starts[1:], strict=True)
        if kind != duckdb.token_type.comment
    ]
